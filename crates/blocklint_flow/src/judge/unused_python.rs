//! Python functions and methods that nothing in the project names: private functions, and methods that were left over.

use blocklint_core::Language;
use blocklint_facts::{BodyKind, Flow, Form, FormId, Sym};
use blocklint_link::calls::targets::Target;
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, Name, SiteRef};
use blocklint_link::values::value::EnvId;

/// The fewest methods of a class from which on one method that nothing names counts as unused.
const FEWEST_METHODS: usize = 4;

/// True if a function is private by its name and the project names it nowhere: it never runs.
pub(crate) fn is_never_named(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    let name = facts.text(row.name);
    let is_private = facts.language == Language::Python && lang::python::conventions::is_private(name);
    if !is_private || row.kind != BodyKind::Function || !facts.list(row.decorators).is_empty() {
        return false;
    }
    // A library may call what its classes are derived for.
    if let Some(class) = row.class.get()
        && !linker.mro(body.file.class_ref(class)).iter().all(|of| matches!(of, Ancestor::Class(_)))
    {
        return false;
    }
    let Some(name) = linker.program.global(body.file, row.name) else { return false };
    // A call of another object's method of that name shows nothing.
    let leads_elsewhere = |site: SiteRef| {
        let targets = linker.targets(site, EnvId::NONE);
        row.class.is_some()
            && !targets.list.is_empty()
            && targets.list.iter().all(|target| matches!(*target, Target::Body { body: of, .. } if of != body))
    };
    unnamed_definitions(linker, name, leads_elsewhere).is_some()
}

/// True if a public coroutine is a method that the project left over: the project names most methods of the class, and this one
/// nowhere.
pub(crate) fn is_left_over_method(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    let Some(class) = row.class.get() else { return false };
    if facts.language != Language::Python
        || row.flow != Flow::Coroutine
        || lang::python::conventions::is_private(facts.text(row.name))
        || !facts.list(row.decorators).is_empty()
        || is_named(linker, body.file, row.name)
    {
        return false;
    }
    let own = body.file.class_ref(class);
    // Methods that Python's own classes for interfaces call have other names.
    let is_known = |of: &Ancestor| match *of {
        Ancestor::Class(_) => true,
        Ancestor::Library(path, _) => lang::python::builtins::is_for_interfaces(linker.library.text(path).as_ref()),
        Ancestor::Unknown => false,
    };
    if !linker.mro(own).iter().all(is_known) {
        return false;
    }
    let methods = || {
        facts.bodies.iter().filter(|other| {
            let name = facts.text(other.name);
            let is_method = other.class.get() == Some(class) && other.kind == BodyKind::Function;
            is_method && !name.starts_with('_') && facts.list(other.decorators).is_empty()
        })
    };
    let count = methods().count();
    count >= FEWEST_METHODS && {
        let named = methods().filter(|other| is_named(linker, body.file, other.name)).count();
        named * 4 >= count * 3
    }
}

/// True if anything in the project uses a name, beside its definition. A name with several definitions may be used for any of them.
fn is_named(linker: &Linker<'_>, file: FileId, sym: Sym) -> bool {
    let unnamed = linker.program.global(file, sym).and_then(|name| unnamed_definitions(linker, name, |_| false));
    unnamed.is_none_or(|defined| defined > 1)
}

/// Returns the number of functions with a name that is called, mentioned and written in a string nowhere; `None` if something uses
/// the name. Calls that lead elsewhere do not count.
fn unnamed_definitions(linker: &Linker<'_>, name: Name, leads_elsewhere: impl Fn(SiteRef) -> bool) -> Option<usize> {
    let places = linker.program.occurrences(name);
    let is_used = |&(file, sym): &(FileId, Sym)| {
        let index = linker.program.index_of(file);
        index.mentions_named(sym).iter().next().is_some()
            || index.sites_named(sym).iter().any(|&site| !leads_elsewhere(file.site_ref(site)))
    };
    // The forms of a file are many: questions to indices come first.
    if places.iter().any(is_used) || places.iter().any(|&(file, sym)| is_written(linker, file, sym)) {
        return None;
    }
    let defined =
        |&(file, sym): &(FileId, Sym)| linker.program.facts(file).bodies.iter().filter(|row| row.name == sym).count();
    Some(places.iter().map(defined).sum())
}

/// True if a file writes a name in a string, or as an attribute that it does not call.
fn is_written(linker: &Linker<'_>, file: FileId, sym: Sym) -> bool {
    let facts = linker.program.facts(file);
    let sites = linker.program.index_of(file).sites_named(sym);
    let is_called = |at: usize| sites.iter().any(|&site| facts.site(site).callee == FormId(at as u32));
    facts.forms.iter().enumerate().any(|(at, form)| match form {
        Form::Str(text) => text == sym,
        Form::Attr(_, text) => text == sym && !is_called(at),
        _ => false,
    })
}
