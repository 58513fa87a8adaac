//! Signal `left-over-method` of Rust and Java: methods of traits that a program never calls, and deprecated methods
//! without a known caller.

use blocklint_core::Language;
use blocklint_facts::{BodyFlags, BodyKind, ClassKind, FormId};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, ClassRef};
use blocklint_link::syntax::forms::last_name;

use crate::lifecycle::unused::{calls_other_method, count_unused_definitions};

/// True if a program, or a private or deprecated part of a library, has a method that no code of the project names,
/// although it names other methods of the same class (Rust).
pub(crate) fn is_left_over_in_program(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    let Some(class) = row.class.get() else { return false };
    let class = body.file.class_ref(class);
    if facts.language != Language::Rust
        || row.kind != BodyKind::Function
        || !facts.list(row.decorators).is_empty()
        || !has_bases_of_project(linker, class)
        || !(row.flags.has(BodyFlags::DEPRECATED) || is_of_program(linker, body))
        || is_named(linker, body)
    {
        return false;
    }
    facts.bodies.iter().enumerate().any(|(index, other)| {
        let other_body = body.file.body_ref(blocklint_facts::BodyId(index as u32));
        other.class == row.class
            && other.kind == BodyKind::Function
            && other_body != body
            && is_named(linker, other_body)
    })
}

/// True if a method is deprecated, no code of the project calls it, and no annotation registers it (Java).
pub(crate) fn is_deprecated_and_uncalled(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    let Some(class) = row.class.get() else { return false };
    facts.language == Language::Java
        && row.kind == BodyKind::Function
        && row.flags.has(BodyFlags::DEPRECATED)
        && facts.list(row.decorators).is_empty()
        && has_bases_of_project(linker, body.file.class_ref(class))
        && !is_named(linker, body)
}

/// True if the project defines all bases of a class, and no attribute of them or of the class may call its methods.
fn has_bases_of_project(linker: &Linker<'_>, class: ClassRef) -> bool {
    linker.mro(class).iter().all(|ancestor| match *ancestor {
        Ancestor::Class(base) => {
            let facts = linker.program.facts(base.file);
            let row = linker.program.class(base);
            let calls_nothing = |&form: &FormId| {
                last_name(facts, form).is_some_and(|name| lang::rust::conventions::only_rewrites(facts.text(name)))
            };
            facts.language != Language::Rust
                || !matches!(row.kind, ClassKind::Impl | ClassKind::Interface)
                || facts.list(row.decorators).iter().all(calls_nothing)
        }
        Ancestor::Library(path, _) => is_root_class(linker.library.text(path).as_ref()),
        Ancestor::Unknown => false,
    })
}

/// True for the class that all classes of Java are derived from.
fn is_root_class(path: &str) -> bool {
    path == "java.lang.Object"
}

/// True if a crate has programs and no library that other projects use, so that its project shows all callers.
fn is_of_program(linker: &Linker<'_>, body: BodyRef) -> bool {
    linker.crate_of(body.file).is_some_and(|own| {
        own.dependencies.is_some() && !own.roots.is_empty() && !own.roots.iter().any(|root| root.ends_with("lib.rs"))
    })
}

/// True if code of the project calls a method or mentions its name. A call that has only other methods as call targets
/// does not count.
fn is_named(linker: &Linker<'_>, body: BodyRef) -> bool {
    let name = linker.program.global(body.file, linker.program.body(body).name);
    name.is_none_or(|name| {
        count_unused_definitions(linker, name, |site| calls_other_method(linker, body, site)).is_none()
    })
}
