//! Callable objects: `__call__` (Python) and the methods by which an object implements a functional interface (Java).

use crate::lang;
use blocklint_core::Language;

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef};
use crate::values::value::{BoundId, EnvId, Val};

impl Linker<'_> {
    /// True if a method implements a functional interface of a library, so that an instance of its class is a callable.
    /// Methods of the project's own interfaces are called by their names, so they do not count.
    pub(crate) fn implements_callable(&self, body: BodyRef) -> bool {
        let body_facts = self.program.body(body);
        body_facts.class.get().is_some_and(|class| {
            self.implements_callable_by(body.file.class_ref(class), self.program.facts(body.file).text(body_facts.name))
        })
    }

    /// True if a call of a value, or code that the value is passed to, runs this method of its class.
    pub fn runs_as_callable(&self, val: Val, body: BodyRef) -> bool {
        let Val::Instance { class, .. } = val else { return false };
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let Some(own) = body_facts.class.get() else { return false };
        let method_class = body.file.class_ref(own);
        self.is_run_by_instance(body)
            && self.is_subclass(class, method_class)
            && (facts.language == Language::Python || class == method_class || self.callables_of(val).contains(&body))
    }

    /// Returns the methods by which an object implements functional interfaces of libraries (Java).
    pub(crate) fn callables_of(&self, val: Val) -> Vec<BodyRef> {
        let Val::Instance { class, .. } = val else { return Vec::new() };
        if self.program.language(class.file) != Language::Java {
            return Vec::new();
        }
        let mut methods = Vec::new();
        for method in self.functional_names_in(class) {
            let Some(name) = self.program.name(&method) else { continue };
            for member in self.values.members(self.attr(val, name).value) {
                if let Val::Fn { body, .. } = member
                    && !self.is_stub(body)
                {
                    methods.push(body);
                }
            }
        }
        methods
    }

    /// Returns an object of an anonymous class as a closure: the only method by which it implements a functional
    /// interface, with the environment of its captured variables. `None` if the environment is empty (Java).
    pub(crate) fn as_closure(&self, object: Val, env: EnvId) -> Option<Val> {
        let Val::Instance { class, .. } = object else { return None };
        let facts = self.program.facts(class.file);
        if env == EnvId::NONE
            || facts.language != Language::Java
            || !facts.text(self.program.class(class).name).is_empty()
        {
            return None;
        }
        match self.callables_of(object)[..] {
            [body] => Some(Val::Fn { body, receiver: BoundId::NONE, env }),
            _ => None,
        }
    }

    /// Returns the method names of the functional interfaces of libraries that a class implements.
    fn functional_names_in(&self, class: ClassRef) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for ancestor in self.mro(class).iter() {
            let Ancestor::Library(ty, _) = *ancestor else { continue };
            for &supertype in self.library.supertypes(ty).iter() {
                let declared = self.library.ty(supertype).and_then(|rows| rows.functional());
                let method =
                    declared.or_else(|| lang::java::names::functional_method_of(&self.library.text(supertype)));
                if let Some(method) = method
                    && !names.iter().any(|name| name == method)
                {
                    names.push(method.to_owned());
                }
            }
        }
        names
    }

    /// True if a class implements a functional interface of a library by a method of this name.
    fn implements_callable_by(&self, class: ClassRef, method: &str) -> bool {
        self.functional_names_in(class).iter().any(|name| name == method)
    }
}
