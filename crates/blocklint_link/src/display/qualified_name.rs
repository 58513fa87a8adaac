//! Qualified names of bodies and classes, as people and models write them.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::BodyKind;

use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, FileId};

impl<'a> Linker<'a> {
    /// Returns the qualified name of a body: `app.service.Store.load`; for a file's top level the module.
    pub fn qualified_name(&self, body: BodyRef) -> String {
        let (facts, body_id) = self.program.facts_and_id(body);
        let inside = facts.qualified_name(body_id);
        self.join_name(body.file, &inside)
    }

    /// Returns the qualified name of a class: `app.service.Store`.
    pub fn qualified_class(&self, class: ClassRef) -> String {
        let facts = self.program.facts(class.file);
        let inside = facts.qualified_name(self.program.class(class).body);
        self.join_name(class.file, &inside)
    }

    fn join_name(&self, file: FileId, inside: &str) -> String {
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

    /// Returns the name of a body inside its file, as people write it (`Store.load`); of a body without a name, that of
    /// the body around it.
    pub fn name_inside_file(&self, of: BodyRef) -> String {
        let (facts, mut body) = self.program.facts_and_id(of);
        while matches!(facts.body(body).kind, BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression) {
            match facts.body(body).parent.get() {
                Some(parent) => body = parent,
                None => break,
            }
        }
        let name = self.qualified_name(of.file.body_ref(body));
        let separator = if facts.language == Language::Rust { "::" } else { "." };
        let module = self.module_name(of.file);
        name.strip_prefix(&module).and_then(|inside| inside.strip_prefix(separator)).map_or(name.clone(), str::to_owned)
    }

    /// Returns the module, crate path or package of a file.
    pub fn module_name(&self, file: FileId) -> String {
        lang::semantics(self.program.language(file)).module_name(self, file)
    }
}
