//! What the expressions of packages lead to, as far as names and types tell.

use blocklint_facts::{AltKind, BodyKind, DisplayKind, Form, FormId, SiteKind, VarId, VarKind};

use super::builtins::is_builtin;
use super::entity::{ClassRef, Entity, FileRef, Function, Value};
use super::sources::{Sources, instances};

/// Where an expression stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) file: FileRef,
    /// The class around it.
    pub(super) owner: Option<ClassRef>,
}

/// Types whose arguments are what a value is.
const TRANSPARENT: [&str; 7] = ["Optional", "Union", "Annotated", "ClassVar", "Final", "Type", "type"];

/// How deep expressions are followed into their parts and into what names stand for.
const DEEPEST: u32 = 300;

impl Sources {
    pub(super) fn place_of(&self, value: &Value) -> Place {
        Place { file: value.file, owner: value.owner }
    }

    pub(super) fn place_in(&self, function: &Function) -> Place {
        Place { file: function.file, owner: function.owner }
    }

    /// Whether a variable is bound to a plain name or attribute.
    pub(super) fn is_name(&self, value: &Value) -> bool {
        let form = self.file(value.file).facts.form(value.expression);
        matches!(form, Form::Var(_) | Form::Name(_) | Form::Attr(..))
    }

    /// Everything that an expression may be.
    pub(super) fn evaluate(&self, form: FormId, place: Place) -> Vec<Entity> {
        if self.depth.get() >= DEEPEST {
            return Vec::new();
        }
        self.depth.set(self.depth.get() + 1);
        let found = self.find_value(form, place);
        self.depth.set(self.depth.get() - 1);
        found
    }

    fn find_value(&self, form: FormId, place: Place) -> Vec<Entity> {
        let file = self.file(place.file);
        let facts = &file.facts;
        match facts.form(form) {
            Form::Var(var) => self.variable(var, place),
            Form::Name(name) => self.free(facts.text(name), place),
            Form::Attr(base, name) => {
                let name = facts.text(name);
                if let (Some(owner), true) = (place.owner, self.is_receiver(base, place.file)) {
                    return self.member(&Entity::Class(owner), name);
                }
                self.evaluate(base, place).iter().flat_map(|of| self.member(of, name)).collect()
            }
            Form::Subscript(base, index) => {
                let text = self.text(place.file, base);
                let last = text.rsplit('.').next().unwrap_or(&text);
                if !TRANSPARENT.contains(&last) {
                    return self.evaluate(base, place);
                }
                match facts.form(index) {
                    Form::Display(DisplayKind::Tuple, parts) => {
                        facts.list(parts).iter().flat_map(|&part| self.evaluate(part, place)).collect()
                    }
                    _ => self.evaluate(index, place),
                }
            }
            Form::Result(site) => {
                let row = facts.site(site);
                if row.kind != SiteKind::Call {
                    return Vec::new();
                }
                let called = self.evaluate(row.callee, place);
                let mut found: Vec<Entity> =
                    instances(called.iter().filter(|entity| matches!(entity, Entity::Class(_))).cloned().collect());
                for function in called.iter().filter_map(Entity::function) {
                    found.extend(self.returned(&function));
                }
                found
            }
            Form::Join(parts) => facts.list(parts).iter().flat_map(|&part| self.evaluate(part, place)).collect(),
            Form::Alt(kind, parts) => {
                let parts = facts.list(parts);
                let parts = if kind == AltKind::Ternary { parts.get(1..).unwrap_or(&[]) } else { parts };
                parts.iter().flat_map(|&part| self.evaluate(part, place)).collect()
            }
            Form::Part(of, at) => match facts.form(of) {
                Form::Display(_, parts) => {
                    facts.list(parts).get(at as usize).map_or(Vec::new(), |&part| self.evaluate(part, place))
                }
                _ => Vec::new(),
            },
            Form::Cast(_, inner) | Form::Bound(inner) => self.evaluate(inner, place),
            Form::Callable(body) if facts.body(body).kind == BodyKind::Function => {
                vec![Entity::Function(Function { file: place.file, body, owner: place.owner })]
            }
            Form::Class(class) => vec![Entity::Class(ClassRef { file: place.file, class })],
            _ => Vec::new(),
        }
    }

    fn variable(&self, id: VarId, place: Place) -> Vec<Entity> {
        let file = self.file(place.file);
        let facts = &file.facts;
        let var = facts.var(id);
        let name = facts.text(var.name);
        match facts.body(var.body).kind {
            BodyKind::Function | BodyKind::Lambda => {
                let local = self.local(place.file, id);
                // A parameter says nothing; a name that the function takes from around it is the module's.
                if local.is_empty() && !matches!(var.kind, VarKind::Param(_)) { self.free(name, place) } else { local }
            }
            _ => self.free(name, place),
        }
    }

    /// A name of the classes around the place, of its module, or of all modules.
    fn free(&self, name: &str, place: Place) -> Vec<Entity> {
        let mut around = place.owner;
        while let Some(class) = around {
            let is_asked = self.active.borrow().contains(&(Entity::Class(class), name.into()));
            if !is_asked && !self.class_scope(class).of(name).is_empty() {
                return self.member(&Entity::Class(class), name);
            }
            around = self.outer(class);
        }
        let module = self.file(place.file).module;
        let found = self.member(&Entity::Module(module), name);
        if found.is_empty() && is_builtin(name) {
            return vec![Entity::outside(format!("builtins.{name}"))];
        }
        found
    }

    /// Whether a form is `self` or `cls`.
    fn is_receiver(&self, form: FormId, file: FileRef) -> bool {
        let file = self.file(file);
        match file.facts.form(form) {
            Form::Var(var) => matches!(file.facts.text(file.facts.var(var).name), "self" | "cls"),
            _ => false,
        }
    }
}
