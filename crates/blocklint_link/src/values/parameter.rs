//! Values of parameters: declared types, defaults, and the arguments that known callers pass.

use crate::lang;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, VarRef};
use crate::values::value::{EnvId, Val, Why};
use blocklint_facts::{BodyKind, ParamKind, VarKind};

/// The most calls of one function whose arguments are evaluated for a parameter.
const MAX_CALL_SITES: u32 = 48;

impl<'a> Linker<'a> {
    /// Returns the value of a parameter: the receiver's class, else the declared type, else the default, else the
    /// arguments of known callers.
    pub(crate) fn param_value(&self, param_var: VarRef) -> Typed {
        self.query_value(&self.tables.values.params, param_var, || {
            let facts = self.program.facts(param_var.file);
            let var = self.program.var(param_var);
            let VarKind::Param(index) = var.kind else { return self.unknown(Why::Parameter) };
            let body = param_var.file.body_ref(var.body);
            let param = facts.params_of(var.body)[index as usize];
            let scope = self.signature_scope(body);
            match param.kind {
                ParamKind::Receiver => {
                    return match self.class_around(param_var.file.body_ref(var.body)) {
                        Some(class) => lang::rust::names::receiver(self, class),
                        None => self.unknown(Why::Parameter),
                    };
                }
                ParamKind::VarArgs => {
                    let element = if param.annotation.is_some() {
                        self.annotation(scope, param.annotation)
                    } else {
                        self.unknown(Why::Parameter)
                    };
                    let language = self.program.language(param_var.file);
                    let Some(list) = lang::words_of(language).literal_type(lang::words::Literal::List) else {
                        return element;
                    };
                    let ty = self.library.path(language, list);
                    let args = self.values.args(&[element.value]);
                    return self.known(Val::Library { ty, args, made: None });
                }
                ParamKind::KwArgs => return self.unknown(Why::Parameter),
                _ => {}
            }
            let semantics = lang::semantics(facts.language);
            if index == 0
                && let Some(receiver) = semantics.first_param(self, param_var)
            {
                return receiver;
            }
            if param.annotation.is_some() {
                let declared = self.annotation(scope, param.annotation);
                if !self.values.is_unknown(declared.value) {
                    return semantics.refine_param(self, body, index, declared);
                }
            }
            if facts.body(var.body).kind == BodyKind::Lambda
                && let Some(passed) = semantics.lambda_param(self, body, index)
            {
                return passed;
            }
            let mut parts = Vec::new();
            if param.default.is_some() {
                let default = self.eval(scope, param.default);
                let members = self.values.members(default.value);
                if !members.iter().all(|val| matches!(val, Val::None | Val::Unknown(_))) {
                    parts.push(default);
                }
            }
            if parts.is_empty()
                && let Some(passed) = self.values_passed_by_callers(body, index)
            {
                parts.push(passed);
            }
            if parts.is_empty() { self.unknown(Why::Parameter) } else { self.join(&parts) }
        })
    }

    /// Returns the union of the arguments that known calls pass to a parameter; `None` if none of them is known.
    pub(crate) fn values_passed_by_callers(&self, body: BodyRef, index: u32) -> Option<Typed> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let mut parts = Vec::new();
        let mut has_unknown = false;
        let mut checked = 0;
        for site in self.sites_calling(body) {
            checked += 1;
            if checked > MAX_CALL_SITES {
                has_unknown = true;
                break;
            }
            if let Some(form) = self.passed_argument(site, body, index) {
                let typed = self.eval(self.scope_of(site, EnvId::NONE), form);
                if self.values.is_unknown(typed.value) {
                    has_unknown = true;
                } else {
                    parts.push(typed);
                }
            }
        }
        if parts.is_empty() {
            return None;
        }
        let is_private = facts.text(body_facts.name).starts_with('_')
            || body_facts
                .parent
                .get()
                .is_some_and(|parent| !matches!(facts.body(parent).kind, BodyKind::Module | BodyKind::Class));
        let arguments_agree = !has_unknown && parts.windows(2).all(|pair| pair[0].value == pair[1].value);
        let joined = self.join(&parts);
        Some(if is_private && arguments_agree { joined } else { self.inferred(joined) })
    }
}
