//! Hashes that tell whether a file, or what other files see of it, changed.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::{AssignKind, BodyKind, FileFacts, Form, FormId, List};

/// Hash of a file's bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// How deep values are followed; deeper ones are equal for the hash's purpose only if the content hash is too.
const DEPTH: u32 = 32;

impl FileFacts {
    /// Hash of what other files can see: definitions, signatures, decorators, bases, imports, what is assigned to
    /// members, globals and attributes, and what bodies return. Spans and sites do not count, so that an edit inside
    /// a body that changes none of these keeps it.
    pub fn interface_hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        for body in &self.bodies {
            (body.kind, body.flow, body.flags.0, self.text(body.name), body.parent, body.class).hash(&mut hasher);
            self.hash_form(body.returns, DEPTH, &mut hasher);
            self.hash_list(body.decorators, DEPTH, &mut hasher);
            for param in &self.params[body.params.range()] {
                (self.text(param.name), param.kind).hash(&mut hasher);
                self.hash_form(param.default, DEPTH, &mut hasher);
                self.hash_form(param.annotation, DEPTH, &mut hasher);
            }
        }
        for class in &self.classes {
            (class.kind, self.text(class.name), class.body, class.parent).hash(&mut hasher);
            self.hash_list(class.bases, DEPTH, &mut hasher);
            self.hash_list(class.decorators, DEPTH, &mut hasher);
            self.hash_form(class.subject, DEPTH, &mut hasher);
        }
        for import in &self.imports {
            (import.kind, self.text(import.module), import.level, self.text(import.name)).hash(&mut hasher);
        }
        for assign in &self.assigns {
            let seen = match self.form(assign.target) {
                Form::Var(var) => {
                    matches!(self.body(self.var(var).body).kind, BodyKind::Module | BodyKind::Class)
                        || assign.kind == AssignKind::Definition
                }
                _ => true,
            };
            if seen {
                self.hash_form(assign.target, DEPTH, &mut hasher);
                self.hash_form(assign.value, DEPTH, &mut hasher);
                self.hash_form(assign.annotation, DEPTH, &mut hasher);
            }
        }
        for exit in &self.exits {
            (exit.kind, self.body_of(exit.at)).hash(&mut hasher);
            self.hash_form(exit.value, DEPTH, &mut hasher);
        }
        hasher.finish()
    }

    fn hash_list(&self, list: List, depth: u32, hasher: &mut FxHasher) {
        list.len.hash(hasher);
        for &form in self.list(list) {
            self.hash_form(form, depth, hasher);
        }
    }

    fn hash_form(&self, id: FormId, depth: u32, hasher: &mut FxHasher) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let form = self.form(id);
        std::mem::discriminant(&form).hash(hasher);
        match form {
            Form::Other | Form::None | Form::Ellipsis | Form::This => id.is_none().hash(hasher),
            Form::Bool(value) => value.hash(hasher),
            Form::Int(value) => value.hash(hasher),
            Form::Float(value) => value.to_bits().hash(hasher),
            Form::Str(sym) | Form::Text(sym) | Form::Bytes(sym) | Form::Name(sym) => self.text(sym).hash(hasher),
            Form::Var(var) => {
                let var = self.var(var);
                (self.text(var.name), var.body).hash(hasher);
            }
            Form::Callable(body) | Form::Run(body) => body.hash(hasher),
            Form::Class(class) => class.hash(hasher),
            Form::Import(import) => import.hash(hasher),
            Form::Attr(base, sym) | Form::Path(base, sym) | Form::Field(base, sym) => {
                self.text(sym).hash(hasher);
                self.hash_form(base, depth, hasher);
            }
            Form::Part(base, index) => {
                index.hash(hasher);
                self.hash_form(base, depth, hasher);
            }
            Form::Await(base)
            | Form::Try(base)
            | Form::Element(base)
            | Form::Star(base)
            | Form::StarStar(base)
            | Form::Not(base)
            | Form::Bound(base) => self.hash_form(base, depth, hasher),
            Form::Subscript(a, b) | Form::Cast(a, b) => {
                self.hash_form(a, depth, hasher);
                self.hash_form(b, depth, hasher);
            }
            Form::Compare(operator, a, b) => {
                operator.hash(hasher);
                self.hash_form(a, depth, hasher);
                self.hash_form(b, depth, hasher);
            }
            Form::Display(kind, list) => {
                kind.hash(hasher);
                self.hash_list(list, depth, hasher);
            }
            Form::Alt(kind, list) => {
                kind.hash(hasher);
                self.hash_list(list, depth, hasher);
            }
            Form::Pairs(list) | Form::Join(list) => self.hash_list(list, depth, hasher),
            Form::Result(site) => {
                let site = self.site(site);
                (site.kind, self.text(site.name)).hash(hasher);
                self.hash_form(site.callee, depth, hasher);
                for arg in &self.args.slice::<4>(site.args.range()) {
                    self.text(arg.name).hash(hasher);
                    self.hash_form(arg.value, depth, hasher);
                }
            }
        }
    }
}
