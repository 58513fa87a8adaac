//! Python: annotated fields of data classes: pydantic models, dataclasses.

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::ClassRef;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

impl Linker<'_> {
    /// Returns the annotated fields of a class and of the project's classes it derives from.
    pub fn annotated_fields(&self, class: ClassRef) -> Vec<(String, Typed)> {
        let mut fields: Vec<(String, Typed)> = Vec::new();
        for ancestor in self.mro(class).iter() {
            let Ancestor::Class(class_of_field) = *ancestor else { continue };
            let facts = self.program.facts(class_of_field.file);
            let body = self.program.class(class_of_field).body;
            for var in facts.vars_of(body) {
                let name = facts.text(facts.var(var).name);
                let Some(assign) = facts.assigns_of(var).find(|assign| assign.annotation.is_some()) else { continue };
                if name.starts_with('_') || fields.iter().any(|(known, _)| known == name) || name == "model_config" {
                    continue;
                }
                let scope = Scope { file: class_of_field.file, at: assign.at, env: EnvId::NONE };
                fields.push((name.to_owned(), self.annotation(scope, assign.annotation)));
            }
        }
        fields
    }

    /// Returns the classes with annotated fields in a type: its own class, or those of the elements of collections.
    pub fn models_in(&self, typed: Typed, depth: u32) -> Vec<ClassRef> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let mut models = Vec::new();
        for val in self.values.members(typed.value) {
            match val {
                // An enumeration has no annotated fields, so it is no model.
                Val::Instance { class, .. } if !self.annotated_fields(class).is_empty() => models.push(class),
                Val::Library { args, .. } => {
                    for index in 0..2 {
                        if let Some(value) = self.values.nth(args, index) {
                            models.extend(self.models_in(Typed { value, inferred_steps: 0 }, depth));
                        }
                    }
                }
                _ => {}
            }
        }
        models
    }
}
