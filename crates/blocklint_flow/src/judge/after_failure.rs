//! Signal `after-a-failure`: code that runs only after a failure, in an exception handler or where handlers have
//! collected errors.

use blocklint_core::Language;
use blocklint_facts::{
    AltKind, Comparison, FileFacts, Flow, Form, FormId, RegionId, RegionKind, SiteId, SiteKind, VarId,
};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::syntax::exception_handlers::{exception_name, handler_around};
use blocklint_link::syntax::regions::around;
use smallvec::SmallVec;

use crate::callers::Callers;
use crate::graph::FlowEdge;

/// True if a site is in the handler of an exception that means a failure: `except OSError:`, but not
/// `except KeyError:`, which may be an ordinary answer.
pub fn is_after_failure(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let region = linker.program.site(site).at.region;
    let Some(handler) = handler_around(facts, region) else {
        return is_behind_collected_errors(linker, site.file, region) || removes_before_raise(linker, site);
    };
    match facts.form(handler.test) {
        Form::Display(_, list) => {
            let types = facts.list(list);
            types.iter().all(|&ty| is_failure(linker, site, ty)) || are_malformed_data_errors(linker, site, types)
        }
        _ => handler.test.is_none() || is_failure(linker, site, handler.test),
    }
}

/// True if two calls of a path or more run only after a failure: the second attempt at the removal of a folder (`rm` after a failed
/// `rmtree`) for which a failed download is the reason. One failure of each kind is rare; both together are not worth a warning.
pub fn follows_several_failures(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    path.iter().map(|edge| count_failures_before(linker, edge.site)).sum::<usize>() > 1
}

/// Returns the number of failures after which a site runs. In Java and Rust each `try` that returned, and each result
/// that was no `Ok`, counts: `if let Ok(found) = first() { return found; }`.
fn count_failures_before(linker: &Linker<'_>, site: SiteRef) -> usize {
    let facts = linker.program.facts(site.file);
    let region = linker.program.site(site).at.region;
    match facts.language {
        Language::Python => usize::from(is_after_failure(linker, site)),
        Language::Java => around(facts, region)
            .filter(|&id| {
                let region = facts.region(id);
                region.kind == RegionKind::Handler && (region.test.is_none() || are_failures(facts, region.test))
            })
            .count(),
        Language::Rust => {
            linker.tests_at(site.file, region).filter(|&(test, holds)| means_failure(facts, test, holds)).count()
        }
    }
}

/// True if a test with the result `holds` means that a call failed: `Err(_)` for the result of the call (Rust).
fn means_failure(facts: &FileFacts, test: FormId, holds: bool) -> bool {
    let Form::Compare(comparison, value, right) = facts.form(test) else { return false };
    let is_result_of_call = match facts.form(value) {
        Form::Result(_) => true,
        Form::Await(inner) => matches!(facts.form(inner), Form::Result(_)),
        _ => false,
    };
    let words = lang::words_of(facts.language);
    let is_failure = matches!(facts.form(right), Form::Name(name) if words.failure == Some(facts.text(name)));
    is_result_of_call && is_failure && (comparison == Comparison::Is) == holds
}

/// True if no exception of a handler answers a question (Java).
fn are_failures(facts: &FileFacts, exceptions: FormId) -> bool {
    let is_failure = |&exception: &FormId| {
        exception_name(facts, exception).is_some_and(|name| !lang::java::words::answers_a_question(name))
    };
    match facts.form(exceptions) {
        Form::Display(_, list) | Form::Alt(_, list) => facts.list(list).iter().all(is_failure),
        _ => is_failure(&exceptions),
    }
}

/// True if all calls of a coroutine are after a failure, or in coroutines that run only after a failure (Python).
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

/// True if a site removes a file in a branch that ends with `raise`: `if is_bad: remove(path); raise BadFile()`
/// (Python).
fn removes_before_raise(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let is_branch = |id: RegionId| matches!(facts.region(id).kind, RegionKind::Then | RegionKind::Else);
    if facts.language != Language::Python
        || !lang::python::conventions::removes(facts.text(site_facts.name))
        || !site_facts.at.region.get().is_some_and(is_branch)
    {
        return false;
    }
    let in_branch =
        (0..facts.sites.len() as u32).map(SiteId).filter(|&id| facts.site(id).at.region == site_facts.at.region);
    let last = in_branch.max_by_key(|&id| facts.site(id).at.position);
    last.is_some_and(|last| {
        let raised = facts.site(last);
        raised.kind == SiteKind::Call
            && raised.at.position > site_facts.at.position
            && linker.is_raised_exception(site.file.site_ref(last))
    })
}

/// True if a region of a `finally` tests a variable that only handlers fill: `if errors: path.unlink()` after
/// `except OSError: errors["base"] = "unknown"`.
fn is_behind_collected_errors(linker: &Linker<'_>, file: FileId, region: RegionId) -> bool {
    let facts = linker.program.facts(file);
    let (mut ancestor, mut tested) = (region, SmallVec::<[VarId; 2]>::new());
    while let Some(id) = ancestor.get() {
        let region = facts.region(id);
        match region.kind {
            RegionKind::Then => match facts.form(region.test) {
                Form::Var(var) => tested.push(var),
                Form::Alt(AltKind::And, list) => {
                    tested.extend(facts.list(list).iter().filter_map(|&part| match facts.form(part) {
                        Form::Var(var) => Some(var),
                        _ => None,
                    }));
                }
                _ => {}
            },
            RegionKind::Finally => return tested.iter().any(|&var| is_filled_in_handlers(linker, file, var)),
            _ => {}
        }
        ancestor = region.parent;
    }
    false
}

/// True if only exception handlers put a value into a variable.
fn is_filled_in_handlers(linker: &Linker<'_>, file: FileId, var: VarId) -> bool {
    let facts = linker.program.facts(file);
    let is_to_var = |target: FormId| match facts.form(target) {
        Form::Subscript(base, _) => facts.form(base) == Form::Var(var),
        form => form == Form::Var(var),
    };
    let is_empty = |value: FormId| match facts.form(value) {
        Form::Display(_, list) | Form::Pairs(list) => facts.list(list).is_empty(),
        form => matches!(form, Form::None | Form::Bool(false)),
    };
    let fillings =
        || facts.assigns.iter().filter(|assignment| is_to_var(assignment.target) && !is_empty(assignment.value));
    fillings().next().is_some() && fillings().all(|row| handler_around(facts, row.at.region).is_some())
}

/// True if a tuple of exceptions means malformed data: `except (JSONDecodeError, KeyError)`. A `KeyError` alone may be
/// an ordinary answer (Python).
fn are_malformed_data_errors(linker: &Linker<'_>, site: SiteRef, types: &[FormId]) -> bool {
    let facts = linker.program.facts(site.file);
    let name = |&ty: &FormId| exception_name(facts, ty);
    types.iter().all(|ty| name(ty).is_some_and(lang::python::conventions::may_be_malformed_data_error))
        && types.iter().any(|ty| name(ty).is_some_and(lang::python::conventions::is_malformed_data_error))
}

/// True if an exception type means a failure.
fn is_failure(linker: &Linker<'_>, site: SiteRef, exception: FormId) -> bool {
    let facts = linker.program.facts(site.file);
    exception_name(facts, exception).is_some_and(|name| lang::words_of(facts.language).is_failure(name))
}
