//! Signals of Rust: calls that run once for each key because their result is kept (`kept-by-its-key`), and files in
//! copies of libraries (`copy-of-a-library`).

use blocklint_facts::{
    AltKind, BodyId, Comparison, ExitKind, Form, FormId, RegionId, RegionKind, SiteId, VarId, VarKind,
};
use blocklint_link::linker::Linker;
use blocklint_link::program::folders;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::forms::mentions;
use blocklint_link::syntax::regions::around;

use crate::graph::FlowEdge;

/// The depth to which forms are searched.
const DEPTH: u32 = 6;

/// Names of folders for copies of libraries.
const COPY_FOLDERS: &[&str] = &["vendor", "vendored", "third_party", "third-party"];

/// True if a file is in a copy of a library, whose mistakes the authors of the library mend.
pub(crate) fn is_in_library_copy(linker: &Linker<'_>, file: FileId) -> bool {
    folders(&linker.program.files[file.index()].relative).any(|folder| COPY_FOLDERS.contains(&folder))
}

/// True if a call of a path runs only when a lookup by a parameter found nothing:
/// `if let Some(found) = kept.get(&key) { return found; }`. So it runs once for each key.
pub(crate) fn is_kept_by_key(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    path.iter().any(|edge| is_behind_failed_lookup(linker, edge.site))
}

/// True if a site runs only when a lookup by a parameter found nothing.
fn is_behind_failed_lookup(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let body = facts.body_of(site_facts.at);
    around(facts, site_facts.at.region).any(|id| {
        let Some(missing) = missing_value(linker, site.file, id) else { return false };
        let Some(lookup) = lookup_call(facts.form(missing), &|form| facts.form(form)) else { return false };
        let is_key = |form: Form| match form {
            Form::Var(var) => {
                let var = facts.var(var);
                var.body == body && matches!(var.kind, VarKind::Param(index) if index > 0)
            }
            _ => false,
        };
        let has_key = || facts.args_of(lookup).iter().any(|arg| mentions(facts, arg.value, DEPTH, &is_key));
        has_key() && returns_found_value(linker, site.file, body, missing)
    })
}

/// Returns the value that is `None` in a branch: the scrutinee of `None => …`, or of an
/// `if let Some(…) = … { return … }` before the branch.
fn missing_value(linker: &Linker<'_>, file: FileId, id: RegionId) -> Option<FormId> {
    let facts = linker.program.facts(file);
    let region = facts.region(id);
    let (test, outcome) = match region.kind {
        RegionKind::Case => (region.test, true),
        _ => linker.test_of(file, id)?,
    };
    if test.is_none() {
        return None;
    }
    // The pattern of an arm with a guard is the first part of its test.
    let test = match facts.form(test) {
        Form::Alt(AltKind::And, list) if outcome => *facts.list(list).first()?,
        _ => test,
    };
    match facts.form(test) {
        Form::Compare(Comparison::Is, value, none) if outcome && facts.form(none) == Form::None => Some(value),
        Form::Compare(Comparison::IsNot, value, none) if !outcome && facts.form(none) == Form::None => Some(value),
        _ => None,
    }
}

/// True if a function returns the looked-up value unchanged: `Some(found) => Ok(found)`.
fn returns_found_value(linker: &Linker<'_>, file: FileId, body: BodyId, looked_up: FormId) -> bool {
    let facts = linker.program.facts(file);
    let is_found = |var: VarId| {
        facts.var(var).body == body
            && facts.assigns_of(var).any(|assign| match facts.form(assign.value) {
                Form::Field(of, _) | Form::Part(of, _) => facts.form(of) == facts.form(looked_up) || of == looked_up,
                _ => false,
            })
    };
    facts.exits.iter().any(|exit| {
        let is_return = exit.kind == ExitKind::Return && facts.body_of(exit.at) == body && exit.value.is_some();
        is_return && mentions(facts, exit.value, DEPTH, &|form| matches!(form, Form::Var(var) if is_found(var)))
    })
}

/// Returns the call of a form: `kept.get(&key)` and `kept.get(&key)?`.
fn lookup_call(form: Form, inner: &dyn Fn(FormId) -> Form) -> Option<SiteId> {
    match form {
        Form::Result(site) => Some(site),
        Form::Try(of) => lookup_call(inner(of), inner),
        _ => None,
    }
}
