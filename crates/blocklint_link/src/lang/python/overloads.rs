//! Python: `@overload`: the variant that a call selects by `Literal` types of its parameters.

use blocklint_core::Language;
use blocklint_facts::{BodyFlags, BodyId, BodyKind, Form, FormId};

use crate::effect::constant::Constant;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, SiteRef};
use crate::values::value::{EnvId, Val};

/// How many variables and fields are followed to the constant of an argument.
const MAX_CONSTANT_DEPTH: u32 = 4;

impl<'a> Linker<'a> {
    /// Returns the result of the `@overload` variant that the literal arguments of a call select; `None` if they select
    /// none.
    pub(crate) fn overload_result(
        &self,
        body: BodyRef,
        site: SiteRef,
        env: EnvId,
        with_receiver: bool,
        receiver: Option<Val>,
    ) -> Option<Typed> {
        let facts = self.program.facts(body.file);
        let var = self.program.body(body).var;
        if facts.language != Language::Python || var.is_none() {
            return None;
        }
        self.program.name("overload").and_then(|name| self.program.local(body.file, name))?;
        let variants: Vec<BodyRef> = (0..body.index())
            .map(|index| BodyId(index as u32))
            .filter(|&id| {
                let body_facts = facts.body(id);
                body_facts.var == var && body_facts.kind == BodyKind::Function && body_facts.flags.has(BodyFlags::STUB)
            })
            .filter(|&id| facts.list(facts.body(id).decorators).iter().any(|&form| self.is_overload(body, form)))
            .map(|id| body.file.body_ref(id))
            .collect();
        let has_literals = variants.iter().any(|variant| {
            self.program
                .params_of(*variant)
                .iter()
                .any(|param| !self.annotation_literals(body, param.annotation).is_empty())
        });
        if !has_literals {
            return None;
        }
        for variant in variants {
            match self.matches_variant(variant, site, env, with_receiver) {
                Some(true) => return Some(self.value_of_call(variant, EnvId::NONE, receiver)),
                Some(false) => {}
                None => return None,
            }
        }
        None
    }

    fn is_overload(&self, body: BodyRef, form: FormId) -> bool {
        let facts = self.program.facts(body.file);
        match facts.form(form) {
            Form::Var(var) => facts.text(facts.var(var).name) == "overload",
            Form::Attr(_, sym) => facts.text(sym) == "overload",
            _ => false,
        }
    }

    /// Returns true if a call's arguments match the `Literal` parameters of a variant; `None` if an argument of such a
    /// parameter is unknown.
    fn matches_variant(&self, variant: BodyRef, site: SiteRef, env: EnvId, with_receiver: bool) -> Option<bool> {
        let facts = self.program.facts(variant.file);
        let params = self.program.params_of(variant);
        for (index, param) in params.iter().enumerate().skip(usize::from(with_receiver)) {
            let argument = self.argument_for_param(site, variant, index as u32, with_receiver);
            let literals = self.annotation_literals(variant, param.annotation);
            if literals.is_empty() {
                continue;
            }
            let constant = match argument {
                Some(form) => self.constant(site, form, env, MAX_CONSTANT_DEPTH),
                None if param.default.is_some() => match facts.form(param.default) {
                    // `= ...` stands for a default that the variant's type describes.
                    Form::Bool(_) | Form::Str(_) | Form::Int(_) | Form::None => {
                        self.constant_in(variant, param.default, EnvId::NONE, 2)
                    }
                    _ => continue,
                },
                None => return Some(false),
            };
            match constant {
                Constant::Hidden | Constant::Param(_) | Constant::Symbols(_) | Constant::Empty => return None,
                constant if literals.contains(&constant) => {}
                _ => return Some(false),
            }
        }
        Some(true)
    }

    /// Returns the arguments of a `Literal[…]` annotation.
    fn annotation_literals(&self, body: BodyRef, annotation: FormId) -> Vec<Constant> {
        let facts = self.program.facts(body.file);
        if annotation.is_none() {
            return Vec::new();
        }
        let Form::Subscript(head, index) = facts.form(annotation) else { return Vec::new() };
        let constructor = match facts.form(head) {
            Form::Var(var) => facts.text(facts.var(var).name),
            Form::Attr(_, sym) => facts.text(sym),
            _ => return Vec::new(),
        };
        if constructor != "Literal" {
            return Vec::new();
        }
        let to_constant = |form: FormId| match facts.form(form) {
            Form::Bool(value) => Some(Constant::Bool(value)),
            Form::Int(value) => Some(Constant::Int(value)),
            Form::Str(sym) => Some(Constant::Str(facts.text(sym).to_owned())),
            Form::None => Some(Constant::Null),
            _ => None,
        };
        match facts.form(index) {
            Form::Display(_, list) => facts.list(list).iter().filter_map(|&form| to_constant(form)).collect(),
            _ => to_constant(index).into_iter().collect(),
        }
    }
}
