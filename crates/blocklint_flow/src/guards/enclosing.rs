//! The guards around a site: all conditions on parameters in the branches around it. A label carries the innermost
//! guard up to all callers. The other guards are decided by the direct callers only.

use blocklint_link::program::ids::FileId;
use std::rc::Rc;

use blocklint_facts::RegionId;
use blocklint_link::effect::constant::Constant;
use blocklint_link::effect::guard::{Guard, Question};
use blocklint_link::guards::branch::choice_outcome;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::models::row_match::ConditionResult;
use blocklint_link::program::ids::{BodyRef, SiteRef};

use crate::callers::{Caller, CallerKind};
use crate::guards::Conditions;
use crate::guards::filled_at_import::{is_closed_for, wants_filled_to_be_empty};
use crate::guards::optional_part::{needs_missing_part, parts_over};
use crate::guards::self_state::{own_state_rules_out, own_tests_over};

/// The guards around a branch, the innermost first.
type GuardsOf = Rc<[Guard]>;

/// Results of this file's queries, stored for one program.
#[derive(Default)]
struct Memo {
    guards: Table<(FileId, RegionId), GuardsOf, Plain>,
}

impl Conditions<'_, '_> {
    /// True if a call rules out that a site of its callee runs: by its arguments, or by its receiver.
    pub(crate) fn caller_excludes(&self, caller: Caller, body: BodyRef, site: SiteRef) -> bool {
        let linker = self.linker;
        linker.query(&self.conditional, site, || true, || is_conditional(linker, site))
            && linker.query(&self.ruled_out, (caller, body, site), bool::default, || {
                arguments_rule_out(linker, caller, body, site)
                    || needs_missing_part(linker, &self.callers, caller, body, site)
                    || own_state_rules_out(linker, caller, body, site)
                    || is_closed_for(linker, caller, site)
                    || caller.arg.is_none()
                        && caller.kind == CallerKind::Runs
                        && linker.is_ruled_out_by_kind(caller.site, caller.env, body, site)
            })
    }
}

/// True if some call of its body may rule out that a site runs.
pub(crate) fn is_conditional(linker: &Linker<'_>, site: SiteRef) -> bool {
    !guards_over(linker, site).is_empty()
        || !parts_over(linker, site).is_empty()
        || !own_tests_over(linker, site).is_empty()
        || linker.is_under_kind_test(site)
        || wants_filled_to_be_empty(linker, site)
}

/// True if the arguments of a call rule out that a site of the callee runs.
pub(crate) fn arguments_rule_out(linker: &Linker<'_>, caller: Caller, body: BodyRef, site: SiteRef) -> bool {
    if caller.arg.is_some() || caller.kind != CallerKind::Runs || linker.program.body_of_site(site) != body {
        return false;
    }
    guards_over(linker, site).iter().any(|guard| fails_by_argument(linker, caller, body, guard))
}

/// Returns the guards around a site, of all branches up to its body, the innermost first; those of branches are cached
/// by branch. The first one may be that of the call itself (`limit.map(|limit| …)`).
pub(crate) fn guards_over(linker: &Linker<'_>, site: SiteRef) -> Rc<[Guard]> {
    let facts = linker.program.facts(site.file);
    let region = linker.program.site(site).at.region;
    let of_branches = linker.query(&linker.layer_memo::<Memo>().guards, (site.file, region), Rc::default, || {
        let mut guards = Vec::new();
        let mut current: RegionId = region;
        while let Some(id) = current.get() {
            guards.extend(linker.guards_of_branch(site, id).into_iter().filter(|guard| guard.escape.is_none()));
            current = facts.region(id).parent;
        }
        Rc::from(guards)
    });
    match linker.own_guard(site) {
        Some(own) => std::iter::once(own).chain(of_branches.iter().cloned()).collect(),
        None => of_branches,
    }
}

/// True if all values of the argument for a guard's parameter fail the guard.
fn fails_by_argument(linker: &Linker<'_>, caller: Caller, body: BodyRef, guard: &Guard) -> bool {
    let Question::Choice(choice) = &*guard.question else { return false };
    if guard.asked.is_some() {
        return false;
    }
    let fails = |constant: &Constant| match choice_outcome(choice, constant) {
        _ if guard.replaces(constant) => false,
        ConditionResult::Yes => !guard.wanted,
        ConditionResult::No => guard.wanted,
        ConditionResult::Param(_) | ConditionResult::Unknown => false,
    };
    match linker.argument_for_param(caller.site, body, guard.param, caller.with_receiver) {
        Some(form) => {
            linker.constants_at(caller.site, form, caller.env).iter().all(|reaching| fails(&reaching.constant))
        }
        None if linker.has_unpacked_arguments(caller.site) => false,
        None => linker.default_of(body, guard.param).is_some_and(|constant| fails(&constant)),
    }
}
