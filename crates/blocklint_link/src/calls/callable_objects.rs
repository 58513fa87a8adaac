//! Objects as callables: methods that run where the object is called, given away or read, without being named there.

use crate::lang;
use blocklint_core::Language;

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef};
use crate::values::value::{BoundId, EnvId, Val};

impl Linker<'_> {
    /// True if a method implements a functional interface of a library, so that an instance of its class stands for a callable. Interfaces
    /// of the project are called by the names of their methods, as any object is.
    pub(crate) fn implements_callable(&self, body: BodyRef) -> bool {
        let row = self.program.body(body);
        row.class.get().is_some_and(|class| {
            self.implements_callable_by(body.file.class_ref(class), self.program.facts(body.file).text(row.name))
        })
    }

    /// True if a call of a value, or code that the value is passed to, runs this method of its class.
    pub fn runs_as_callable(&self, val: Val, body: BodyRef) -> bool {
        let Val::Instance { class, .. } = val else { return false };
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let Some(own) = row.class.get() else { return false };
        let own = body.file.class_ref(own);
        self.is_run_by_instance(body)
            && self.is_subclass(class, own)
            && (facts.language == Language::Python || class == own || self.callables_of(val).contains(&body))
    }

    /// Returns the methods by which an object implements functional interfaces of libraries (Java).
    pub(crate) fn callables_of(&self, val: Val) -> Vec<BodyRef> {
        let Val::Instance { class, .. } = val else { return Vec::new() };
        if self.program.language(class.file) != Language::Java {
            return Vec::new();
        }
        let mut found = Vec::new();
        for method in self.functional_names_in(class) {
            let Some(name) = self.program.name(&method) else { continue };
            for member in self.values.members(self.attr(val, name).value) {
                if let Val::Fn { body, .. } = member
                    && !self.is_stub(body)
                {
                    found.push(body);
                }
            }
        }
        found
    }

    /// Returns an object of a class without a name that stands for a callable, where what is bound around it decides
    /// what it does: the one method by which it implements the interface, as a lambda in its place would be (Java).
    pub(crate) fn as_closure(&self, made: Val, env: EnvId) -> Option<Val> {
        let Val::Instance { class, .. } = made else { return None };
        let facts = self.program.facts(class.file);
        if env == EnvId::NONE
            || facts.language != Language::Java
            || !facts.text(self.program.class(class).name).is_empty()
        {
            return None;
        }
        match self.callables_of(made)[..] {
            [body] => Some(Val::Fn { body, receiver: BoundId::NONE, env }),
            _ => None,
        }
    }

    /// Returns the names of the methods of those functional interfaces of libraries that a class implements.
    fn functional_names_in(&self, class: ClassRef) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for ancestor in self.mro(class).iter() {
            let Ancestor::Library(ty, _) = *ancestor else { continue };
            for &of in self.library.supertypes(ty).iter() {
                let declared = self.library.ty(of).and_then(|rows| rows.functional());
                let method = declared.or_else(|| lang::java::names::functional_method_of(&self.library.text(of)));
                if let Some(method) = method
                    && !found.iter().any(|known| known == method)
                {
                    found.push(method.to_owned());
                }
            }
        }
        found
    }

    fn implements_callable_by(&self, class: ClassRef, method: &str) -> bool {
        self.functional_names_in(class).iter().any(|name| name == method)
    }
}
