//! Overrides of a method: its implementations in subclasses of classes, interfaces and traits, without test doubles.

use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, Name};
use blocklint_facts::BodyFlags;
use std::rc::Rc;

/// The maximal number of subclasses that are searched for one method.
const MAX_SUBCLASSES: usize = 20_000;

impl Linker<'_> {
    /// Returns the methods that override or implement a method in subclasses, without test doubles.
    pub fn overrides(&self, class: ClassRef, name: Name) -> Rc<[BodyRef]> {
        let find = || self.find_overrides(class, name).into();
        self.query(&self.tables.classes.overrides, (class, name), Rc::default, find)
    }

    fn find_overrides(&self, class: ClassRef, name: Name) -> Vec<BodyRef> {
        let semantics = crate::lang::semantics(self.program.language(class.file));
        let mut methods = Vec::new();
        for next in self.descendants(class, MAX_SUBCLASSES).classes {
            match self.own_member(next, name) {
                Some((owner, var)) => methods.extend(self.functions_of(owner, var)),
                None => methods.extend(semantics.overrides_in_other_impls(self, next, class, name)),
            }
        }
        methods.retain(|&body| !semantics.is_test_double_or_demo(self, body, class));
        methods.sort();
        methods.dedup();
        methods
    }

    /// True if a method is a test double of another method, because only the first one is for tests: it is in a test, or
    /// its class is a mock that only tests name.
    pub fn is_test_double(&self, body: BodyRef, original: BodyRef) -> bool {
        (self.is_for_tests(body) || self.is_double_for_tests(body)) && !self.is_for_tests(original)
    }

    /// Returns the body that contains the definitions of a class.
    pub(crate) fn class_body(&self, class: ClassRef) -> BodyRef {
        class.file.body_ref(self.program.class(class).body)
    }

    /// True if a body has no code of its own, because it is a stub or abstract.
    pub fn is_stub(&self, body: BodyRef) -> bool {
        self.program.body(body).flags.has(BodyFlags::STUB) || self.method_kind(body).is_abstract
    }
}
