//! Unused functions: functions that the project neither calls, mentions nor registers, in a project that is not a
//! library for others.

use blocklint_core::Language;
use blocklint_facts::{BodyFlags, BodyKind, Form, FormId, Sym};
use blocklint_link::calls::targets::Target;
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, Name, SiteRef};
use blocklint_link::values::value::EnvId;

use crate::entries::purpose::{project_serves, project_takes_arguments};
use crate::lifecycle::rust::RustLifecycle;

/// True if a function without known callers never runs: the project does not mention its name, and other projects do
/// not call it either, because it is private or the project is a program.
pub(crate) fn is_unused(linker: &Linker<'_>, life: &mut RustLifecycle<'_, '_, '_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    let is_nested = body_facts.parent.get().is_some_and(|parent| facts.body(parent).kind == BodyKind::Function);
    if body_facts.kind != BodyKind::Function || is_nested || !facts.list(body_facts.decorators).is_empty() {
        return false;
    }
    if facts.language == Language::Rust {
        return life.is_unused_by_all(body);
    }
    // A library may call the methods of the classes that are derived from its own.
    if body_facts.flags.has(BodyFlags::OVERRIDES)
        || body_facts.class.get().is_some_and(|class| {
            !linker.mro(body.file.class_ref(class)).iter().all(|ancestor| matches!(ancestor, Ancestor::Class(_)))
        })
    {
        return false;
    }
    let name = facts.text(body_facts.name);
    let is_private = facts.language == Language::Python && lang::python::conventions::is_private(name);
    let is_special = name.starts_with("__") || lang::words_of(facts.language).is_constructor(name);
    if is_special || !is_private && !project_serves(linker) && !project_takes_arguments(linker) {
        return false;
    }
    let Some(name) = linker.program.global(body.file, body_facts.name) else { return false };
    count_unused_definitions(linker, name, |site| calls_other_method(linker, body, site)).is_some()
}

/// True if a function is private by its name and the project names it nowhere: it never runs (Python).
pub(crate) fn is_never_named(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    let name = facts.text(body_facts.name);
    let is_private = facts.language == Language::Python && lang::python::conventions::is_private(name);
    if !is_private || body_facts.kind != BodyKind::Function || !facts.list(body_facts.decorators).is_empty() {
        return false;
    }
    // A library may call what its classes are derived for.
    if let Some(class) = body_facts.class.get()
        && !linker.mro(body.file.class_ref(class)).iter().all(|of| matches!(of, Ancestor::Class(_)))
    {
        return false;
    }
    let Some(name) = linker.program.global(body.file, body_facts.name) else { return false };
    // A call of another object's method of that name shows nothing.
    count_unused_definitions(linker, name, |site| calls_other_method(linker, body, site)).is_some()
}

/// True if a call with the name of a method has only other bodies as call targets.
pub(crate) fn calls_other_method(linker: &Linker<'_>, method: BodyRef, site: SiteRef) -> bool {
    let targets = linker.targets(site, EnvId::NONE);
    linker.program.body(method).class.is_some()
        && !targets.list.is_empty()
        && targets.list.iter().all(|target| matches!(*target, Target::Body { body, .. } if body != method))
}

/// Returns the number of functions with a name if no code uses the name: no code calls it, mentions it or writes it in
/// a string. Returns `None` if some code does. Calls for which `is_ignored` holds are no uses.
pub(crate) fn count_unused_definitions(
    linker: &Linker<'_>,
    name: Name,
    is_ignored: impl Fn(SiteRef) -> bool,
) -> Option<usize> {
    let places = linker.program.occurrences(name);
    let is_used = |&(file, sym): &(FileId, Sym)| {
        let index = linker.program.index_of(file);
        index.mentions_named(sym).iter().next().is_some()
            || index.sites_named(sym).iter().any(|&site| !is_ignored(file.site_ref(site)))
    };
    // The indices are searched first, because a file has many forms.
    if places.iter().any(is_used) || places.iter().any(|&(file, sym)| is_written(linker, file, sym)) {
        return None;
    }
    let count_defined =
        |&(file, sym): &(FileId, Sym)| linker.program.facts(file).bodies.iter().filter(|row| row.name == sym).count();
    Some(places.iter().map(count_defined).sum())
}

/// True if a file has a name in a string, or as an attribute that it does not call.
fn is_written(linker: &Linker<'_>, file: FileId, sym: Sym) -> bool {
    let facts = linker.program.facts(file);
    let sites = linker.program.index_of(file).sites_named(sym);
    let is_called = |index: usize| sites.iter().any(|&site| facts.site(site).callee == FormId(index as u32));
    facts.forms.iter().enumerate().any(|(index, form)| match form {
        Form::Str(text) => text == sym,
        Form::Attr(_, text) => text == sym && !is_called(index),
        _ => false,
    })
}
