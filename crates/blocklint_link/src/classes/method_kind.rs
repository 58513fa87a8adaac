//! Effects of decorators on the functions of a class: properties, static methods, caches.

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
    /// Reading the attribute calls it.
    pub(crate) property: bool,
    /// It has no receiver.
    pub(crate) is_static: bool,
    /// Its receiver is the class.
    pub of_class: bool,
    /// It is a generator used in `with`.
    pub(crate) context_manager: bool,
    /// It runs once and then answers from memory.
    pub cached: bool,
    /// It does so as long as the program lives.
    pub kept: bool,
    /// It leaves its code to classes that derive.
    pub(crate) is_abstract: bool,
}

impl Linker<'_> {
    /// True if the class is a descriptor: reading an attribute that holds an instance of it runs a method of the class
    /// (Python).
    fn is_descriptor(&self, class: ClassRef) -> bool {
        let Some(name) = self.program.name("__get__") else { return false };
        self.mro(class).iter().any(|ancestor| match *ancestor {
            Ancestor::Class(of) => self.own_member(of, name).is_some(),
            _ => false,
        })
    }

    /// True if a decorator of the language makes a context manager of a generator function (Python).
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
        let row = self.program.body(body);
        let mut kind = MethodKind { is_static: row.flags.has(BodyFlags::STATIC), ..MethodKind::default() };
        if facts.language == Language::Python {
            let at = facts.body(row.parent.get().unwrap_or(BodyId(0))).region;
            let scope = Scope { file: body.file, at: At { region: at, position: u32::MAX }, env: EnvId::NONE };
            for &decorator in facts.list(row.decorators) {
                // `@x.setter` and `@x.getter` extend a property of the class.
                if let Form::Attr(_, sym) = facts.form(decorator)
                    && matches!(facts.text(sym), "getter")
                {
                    kind.property = true;
                    continue;
                }
                // `@lru_cache(maxsize=8)` is the decorator of that name with its settings.
                let named = match facts.form(decorator) {
                    Form::Result(call) => facts.site(call).callee,
                    _ => decorator,
                };
                for val in self.values.members(self.eval(scope, named).value) {
                    let path = match val {
                        Val::External(path) => path,
                        // A method that is decorated with a descriptor of the project runs when its attribute is read.
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
            let name = facts.text(row.name);
            if row.class.is_some() && (name == "__init_subclass__" || name == "__class_getitem__") {
                kind.of_class = true;
            }
            if row.class.is_some() && name == "__new__" {
                kind.is_static = true;
            }
        }
        kind
    }
}
