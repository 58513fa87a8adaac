//! Code that runs only after something failed: in the handler of an exception, or where errors were collected by handlers.

use blocklint_core::Language;
use blocklint_facts::{AltKind, Flow, Form, FormId, RegionId, RegionKind, SiteId, SiteKind, VarId};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::syntax::exception_handlers::{exception_name, handler_around};
use smallvec::SmallVec;

use crate::callers::Callers;

/// True if a site stands in the handler of an exception that is a failure, not one of the ways in which code asks.
pub fn is_after_failure(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let region = linker.program.site(site).at.region;
    let Some(handler) = handler_around(facts, region) else {
        return is_where_errors_are(linker, site.file, region) || is_removed_before_exception(linker, site);
    };
    match facts.form(handler.test) {
        Form::Display(_, list) => {
            let types = facts.list(list);
            types.iter().all(|&ty| is_failure(linker, site, ty)) || is_of_broken_data(linker, site, types)
        }
        _ => handler.test.is_none() || is_failure(linker, site, handler.test),
    }
}

/// True if all calls of a coroutine stand where something failed, or in coroutines of which that holds.
pub fn runs_after_failure(linker: &Linker<'_>, callers: &Callers<'_, '_>, body: BodyRef, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(body.file);
    if facts.language != Language::Python || linker.program.body(body).flow != Flow::Coroutine {
        return false;
    }
    callers.few_call_sites(body).is_some_and(|sites| {
        sites.iter().all(|&site| {
            let caller = linker.program.body_of_site(site);
            is_after_failure(linker, site) || caller != body && runs_after_failure(linker, callers, caller, depth)
        })
    })
}

/// True if a site removes something in a branch that ends with an exception: `if is_bad: remove(path); raise BadFile()`.
fn is_removed_before_exception(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    let is_branch = |id: RegionId| matches!(facts.region(id).kind, RegionKind::Then | RegionKind::Else);
    if facts.language != Language::Python
        || !lang::python::conventions::removes(facts.text(row.name))
        || !row.at.region.get().is_some_and(is_branch)
    {
        return false;
    }
    let in_branch = (0..facts.sites.len() as u32).map(SiteId).filter(|&id| facts.site(id).at.region == row.at.region);
    let last = in_branch.max_by_key(|&id| facts.site(id).at.position);
    last.is_some_and(|last| {
        let raised = facts.site(last);
        raised.kind == SiteKind::Call
            && raised.at.position > row.at.position
            && linker.is_raised_exception(site.file.site_ref(last))
    })
}

/// True if a place is reached only where something was collected that handlers alone collect: `if errors: path.unlink()` in a `finally`,
/// where `except` says `errors["base"] = "unknown"`.
fn is_where_errors_are(linker: &Linker<'_>, file: FileId, region: RegionId) -> bool {
    let facts = linker.program.facts(file);
    let (mut at, mut asked) = (region, SmallVec::<[VarId; 2]>::new());
    while let Some(id) = at.get() {
        let region = facts.region(id);
        match region.kind {
            RegionKind::Then => match facts.form(region.test) {
                Form::Var(var) => asked.push(var),
                Form::Alt(AltKind::And, list) => {
                    asked.extend(facts.list(list).iter().filter_map(|&part| match facts.form(part) {
                        Form::Var(var) => Some(var),
                        _ => None,
                    }));
                }
                _ => {}
            },
            RegionKind::Finally => return asked.iter().any(|&var| is_filled_in_handlers(linker, file, var)),
            _ => {}
        }
        at = region.parent;
    }
    false
}

/// True if only handlers put something into a variable.
fn is_filled_in_handlers(linker: &Linker<'_>, file: FileId, var: VarId) -> bool {
    let facts = linker.program.facts(file);
    let into = |target: FormId| match facts.form(target) {
        Form::Subscript(base, _) => facts.form(base) == Form::Var(var),
        form => form == Form::Var(var),
    };
    let is_empty = |value: FormId| match facts.form(value) {
        Form::Display(_, list) | Form::Pairs(list) => facts.list(list).is_empty(),
        form => matches!(form, Form::None | Form::Bool(false)),
    };
    let filled = || facts.assigns.iter().filter(|row| into(row.target) && !is_empty(row.value));
    filled().next().is_some() && filled().all(|row| handler_around(facts, row.at.region).is_some())
}

/// True if exceptions together mean that the text read is malformed: `except (JSONDecodeError, KeyError)`. One of them
/// alone may be an answer.
fn is_of_broken_data(linker: &Linker<'_>, site: SiteRef, types: &[FormId]) -> bool {
    let facts = linker.program.facts(site.file);
    let name = |&ty: &FormId| exception_name(facts, ty);
    types.iter().all(|ty| name(ty).is_some_and(lang::python::conventions::may_be_of_broken_data))
        && types.iter().any(|ty| name(ty).is_some_and(lang::python::conventions::is_of_broken_data))
}

fn is_failure(linker: &Linker<'_>, site: SiteRef, exception: FormId) -> bool {
    let facts = linker.program.facts(site.file);
    exception_name(facts, exception).is_some_and(|name| lang::words_of(facts.language).is_failure(name))
}
