//! The parameters of calls.

use blocklint_facts::{AssignKind, Form, ParamKind};
use blocklint_link::program::ids::{BodyRef, ClassRef};
use blocklint_models::Argument;

use super::entity::{Base, Entity, Function, Value};
use super::sources::Sources;

/// The parameters of a call, the receiver not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) positional: Vec<String>,
    keyword_only: Vec<String>,
    /// `*args`.
    pub(super) rest: bool,
    /// `**kwargs`.
    pub(super) keywords: bool,
}

impl Signature {
    /// Returns all names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.positional.iter().chain(&self.keyword_only).map(String::as_str)
    }

    fn list(&self) -> String {
        self.names().collect::<Vec<_>>().join(", ")
    }

    /// Returns the mistake of an argument that a row names.
    pub(super) fn mismatch(&self, argument: &Argument) -> Option<String> {
        let (name, position) = match argument {
            Argument::AllPositional | Argument::Receiver => return None,
            Argument::Position(at) => {
                let enough = self.rest || usize::try_from(*at).is_ok_and(|at| at < self.positional.len()) || *at < 0;
                return (!enough).then(|| format!("has no argument {at} ({})", self.list()));
            }
            Argument::Keyword(name) => (name, None),
            Argument::Either(name, at) => (name, Some(*at as usize)),
        };
        if !self.names().any(|known| known == name) {
            return (!self.keywords).then(|| format!("has no parameter `{name}` ({})", self.list()));
        }
        let at = self.positional.iter().position(|known| known == name);
        match position {
            Some(wanted) if at != Some(wanted) => {
                let place = at.map_or("keyword only".to_owned(), |at| format!("argument {at}"));
                Some(format!("`{name}` is {place}, not {wanted}"))
            }
            _ => None,
        }
    }
}

/// Returns the parameters of a call that the twin lacks, by the pair of overloads that lack least.
pub(super) fn lost_parameters(call: &[Signature], twin: &[Signature]) -> Vec<String> {
    let lost = |call: &Signature, twin: &Signature| {
        let is_lost = |name: &&str| {
            let by_position = twin.rest && call.positional.iter().any(|own| own == name);
            !twin.keywords && !by_position && !twin.names().any(|known| known == *name)
        };
        call.names().filter(is_lost).map(str::to_owned).collect::<Vec<_>>()
    };
    let pairs = call.iter().flat_map(|call| twin.iter().map(move |twin| lost(call, twin)));
    pairs.min_by_key(Vec::len).unwrap_or_default()
}

impl Sources<'_> {
    /// One for each overload; none if it cannot be told.
    pub(super) fn signatures(&self, found: &[Entity]) -> Vec<Signature> {
        let mut known = Vec::new();
        for entity in found {
            match entity {
                Entity::Function(function) => known.push(self.of_function(function)),
                Entity::Class(class) => known.extend(self.of_class(*class)),
                Entity::Instance(class) => {
                    let called = self.member(&Entity::Class(*class), "__call__");
                    known.extend(called.iter().filter_map(Entity::function).map(|call| self.of_function(&call)));
                }
                Entity::Value(value) => known.extend(self.of_lambda(value)),
                Entity::Module(_) | Entity::Outside(_) => {}
            }
        }
        known
    }

    fn of_function(&self, function: &Function) -> Signature {
        let bound = function.owner.is_some() && !self.decorators(function).iter().any(|name| name == "staticmethod");
        let mut signature = self.of_body(function.body);
        if bound && !signature.positional.is_empty() {
            signature.positional.remove(0);
        }
        signature
    }

    fn of_body(&self, body: BodyRef) -> Signature {
        let facts = self.program.facts(body.file);
        let mut signature = Signature::default();
        for param in self.program.params_of(body) {
            let name = facts.text(param.name).to_owned();
            match param.kind {
                ParamKind::Normal | ParamKind::PositionalOnly | ParamKind::Receiver => signature.positional.push(name),
                ParamKind::KeywordOnly => signature.keyword_only.push(name),
                ParamKind::VarArgs => signature.rest = true,
                ParamKind::KwArgs => signature.keywords = true,
            }
        }
        signature
    }

    fn of_lambda(&self, value: &Value) -> Option<Signature> {
        match self.program.facts(value.file).form(value.expression) {
            Form::Callable(body) => Some(self.of_body(value.file.body_ref(body))),
            _ => None,
        }
    }

    fn of_class(&self, class: ClassRef) -> Vec<Signature> {
        for name in ["__init__", "__new__"] {
            let made: Vec<Function> =
                self.member(&Entity::Class(class), name).iter().filter_map(Entity::function).collect();
            if !made.is_empty() {
                return made.iter().map(|function| self.of_function(function)).collect();
            }
        }
        let order = self.mro(class);
        if order.iter().any(|base| matches!(base, Base::Outside(_))) {
            return Vec::new();
        }
        // The fields of a data class, those of its bases first.
        let mut names: Vec<String> = Vec::new();
        for base in order.iter().rev() {
            let Base::Class(base) = base else { continue };
            let facts = self.program.facts(base.file);
            for var in facts.vars_of(self.program.class(*base).body) {
                let is_field =
                    |row: blocklint_facts::Assign| row.annotation.is_some() && row.kind != AssignKind::Definition;
                let name = facts.text(facts.var(var).name);
                if facts.assigns_of(var).any(is_field) && !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        vec![Signature { positional: names, keyword_only: Vec::new(), rest: true, keywords: true }]
    }
}
