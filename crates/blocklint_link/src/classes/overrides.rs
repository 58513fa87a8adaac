//! Overrides of a method: implementations in subclasses, of interfaces and of traits, without test doubles and stubs.

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::folders;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name};
use crate::values::value::Val;
use blocklint_facts::BodyFlags;
use rustc_hash::FxHashSet;
use std::rc::Rc;

impl<'a> Linker<'a> {
    /// The methods that override or implement this one in classes derived from its class, tests apart.
    pub fn overrides(&self, class: ClassRef, name: Name) -> Rc<[BodyRef]> {
        if let Some(known) = self.overrides.borrow().get(&(class, name)) {
            return known.clone();
        }
        let before = self.cut_count();
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut queue = self.derived(class).to_vec();
        while let Some(next) = queue.pop() {
            if !seen.insert(next) || seen.len() > 20_000 {
                continue;
            }
            match self.own_member(next, name) {
                Some((owner, var)) => found.extend(self.functions_of(owner, var)),
                None => found.extend(self.beside_impl(next, class, name)),
            }
            queue.extend(self.derived(next).iter().copied());
        }
        // What tests put in the place of a service is no service.
        let facts = self.program.facts(class.file);
        if facts.language != blocklint_core::Language::Python {
            let own = class.file.body_ref(self.program.class(class).body);
            if !self.is_for_tests(own) {
                found.retain(|&body| !self.is_for_tests(body));
            }
            // Nor is what a demo shows how to use it with.
            if facts.language == blocklint_core::Language::Java && !self.is_of_demo(class.file) {
                found.retain(|&body| !self.is_of_demo(body.file));
            }
        }
        found.sort();
        found.dedup();
        let found: Rc<[BodyRef]> = Rc::from(found);
        if self.cut_count() == before {
            self.overrides.borrow_mut().insert((class, name), found.clone());
        }
        found
    }

    /// Rust: what the subject of an impl block of a trait has by its impl block of a trait above: `read` of `impl Read for Disk` beside
    /// `impl Store for Disk`, where `Store: Read`.
    pub(crate) fn beside_impl(&self, block: ClassRef, of: ClassRef, name: Name) -> Vec<BodyRef> {
        let facts = self.program.facts(block.file);
        if facts.language != blocklint_core::Language::Rust
            || self.program.class(block).kind != blocklint_facts::ClassKind::Impl
        {
            return Vec::new();
        }
        let Some(subject) = crate::lang::rust::names::subject(self, block) else { return Vec::new() };
        let above = self.mro(of);
        let others = self.impls(subject).into_iter().filter(|&other| {
            other != block
                && self.bases(other).iter().any(|base| match *base {
                    Val::Class(base) | Val::Instance { class: base, .. } => {
                        base != of && above.contains(&Ancestor::Class(base))
                    }
                    _ => false,
                })
        });
        others
            .filter_map(|other| self.own_member(other, name))
            .flat_map(|(owner, var)| self.functions_of(owner, var))
            .collect()
    }

    /// Whether a file is part of a demo, by the folders above it.
    pub(crate) fn is_of_demo(&self, file: FileId) -> bool {
        let relative = &self.program.files[file.index()].relative;
        folders(relative)
            .flat_map(|folder| folder.split('-'))
            .any(|word| matches!(word, "demo" | "demos" | "example" | "examples" | "sample" | "samples"))
    }

    /// Whether a body has no code of its own.
    pub fn is_stub(&self, body: BodyRef) -> bool {
        self.program.body(body).flags.has(BodyFlags::STUB) || self.method_kind(body).is_abstract
    }
}
