//! Python: classes whose annotated fields declare the content of their objects: models of pydantic, dataclasses.

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::ClassRef;
use crate::values::expr::Scope;
use crate::values::value::Val;

impl Linker<'_> {
    /// Returns the annotated fields of a class and of the project's classes it derives from.
    pub fn fields_of(&self, class: ClassRef) -> Vec<(String, Typed)> {
        let mut found: Vec<(String, Typed)> = Vec::new();
        for ancestor in self.mro(class).iter() {
            let Ancestor::Class(own) = *ancestor else { continue };
            let facts = self.program.facts(own.file);
            let body = self.program.class(own).body;
            for var in facts.vars_of(body) {
                let name = facts.text(facts.var(var).name);
                let Some(assign) = facts.assigns_of(var).find(|assign| assign.annotation.is_some()) else { continue };
                if name.starts_with('_') || found.iter().any(|(known, _)| known == name) || name == "model_config" {
                    continue;
                }
                let scope = Scope { file: own.file, at: assign.at, env: crate::values::value::EnvId::NONE };
                found.push((name.to_owned(), self.annotation(scope, assign.annotation)));
            }
        }
        found
    }

    /// Models in a type: itself, or what its collections hold.
    pub fn models_in(&self, typed: Typed, depth: u32) -> Vec<ClassRef> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let mut found = Vec::new();
        for val in self.values.members(typed.value) {
            match val {
                // An enumeration is a value, not a model.
                Val::Instance { class, .. } if !self.fields_of(class).is_empty() => found.push(class),
                Val::Library { args, .. } => {
                    for at in 0..2 {
                        if let Some(value) = self.values.nth(args, at) {
                            found.extend(self.models_in(Typed { value, inferred_steps: 0 }, depth));
                        }
                    }
                }
                _ => {}
            }
        }
        found
    }
}
