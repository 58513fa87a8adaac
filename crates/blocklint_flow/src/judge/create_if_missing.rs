//! Calls that are short beside what goes before or comes after them: a folder that is made where it lacks, a small file for a
//! process that is started next.

use blocklint_facts::{AltKind, Form, FormId, RegionKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::values::value::EnvId;
use blocklint_models::Argument;

use crate::graph::FlowEdge;

/// Methods that ask whether something lies at a path.
const ASKS_FOR_PATH: &[&str] = &["exists", "try_exists", "is_dir", "is_file", "isdir", "isfile", "lexists"];

/// Functions that make a folder.
const MAKES_FOLDER: &[&str] = &["create_dir", "create_dir_all", "mkdir", "makedirs"];

/// True if a loop around a call of a path makes one long hold of its short ones.
pub(crate) fn repeats(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    path.iter().any(|edge| linker.multiplies_hold(edge.site))
}

/// Returns the name of the last callee of a path.
pub(crate) fn called_at_the_end<'l>(linker: &'l Linker<'_>, path: &[FlowEdge]) -> Option<&'l str> {
    path.last().map(|last| {
        let facts = linker.program.facts(last.site.file);
        facts.text(linker.program.site(last.site).name)
    })
}

/// True if the last call of a path makes a folder where a test around it shows that it is missing, or where the call
/// itself looks for it (`exist_ok=True`): once, mostly.
pub(crate) fn makes_what_lacks(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    let Some(last) = path.last() else { return false };
    let facts = linker.program.facts(last.site.file);
    let row = linker.program.site(last.site);
    if !MAKES_FOLDER.contains(&facts.text(row.name)) {
        return false;
    }
    let exist_ok = linker.argument(last.site, &Argument::Keyword("exist_ok".to_owned()));
    let looks_itself = exist_ok.is_some_and(|value| facts.form(value) == Form::Bool(true));
    // Methods of objects of other libraries may create the folder on another machine: `makedirs` is a function, `mkdir`
    // a path's method.
    let is_of_module = |receiver: FormId| match facts.form(receiver) {
        Form::Var(var) => {
            let name = facts.text(facts.var(var).name);
            facts.imports.iter().any(|import| facts.text(import.module) == name)
        }
        _ => false,
    };
    let is_near = facts.text(row.name) != "makedirs" || linker.receiver_form(last.site).is_none_or(is_of_module);
    looks_itself && is_near && !repeats(linker, path)
        || tests_around(linker, last.site, &|kind, test| {
            let parts = match facts.form(test) {
                Form::Alt(AltKind::And, list) if kind == RegionKind::Then => facts.list(list),
                _ => std::slice::from_ref(&test),
            };
            parts.iter().any(|&part| {
                let (asked, holds) = match facts.form(part) {
                    Form::Not(inner) => (inner, kind == RegionKind::Else),
                    _ => (part, kind == RegionKind::Then),
                };
                !holds && is_call_named(linker, last.site.file, asked, ASKS_FOR_PATH)
            })
        })
}

/// True if a path begins before a process is started in the same coroutine: the path of a small file is passed to the
/// process, and reading it once takes a fraction of the time of the start (Python).
pub(crate) fn prepares_process(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    let (Some(first), Some(called)) = (path.first(), called_at_the_end(linker, path)) else { return false };
    if !lang::python::conventions::is_of_one_file(called) {
        return false;
    }
    let here = linker.program.site(first.site).at;
    // A file that is read is for the coroutine itself, so only a process that it starts itself counts.
    let depth = if lang::python::conventions::reads(called) { 0 } else { 2 };
    awaits_process(linker, linker.program.body_of_site(first.site), here.position, depth) && !repeats(linker, path)
}

/// True if a coroutine awaits the start of a process behind a position, itself or in coroutines of the project that it awaits.
fn awaits_process(linker: &Linker<'_>, body: BodyRef, after: u32, depth: u32) -> bool {
    let facts = linker.program.facts(body.file);
    linker.awaited_in(body).any(|site| {
        let row = linker.program.site(site);
        let starts = || lang::python::conventions::starts_process(facts.text(row.name));
        let starts_further = || {
            linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Body { body: callee, .. } => callee != body && awaits_process(linker, callee, 0, depth - 1),
                _ => false,
            })
        };
        row.at.position > after && (starts() || depth > 0 && starts_further())
    })
}

/// True if one of the branches around a site, up to its body, satisfies a condition on its kind and test.
fn tests_around(linker: &Linker<'_>, site: SiteRef, wanted: &dyn Fn(RegionKind, FormId) -> bool) -> bool {
    let facts = linker.program.facts(site.file);
    let mut at = linker.program.site(site).at.region;
    while let Some(id) = at.get() {
        let region = facts.region(id);
        if matches!(region.kind, RegionKind::Then | RegionKind::Else | RegionKind::Case)
            && region.test.is_some()
            && wanted(region.kind, region.test)
        {
            return true;
        }
        at = region.parent;
    }
    false
}

fn is_call_named(linker: &Linker<'_>, file: FileId, form: FormId, names: &[&str]) -> bool {
    let facts = linker.program.facts(file);
    match facts.form(form) {
        Form::Result(made) => names.contains(&facts.text(facts.site(made).name)),
        Form::Try(inner) => is_call_named(linker, file, inner, names),
        _ => false,
    }
}
