//! Java: projects that contain the source of a modelled library. Rows for the library's public types apply to the
//! project's classes of the same qualified names and to their subclasses: an override of a server's handler interface
//! runs on the server's event loop, also if the project defines that interface.

use blocklint_core::Language;
use blocklint_models::Selector;

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, PathId};

impl Linker<'_> {
    /// Returns the path of a class of the project, if models describe the type of this path.
    pub(crate) fn described_class_path(&self, class: ClassRef) -> Option<PathId> {
        let facts = self.program.facts(class.file);
        if facts.language != Language::Java {
            return None;
        }
        self.query(&self.tables.java.described_classes, class, Option::default, || {
            let path = self.library.path(Language::Java, &self.qualified_class(class));
            (self.library.is_type(path) || self.library.is_described(path)).then_some(path)
        })
    }

    /// Returns the path of a method with handover rows for its arguments, if its class or a base class is a type of the
    /// models. The rows describe the arguments, so the method's own code is not followed.
    pub(crate) fn path_with_handovers(&self, body: BodyRef) -> Option<PathId> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let class = body_facts.class.get().filter(|_| facts.language == Language::Java)?;
        self.mro(body.file.class_ref(class)).iter().find_map(|ancestor| {
            let Ancestor::Class(class) = *ancestor else { return None };
            let path = self.library.member(self.described_class_path(class)?, facts.text(body_facts.name));
            let handovers = self.library.handovers(path);
            handovers.iter().any(|handover| matches!(handover.row.selector, Selector::Argument(_))).then_some(path)
        })
    }
}
