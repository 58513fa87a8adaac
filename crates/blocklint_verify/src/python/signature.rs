//! The signatures of functions and classes, and the arguments of rows that do not fit them.

use blocklint_facts::{AssignKind, Form, ParamKind};
use blocklint_link::program::ids::{BodyRef, ClassRef};
use blocklint_models::Argument;

use super::entity::{Base, Entity, Function, Value};
use super::sources::Sources;

/// The parameters of a call, without the receiver.
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
    /// Returns the names of all parameters.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.positional.iter().chain(&self.keyword_only).map(String::as_str)
    }

    fn list(&self) -> String {
        self.names().collect::<Vec<_>>().join(", ")
    }

    /// Returns the mistake of an argument that a row refers to.
    pub(super) fn mismatch(&self, argument: &Argument) -> Option<String> {
        let (name, position) = match argument {
            Argument::AllPositional | Argument::Receiver => return None,
            Argument::Position(position) => {
                let exists = self.rest
                    || usize::try_from(*position).is_ok_and(|index| index < self.positional.len())
                    || *position < 0;
                return (!exists).then(|| format!("has no argument {position} ({})", self.list()));
            }
            Argument::Keyword(name) => (name, None),
            Argument::Either(name, position) => (name, Some(*position as usize)),
        };
        if !self.names().any(|known| known == name) {
            return (!self.keywords).then(|| format!("has no parameter `{name}` ({})", self.list()));
        }
        let actual = self.positional.iter().position(|known| known == name);
        match position {
            Some(wanted) if actual != Some(wanted) => {
                let place = actual.map_or("keyword only".to_owned(), |index| format!("argument {index}"));
                Some(format!("`{name}` is {place}, not {wanted}"))
            }
            _ => None,
        }
    }
}

/// Returns the parameters of a call that its twin lacks, for the pair of overloads with the fewest.
pub(super) fn lost_parameters(call: &[Signature], twin: &[Signature]) -> Vec<String> {
    let lost = |call: &Signature, twin: &Signature| {
        let is_lost = |name: &&str| {
            let by_position = twin.rest && call.positional.iter().any(|name_of_call| name_of_call == name);
            !twin.keywords && !by_position && !twin.names().any(|known| known == *name)
        };
        call.names().filter(is_lost).map(str::to_owned).collect::<Vec<_>>()
    };
    let pairs = call.iter().flat_map(|call| twin.iter().map(move |twin| lost(call, twin)));
    pairs.min_by_key(Vec::len).unwrap_or_default()
}

impl Sources<'_> {
    /// Returns a signature for each overload of the entities; empty if they are unknown.
    pub(super) fn signatures(&self, entities: &[Entity]) -> Vec<Signature> {
        let mut signatures = Vec::new();
        for entity in entities {
            match entity {
                Entity::Function(function) => signatures.push(self.function_signature(function)),
                Entity::Class(class) => signatures.extend(self.class_signatures(*class)),
                Entity::Instance(class) => {
                    let methods = self.member(&Entity::Class(*class), "__call__");
                    let functions = methods.iter().filter_map(Entity::function);
                    signatures.extend(functions.map(|function| self.function_signature(&function)));
                }
                Entity::Value(value) => signatures.extend(self.lambda_signature(value)),
                Entity::Module(_) | Entity::Outside(_) => {}
            }
        }
        signatures
    }

    fn function_signature(&self, function: &Function) -> Signature {
        let is_bound = function.owner.is_some() && !self.decorators(function).iter().any(|name| name == "staticmethod");
        let mut signature = self.body_signature(function.body);
        if is_bound && !signature.positional.is_empty() {
            signature.positional.remove(0);
        }
        signature
    }

    fn body_signature(&self, body: BodyRef) -> Signature {
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

    fn lambda_signature(&self, value: &Value) -> Option<Signature> {
        match self.program.facts(value.file).form(value.expression) {
            Form::Callable(body) => Some(self.body_signature(value.file.body_ref(body))),
            _ => None,
        }
    }

    fn class_signatures(&self, class: ClassRef) -> Vec<Signature> {
        for name in ["__init__", "__new__"] {
            let constructors: Vec<Function> =
                self.member(&Entity::Class(class), name).iter().filter_map(Entity::function).collect();
            if !constructors.is_empty() {
                return constructors.iter().map(|function| self.function_signature(function)).collect();
            }
        }
        let order = self.mro(class);
        if order.iter().any(|base| matches!(base, Base::Outside(_))) {
            return Vec::new();
        }
        // A class without a constructor is possibly a data class: its parameters are the fields, those of bases first.
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
