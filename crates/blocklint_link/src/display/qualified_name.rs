//! Qualified names of bodies and classes for messages and models: `app.service.Store.load`.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::BodyKind;

use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, FileId};

impl<'a> Linker<'a> {
    /// Returns the qualified name of a body: `app.service.Store.load`. The top level of a file has the module's name.
    pub fn qualified_name(&self, body: BodyRef) -> String {
        let (facts, body_id) = self.program.facts_and_id(body);
        let inside = facts.qualified_name(body_id);
        self.with_module_name(body.file, &inside)
    }

    /// Returns the qualified name of a class: `app.service.Store`.
    pub fn qualified_class(&self, class: ClassRef) -> String {
        let facts = self.program.facts(class.file);
        let inside = facts.qualified_name(self.program.class(class).body);
        self.with_module_name(class.file, &inside)
    }

    /// Returns the name of a definition with the module of its file before it.
    fn with_module_name(&self, file: FileId, inside: &str) -> String {
        let module = self.module_name(file);
        match (module.is_empty(), inside.is_empty()) {
            (true, _) => inside.to_owned(),
            (_, true) => module,
            _ => {
                let separator = crate::models::library::separator(self.program.language(file));
                format!("{module}{separator}{inside}")
            }
        }
    }

    /// Returns the qualified name of a body without its module: `Store.load`. A lambda or block has the name of the
    /// function around it.
    pub fn name_inside_file(&self, inner: BodyRef) -> String {
        let (facts, mut body) = self.program.facts_and_id(inner);
        while matches!(facts.body(body).kind, BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression) {
            match facts.body(body).parent.get() {
                Some(parent) => body = parent,
                None => break,
            }
        }
        let name = self.qualified_name(inner.file.body_ref(body));
        let separator = if facts.language == Language::Rust { "::" } else { "." };
        let module = self.module_name(inner.file);
        name.strip_prefix(&module).and_then(|inside| inside.strip_prefix(separator)).map_or(name.clone(), str::to_owned)
    }

    /// Returns the name of a file's module (Python), crate path (Rust) or package (Java).
    pub fn module_name(&self, file: FileId) -> String {
        lang::semantics(self.program.language(file)).module_name(self, file)
    }
}
