//! Signal `left-over-method`: Python methods that the project never mentions, unlike the other methods of their classes.

use blocklint_core::Language;
use blocklint_facts::{BodyKind, Flow, Sym};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId};

use crate::lifecycle::unused::count_unused_definitions;

/// In a class with fewer public methods, a method without a mention does not count as unused.
const FEWEST_METHODS: usize = 4;

/// True if a public coroutine is a method that the project left over: the project names most methods of the class, and this one
/// nowhere.
pub(crate) fn is_left_over_method(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    let Some(class) = body_facts.class.get() else { return false };
    if facts.language != Language::Python
        || body_facts.flow != Flow::Coroutine
        || lang::python::conventions::is_private(facts.text(body_facts.name))
        || !facts.list(body_facts.decorators).is_empty()
        || is_named(linker, body.file, body_facts.name)
    {
        return false;
    }
    let method_class = body.file.class_ref(class);
    // Interface classes of the standard library (`ABC`, `Protocol`) call no methods with public names.
    let is_known = |ancestor: &Ancestor| match *ancestor {
        Ancestor::Class(_) => true,
        Ancestor::Library(path, _) => lang::python::builtins::is_interface_marker(linker.library.text(path).as_ref()),
        Ancestor::Unknown => false,
    };
    if !linker.mro(method_class).iter().all(is_known) {
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

/// True if the project mentions a name apart from its definition. True also for a name with several definitions,
/// because a mention may mean any of them.
fn is_named(linker: &Linker<'_>, file: FileId, sym: Sym) -> bool {
    let unnamed = linker.program.global(file, sym).and_then(|name| count_unused_definitions(linker, name, |_| false));
    unnamed.is_none_or(|defined| defined > 1)
}
