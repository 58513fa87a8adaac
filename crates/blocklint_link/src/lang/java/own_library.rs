//! Java: projects that are a modelled library, or contain a part of one. Rows for the library's public types hold for
//! the project's own classes of these names and for the classes that derive from them: an override of a server's
//! interface runs on the server's event loop, also where the interface is the project's own.

use blocklint_core::Language;
use blocklint_models::Selector;

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, PathId};

impl Linker<'_> {
    /// Returns the type of a model that a class of the project is.
    pub(crate) fn modelled_class(&self, class: ClassRef) -> Option<PathId> {
        let facts = self.program.facts(class.file);
        if facts.language != Language::Java {
            return None;
        }
        self.query(&self.tables.java.modelled_classes, class, Option::default, || {
            let path = self.library.path(Language::Java, &self.qualified_class(class));
            (self.library.is_type(path) || self.library.is_described(path)).then_some(path)
        })
    }

    /// Returns the path of a method whose rows state what becomes of its arguments, where its class or one that it
    /// derives from is the model's: what is behind it in the project is how the library does that.
    pub(crate) fn modelled_handovers(&self, body: BodyRef) -> Option<PathId> {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let class = row.class.get().filter(|_| facts.language == Language::Java)?;
        self.mro(body.file.class_ref(class)).iter().find_map(|ancestor| {
            let Ancestor::Class(class) = *ancestor else { return None };
            let path = self.library.member(self.modelled_class(class)?, facts.text(row.name));
            let handovers = self.library.handovers(path);
            handovers.iter().any(|of| matches!(of.row.selector, Selector::Argument(_))).then_some(path)
        })
    }
}
