//! Python's `@overload`: where literals among the parameters' types show which variant a call means.

use blocklint_core::Language;
use blocklint_facts::{BodyFlags, BodyId, BodyKind, Form, FormId};

use crate::effect::constant::Constant;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, SiteRef};
use crate::values::value::{EnvId, Val};

impl<'a> Linker<'a> {
    /// Returns the result of the variant of a function that a call's literals pick; `None` if they pick none.
    pub(crate) fn overloaded(
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
            .map(|at| BodyId(at as u32))
            .filter(|&id| {
                let row = facts.body(id);
                row.var == var && row.kind == BodyKind::Function && row.flags.has(BodyFlags::STUB)
            })
            .filter(|&id| facts.list(facts.body(id).decorators).iter().any(|&form| self.is_overload(body, form)))
            .map(|id| body.file.body_ref(id))
            .collect();
        let tells = variants.iter().any(|variant| {
            self.program.params_of(*variant).iter().any(|param| !self.literals(body, param.annotation).is_empty())
        });
        if !tells {
            return None;
        }
        for variant in variants {
            match self.fits(variant, site, env, with_receiver) {
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

    /// True if a call's arguments are those of a variant, as far as literals and required parameters show; `None` if a
    /// decisive argument is unknown.
    fn fits(&self, variant: BodyRef, site: SiteRef, env: EnvId, with_receiver: bool) -> Option<bool> {
        let facts = self.program.facts(variant.file);
        let params = self.program.params_of(variant);
        for (index, param) in params.iter().enumerate().skip(usize::from(with_receiver)) {
            let given = self.argument_for_param(site, variant, index as u32, with_receiver);
            let wanted = self.literals(variant, param.annotation);
            if wanted.is_empty() {
                continue;
            }
            let constant = match given {
                Some(form) => self.constant(site, form, env, 4),
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
                constant if wanted.contains(&constant) => {}
                _ => return Some(false),
            }
        }
        Some(true)
    }

    /// Returns the literals of `Literal[…]`.
    fn literals(&self, body: BodyRef, annotation: FormId) -> Vec<Constant> {
        let facts = self.program.facts(body.file);
        if annotation.is_none() {
            return Vec::new();
        }
        let Form::Subscript(head, index) = facts.form(annotation) else { return Vec::new() };
        let named = match facts.form(head) {
            Form::Var(var) => facts.text(facts.var(var).name),
            Form::Attr(_, sym) => facts.text(sym),
            _ => return Vec::new(),
        };
        if named != "Literal" {
            return Vec::new();
        }
        let one = |form: FormId| match facts.form(form) {
            Form::Bool(value) => Some(Constant::Bool(value)),
            Form::Int(value) => Some(Constant::Int(value)),
            Form::Str(sym) => Some(Constant::Str(facts.text(sym).to_owned())),
            Form::None => Some(Constant::Null),
            _ => None,
        };
        match facts.form(index) {
            Form::Display(_, list) => facts.list(list).iter().filter_map(|&form| one(form)).collect(),
            _ => one(index).into_iter().collect(),
        }
    }
}
