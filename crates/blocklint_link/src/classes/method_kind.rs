//! Kinds of methods by the language's own decorators: properties, static methods, class methods, cached methods.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{At, BodyFlags, BodyId, Form};

use crate::classes::hierarchy::Ancestor;
use crate::lang::python::builtins::Decorator;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, PathId};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The kind of a function, by the language's own decorators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MethodKind {
    /// True if reading the attribute calls the function: `@property`.
    pub(crate) property: bool,
    /// True if the function has no receiver: `@staticmethod`.
    pub(crate) is_static: bool,
    /// True if the receiver is the class: `@classmethod`.
    pub of_class: bool,
    /// True if the generator is a context manager: `@contextmanager`.
    pub(crate) context_manager: bool,
    /// True if the result is cached after the first call.
    pub cached: bool,
    /// True if the cached result is kept until the program ends.
    pub kept: bool,
    /// True if subclasses implement the function: `@abstractmethod`.
    pub(crate) is_abstract: bool,
}

impl Linker<'_> {
    /// True if a class is a descriptor: it has a method `__get__`, which runs when the attribute is read (Python).
    fn is_descriptor(&self, class: ClassRef) -> bool {
        let Some(name) = self.program.name("__get__") else { return false };
        self.mro(class).iter().any(|ancestor| match *ancestor {
            Ancestor::Class(class) => self.own_member(class, name).is_some(),
            _ => false,
        })
    }

    /// True if a path is `@contextmanager` or `@asynccontextmanager` (Python).
    pub(crate) fn makes_context_manager(&self, path: PathId) -> bool {
        self.library.language(path) == Language::Python
            && lang::python::builtins::decorator(&self.library.text(path)) == Some(Decorator::ContextManager)
    }

    /// Returns the kind of a function, by the language's own decorators.
    pub fn method_kind(&self, body: BodyRef) -> MethodKind {
        let find = || self.find_method_kind(body);
        self.query(&self.tables.classes.method_kinds, body, MethodKind::default, find)
    }

    fn find_method_kind(&self, body: BodyRef) -> MethodKind {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let mut kind = MethodKind { is_static: body_facts.flags.has(BodyFlags::STATIC), ..MethodKind::default() };
        if facts.language == Language::Python {
            let region = facts.body(body_facts.parent.get().unwrap_or(BodyId(0))).region;
            let scope = Scope { file: body.file, at: At { region, position: u32::MAX }, env: EnvId::NONE };
            for &decorator in facts.list(body_facts.decorators) {
                // `@x.getter` extends a property of the class.
                if let Form::Attr(_, sym) = facts.form(decorator)
                    && matches!(facts.text(sym), "getter")
                {
                    kind.property = true;
                    continue;
                }
                // `@lru_cache(maxsize=8)` is the decorator `lru_cache` with arguments.
                let callee = match facts.form(decorator) {
                    Form::Result(call) => facts.site(call).callee,
                    _ => decorator,
                };
                for val in self.values.members(self.eval(scope, callee).value) {
                    let path = match val {
                        Val::External(path) => path,
                        // A method with a descriptor class of the project as its decorator runs when its attribute is
                        // read.
                        Val::Class(class) if self.is_descriptor(class) => {
                            kind.property = true;
                            continue;
                        }
                        _ => continue,
                    };
                    match lang::python::builtins::decorator(&self.library.text(path)) {
                        Some(Decorator::Property) => kind.property = true,
                        Some(Decorator::Static) => kind.is_static = true,
                        Some(Decorator::Class) => kind.of_class = true,
                        Some(Decorator::ContextManager) => kind.context_manager = true,
                        Some(Decorator::Abstract) => kind.is_abstract = true,
                        Some(Decorator::Cached) => kind.cached = true,
                        Some(Decorator::PermanentlyCached) => (kind.cached, kind.kept) = (true, true),
                        Some(Decorator::CachedProperty) => (kind.property, kind.cached) = (true, true),
                        Some(Decorator::Transparent) | None => {}
                    }
                }
            }
            let name = facts.text(body_facts.name);
            if body_facts.class.is_some() && (name == "__init_subclass__" || name == "__class_getitem__") {
                kind.of_class = true;
            }
            if body_facts.class.is_some() && name == "__new__" {
                kind.is_static = true;
            }
        }
        kind
    }
}
