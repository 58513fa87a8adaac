//! Python: variables of a module that its import fills: `cached = read()`, or a call of the function that fills it
//! (`if cached is None: cached = read()`). Afterwards the branch for the empty variable is closed.

use blocklint_core::Language;
use blocklint_facts::{Assign, BodyKind, FileFacts, Flow, Form, FormId, RegionId, RegionKind, VarId};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::regions::around;
use blocklint_link::syntax::test_outcomes::each_decided_part;
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val};

use crate::callers::Caller;
use crate::guards::constant_branch::is_assigned_from_outside;

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    /// True for a variable that the import of its module fills for good.
    filled: Table<(FileId, VarId), bool, Plain>,
    /// True for a branch that asks for such a variable to be empty.
    closed: Table<(FileId, RegionId), bool, Plain>,
}

/// Calls that are followed from the top level of a module to the function that fills a variable.
const MOST_CALLS: u32 = 2;

/// True if a site of a coroutine never runs: the module was imported before, and its import filled the variable that the branch wants empty.
pub(crate) fn is_closed_for_coroutine(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.program.body(linker.program.body_of_site(site)).flow == Flow::Coroutine
        && wants_filled_to_be_empty(linker, site)
}

/// True if a caller does not reach a site, because it runs after the import that fills the variable which the branch wants empty.
pub(crate) fn is_closed_for(linker: &Linker<'_>, caller: Caller, site: SiteRef) -> bool {
    let calling = linker.program.body(linker.program.body_of_site(caller.site));
    !matches!(calling.kind, BodyKind::Module | BodyKind::Class) && wants_filled_to_be_empty(linker, site)
}

/// True if a branch around a site asks for a variable to be `None` that the import of the module fills.
pub(crate) fn wants_filled_to_be_empty(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    if facts.language != Language::Python {
        return false;
    }
    let region = linker.program.site(site).at.region;
    linker.query(&linker.layer_memo::<Memo>().closed, (site.file, region), bool::default, || {
        let mut is_closed = false;
        for (test, holds) in linker.tests_around(site) {
            each_decided_part(facts, test, holds, &mut |part, holds| {
                is_closed |= asked_to_be_none(facts, part, holds).is_some_and(|var| is_filled(linker, site.file, var));
            });
        }
        is_closed
    })
}

/// Returns the variable of the module that is `None` if a test comes out as `holds`.
fn asked_to_be_none(facts: &FileFacts, test: FormId, holds: bool) -> Option<VarId> {
    use blocklint_facts::Comparison::{Eq, Is, IsNot, NotEq};
    let Form::Compare(comparison, left, right) = facts.form(test) else { return None };
    let is_none = match comparison {
        Is | Eq => holds,
        IsNot | NotEq => !holds,
        _ => false,
    };
    let Form::Var(var) = facts.form(left) else { return None };
    let is_of_module = facts.body(facts.var(var).body).kind == BodyKind::Module;
    (is_none && is_of_module && facts.form(right) == Form::None).then_some(var)
}

/// True if the import of a module gives a variable a value, and no code empties it afterwards.
fn is_filled(linker: &Linker<'_>, file: FileId, var: VarId) -> bool {
    linker.query(&linker.layer_memo::<Memo>().filled, (file, var), bool::default, || {
        let facts = linker.program.facts(file);
        if is_assigned_from_outside(linker, file, facts.var(var).name) {
            return false;
        }
        let is_at_top = |row: &Assign| facts.body(facts.body_of(row.at)).kind == BodyKind::Module;
        let is_given = |row: &Assign| row.value.is_some();
        let empties_later =
            facts.assigns_of(var).filter(is_given).any(|row| !is_at_top(&row) && may_be_none(linker, file, &row));
        if empties_later {
            return false;
        }
        let Some(last) = facts.assigns_of(var).rfind(|row| is_given(row) && is_at_top(row)) else {
            return false;
        };
        if !may_be_none(linker, file, &last) {
            return is_unconditional(facts, last.at.region, None);
        }
        let module = file.body_ref(facts.body_of(last.at));
        facts.form(last.value) == Form::None
            && linker.program.sites_in(module).any(|site| {
                let at = linker.program.site(site).at;
                at.position > last.at.position
                    && is_unconditional(facts, at.region, None)
                    && call_fills(linker, site, (file, var), MOST_CALLS)
            })
    })
}

/// True if a call runs a function that fills a variable of its module in any case.
fn call_fills(linker: &Linker<'_>, site: SiteRef, (file, var): (FileId, VarId), depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let targets = linker.targets(site, EnvId::NONE);
    let [Target::Body { body, kind: TargetKind::Call, .. }] = targets.list[..] else { return false };
    let facts = linker.program.facts(body.file);
    let fills = |row: &Assign| {
        body.file == file
            && file.body_ref(facts.body_of(row.at)) == body
            && row.value.is_some()
            && is_unconditional(facts, row.at.region, Some(var))
    };
    let calls_one_that_fills = || {
        linker.program.sites_in(body).any(|of| {
            is_unconditional(facts, linker.program.site(of).at.region, None)
                && call_fills(linker, of, (file, var), depth)
        })
    };
    !targets.unknown && (facts.assigns_of(var).any(|row| fills(&row)) || calls_one_that_fills())
}

/// True if a region runs whenever its body does, or is the branch for an empty variable.
fn is_unconditional(facts: &FileFacts, region: RegionId, var: Option<VarId>) -> bool {
    around(facts, region).all(|id| {
        let row = facts.region(id);
        match row.kind {
            RegionKind::Body | RegionKind::With | RegionKind::Block | RegionKind::Finally => true,
            RegionKind::Then => var.is_some() && asks_for_empty(facts, row.test) == var,
            _ => false,
        }
    })
}

/// Returns the variable that a test asks to be empty: `cached is None`, `not cached`.
fn asks_for_empty(facts: &FileFacts, test: FormId) -> Option<VarId> {
    match facts.form(test) {
        Form::Not(inner) => match facts.form(inner) {
            Form::Var(var) => Some(var),
            _ => None,
        },
        _ => asked_to_be_none(facts, test, true),
    }
}

/// True if an assignment may assign `None`.
fn may_be_none(linker: &Linker<'_>, file: FileId, row: &Assign) -> bool {
    let scope = Scope { file, at: row.at, env: EnvId::NONE };
    linker.values.members(linker.eval(scope, row.value).value).contains(&Val::None)
}
