//! Overrides of a method: implementations in subclasses, of interfaces and of traits, without test doubles and stubs.

use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, Name};
use blocklint_facts::BodyFlags;
use std::rc::Rc;

/// Classes derived from one that are looked at.
const MOST_CLASSES: usize = 20_000;

impl Linker<'_> {
    /// Returns the methods that override or implement this one in classes derived from its class, tests apart.
    pub fn overrides(&self, class: ClassRef, name: Name) -> Rc<[BodyRef]> {
        let find = || self.find_overrides(class, name).into();
        self.query(&self.tables.classes.overrides, (class, name), Rc::default, find)
    }

    fn find_overrides(&self, class: ClassRef, name: Name) -> Vec<BodyRef> {
        let semantics = crate::lang::semantics(self.program.language(class.file));
        let mut found = Vec::new();
        for next in self.descendants(class, MOST_CLASSES).classes {
            match self.own_member(next, name) {
                Some((owner, var)) => found.extend(self.functions_of(owner, var)),
                None => found.extend(semantics.overrides_in_other_impls(self, next, class, name)),
            }
        }
        found.retain(|&body| !semantics.is_test_double_or_demo(self, body, class));
        found.sort();
        found.dedup();
        found
    }

    /// True if tests put a method in the place of one of the program: a test double.
    pub fn is_test_double(&self, body: BodyRef, of: BodyRef) -> bool {
        self.is_for_tests(body) && !self.is_for_tests(of)
    }

    /// Returns the body of a class itself.
    pub(crate) fn class_body(&self, class: ClassRef) -> BodyRef {
        class.file.body_ref(self.program.class(class).body)
    }

    /// True if a body has no code of its own.
    pub fn is_stub(&self, body: BodyRef) -> bool {
        self.program.body(body).flags.has(BodyFlags::STUB) || self.method_kind(body).is_abstract
    }
}
