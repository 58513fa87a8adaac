//! All conditions on parameters that a place stands under. A label carries the innermost one to its callers; the others are
//! asked of each direct caller alone.

use blocklint_link::program::ids::FileId;
use std::rc::Rc;

use blocklint_facts::RegionId;
use blocklint_link::effect::constant::Constant;
use blocklint_link::effect::guard::{Guard, Question};
use blocklint_link::guards::branch::answer;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::models::row_match::ConditionResult;
use blocklint_link::program::ids::{BodyRef, SiteRef};

use crate::callers::{Caller, CallerKind};
use crate::guards::Conditions;
use crate::guards::filled_at_import::{is_closed_for, wants_filled_to_be_empty};
use crate::guards::optional_part::{needs_missing_part, parts_over};
use crate::guards::self_state::{own_state_rules_out, own_tests_over};

/// The conditions on parameters around a branch, from the inside out.
type GuardsOf = Rc<[Guard]>;

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    guards: Table<(FileId, RegionId), GuardsOf, Plain>,
}

impl Conditions<'_, '_> {
    /// True if a caller rules out that a site of the body it calls is reached: by what it passes, or by the object it calls the body on.
    pub(crate) fn caller_excludes(&self, caller: Caller, body: BodyRef, site: SiteRef) -> bool {
        let linker = self.linker;
        linker.query(&self.conditional, site, || true, || is_conditional(linker, site))
            && linker.query(&self.ruled_out, (caller, body, site), bool::default, || {
                rules_out(linker, caller, body, site)
                    || needs_missing_part(linker, &self.callers, caller, body, site)
                    || own_state_rules_out(linker, caller, body, site)
                    || is_closed_for(linker, caller, site)
                    || caller.arg.is_none()
                        && caller.kind == CallerKind::Runs
                        && linker.other_kind_rules_out(caller.site, caller.env, body, site)
            })
    }
}

/// True if a caller may rule out that a site is reached.
pub(crate) fn is_conditional(linker: &Linker<'_>, site: SiteRef) -> bool {
    !guards_over(linker, site).is_empty()
        || !parts_over(linker, site).is_empty()
        || !own_tests_over(linker, site).is_empty()
        || linker.asks_for_kind(site)
        || wants_filled_to_be_empty(linker, site)
}

/// True if what a caller passes to a body rules out that a site of it is reached.
pub(crate) fn rules_out(linker: &Linker<'_>, caller: Caller, body: BodyRef, site: SiteRef) -> bool {
    if caller.arg.is_some() || caller.kind != CallerKind::Runs || linker.program.body_of_site(site) != body {
        return false;
    }
    guards_over(linker, site).iter().any(|guard| fails(linker, caller, body, guard))
}

/// Returns the conditions on parameters around a site, of all branches up to its body; remembered for its branch.
pub(crate) fn guards_over(linker: &Linker<'_>, site: SiteRef) -> Rc<[Guard]> {
    let facts = linker.program.facts(site.file);
    let region = linker.program.site(site).at.region;
    linker.query(&linker.layer_memo::<Memo>().guards, (site.file, region), Rc::default, || {
        let mut found = Vec::new();
        let mut at: RegionId = region;
        while let Some(id) = at.get() {
            found.extend(linker.guards_of_branch(site, id).into_iter().filter(|guard| guard.escape.is_none()));
            at = facts.region(id).parent;
        }
        Rc::from(found)
    })
}

fn fails(linker: &Linker<'_>, caller: Caller, body: BodyRef, guard: &Guard) -> bool {
    let Question::Choice(choice) = &*guard.question else { return false };
    if guard.asked.is_some() {
        return false;
    }
    let is_out = |constant: &Constant| match answer(choice, constant) {
        _ if guard.replaces(constant) => false,
        ConditionResult::Yes => !guard.wanted,
        ConditionResult::No => guard.wanted,
        ConditionResult::Param(_) | ConditionResult::Unknown => false,
    };
    match linker.argument_for_param(caller.site, body, guard.param, caller.with_receiver) {
        Some(form) => {
            linker.constants_at(caller.site, form, caller.env).iter().all(|reaching| is_out(&reaching.constant))
        }
        None if linker.unpacks(caller.site) => false,
        None => linker.default_of(body, guard.param).is_some_and(|constant| is_out(&constant)),
    }
}
