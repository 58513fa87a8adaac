//! Java: interface methods that a library implements at run time: of repositories, declarative HTTP clients, mappers
//! (`interface Users extends CrudRepository<User, Long>`).

use blocklint_core::Language;
use blocklint_facts::{BodyFlags, BodyId, BodyKind, ClassKind};
use blocklint_models::{Role, Uses};
use rustc_hash::FxHashSet;

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, Name, PathId};

impl Linker<'_> {
    /// Returns the library path whose rows describe a call of a method without a body. The path is the method's name as
    /// a member of an annotation (`@FeignClient` of the interface, `@Query` of the method), or of a library's interface
    /// that the interface extends. A method that returns a future or publisher has no such path, because its call does
    /// not wait.
    pub fn implemented_by_library(&self, body: BodyRef) -> Option<PathId> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        if facts.language != Language::Java || !body_facts.flags.has(BodyFlags::STUB) {
            return None;
        }
        let class = body.file.class_ref(body_facts.class.get()?);
        if self.program.class(class).kind != ClassKind::Interface
            || matches!(self.declared_role(body), Some(Role::Publisher | Role::Future))
        {
            return None;
        }
        let mut annotations = self.decorator_paths(body);
        annotations.extend(self.class_annotations(class));
        let name = facts.text(body_facts.name);
        let annotated = annotations.into_iter().find(|&path| self.library.is_marker_annotation(path));
        let path = annotated.map(|path| self.library.member(path, name)).or_else(|| {
            self.mro(class).iter().find_map(|ancestor| {
                let Ancestor::Library(ty, _) = *ancestor else { return None };
                let path = self.library.member(ty, name);
                self.library.calls(path).effect().next().map(|_| path)
            })
        })?;
        // An implementation in the project takes the place of the library's. For an interface of the library itself,
        // its row describes all implementations.
        let is_own = self.described_class_path(class).is_some_and(|ty| path == self.library.member(ty, name));
        (is_own || !self.has_implementations(body)).then_some(path)
    }

    /// Returns the names of the project's methods that a library implements.
    pub fn names_implemented_by_library(&self) -> FxHashSet<Name> {
        let mut names = FxHashSet::default();
        // Without rows for annotations or interfaces, no library implements a method.
        let models = self.library.of(Language::Java);
        let has_rows = models.mark_names().next().is_some() || models.names(Uses::EFFECT).next().is_some();
        if !has_rows {
            return names;
        }
        for (slot, source) in self.program.files.iter().enumerate() {
            let file = FileId(slot as u32);
            let facts = &source.facts;
            if facts.language != Language::Java {
                continue;
            }
            for (index, body) in facts.bodies.iter().enumerate() {
                let is_stub = body.kind == BodyKind::Function && body.flags.has(BodyFlags::STUB);
                let Some(class) = body.class.get().filter(|_| is_stub) else { continue };
                let class = facts.class(class);
                // No library implements an interface without a base and an annotation.
                let may_be_implemented = !facts.list(class.bases).is_empty()
                    || !facts.list(class.decorators).is_empty()
                    || !facts.list(body.decorators).is_empty();
                if class.kind != ClassKind::Interface || !may_be_implemented {
                    continue;
                }
                let body_ref = file.body_ref(BodyId(index as u32));
                if self.implemented_by_library(body_ref).is_some() {
                    names.extend(self.program.global(file, body.name));
                }
            }
        }
        names
    }
}
