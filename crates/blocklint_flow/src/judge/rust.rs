//! Code of Rust that hardly ever runs, or that others maintain: calls behind a value that is kept by its key already, and copies of
//! libraries.

use blocklint_facts::{BodyId, Comparison, ExitKind, Form, FormId, RegionId, RegionKind, SiteId, VarId, VarKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::folders;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::forms::mentions;
use blocklint_link::syntax::regions::around;

use crate::graph::FlowEdge;

/// How deep a form is looked into.
const DEPTH: u32 = 6;

/// Folders of libraries that were copied into a project.
const COPIES: &[&str] = &["vendor", "vendored", "third_party", "third-party"];

/// True if a file is of a library's copy: mistakes in it are for the library's authors to mend.
pub(crate) fn is_of_copy(linker: &Linker<'_>, file: FileId) -> bool {
    folders(&linker.program.files[file.index()].relative).any(|folder| COPIES.contains(&folder))
}

/// True if a call of a path is only made where nothing is kept yet under a key that its function is given:
/// `if let Some(found) = kept.get(&key) { return found; }`. It is paid for once with each key.
pub(crate) fn is_kept_by_key(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    path.iter().any(|edge| is_behind_kept(linker, edge.site))
}

fn is_behind_kept(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    let body = facts.body_of(row.at);
    around(facts, row.at.region).any(|id| {
        let Some(asked) = value_not_found(linker, site.file, id) else { return false };
        let Some(lookup) = looked_up(facts.form(asked), &|form| facts.form(form)) else { return false };
        let is_key = |form: Form| match form {
            Form::Var(var) => {
                let var = facts.var(var);
                var.body == body && matches!(var.kind, VarKind::Param(index) if index > 0)
            }
            _ => false,
        };
        let has_key = || facts.args_of(lookup).iter().any(|arg| mentions(facts, arg.value, DEPTH, &is_key));
        has_key() && returns_found_value(linker, site.file, body, asked)
    })
}

/// Returns the value that a branch has asked for and not found: `None => …`, the rest after `if let Some(…) = … { return … }`.
fn value_not_found(linker: &Linker<'_>, file: FileId, id: RegionId) -> Option<FormId> {
    let facts = linker.program.facts(file);
    let region = facts.region(id);
    let (test, holds) = match region.kind {
        RegionKind::Case => (region.test, true),
        _ => linker.test_of(file, id)?,
    };
    if test.is_none() {
        return None;
    }
    match facts.form(test) {
        Form::Compare(Comparison::Is, asked, none) if holds && facts.form(none) == Form::None => Some(asked),
        Form::Compare(Comparison::IsNot, asked, none) if !holds && facts.form(none) == Form::None => Some(asked),
        _ => None,
    }
}

/// True if a function returns what was found as it is: `Some(found) => Ok(found)`.
fn returns_found_value(linker: &Linker<'_>, file: FileId, body: BodyId, asked: FormId) -> bool {
    let facts = linker.program.facts(file);
    let is_found = |var: VarId| {
        facts.var(var).body == body
            && facts.assigns_of(var).any(|assign| match facts.form(assign.value) {
                Form::Field(of, _) | Form::Part(of, _) => facts.form(of) == facts.form(asked) || of == asked,
                _ => false,
            })
    };
    facts.exits.iter().any(|exit| {
        let kind = exit.kind == ExitKind::Return && facts.body_of(exit.at) == body && exit.value.is_some();
        kind && mentions(facts, exit.value, DEPTH, &|form| matches!(form, Form::Var(var) if is_found(var)))
    })
}

/// Returns the call that a form is, behind `?`.
fn looked_up(form: Form, inner: &dyn Fn(FormId) -> Form) -> Option<SiteId> {
    match form {
        Form::Result(site) => Some(site),
        Form::Try(of) => looked_up(inner(of), inner),
        _ => None,
    }
}
