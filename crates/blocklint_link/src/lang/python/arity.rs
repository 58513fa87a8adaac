//! Python: calls that raise `TypeError` before their target runs, because its parameters do not take their arguments.

use blocklint_core::Language;
use blocklint_facts::{BodyKind, Form, ParamKind};

use crate::linker::Linker;
use crate::program::ids::{BodyRef, SiteRef};
use crate::values::value::Val;

impl Linker<'_> {
    /// True if a call can pass its arguments to a callee: it leaves out none that is needed, and passes none that the callee does not
    /// know.
    pub(crate) fn can_take_arguments(&self, callee: Val, site: SiteRef) -> bool {
        let Val::Fn { body, receiver, .. } = callee else { return true };
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        // A decorator may put another function in its place, and an override may take what the base does not.
        let is_open = facts.language != Language::Python
            || row.kind != BodyKind::Function
            || !facts.list(row.decorators).is_empty()
            || facts.text(row.name).starts_with("__")
            || self.has_override(receiver.is_some().then(|| self.values.single(receiver)), body);
        is_open || self.fits_parameters(body, site, self.has_implicit_receiver(body, receiver))
    }

    /// True if an object on which a method is called may be of a class that overrides the method.
    fn has_override(&self, receiver: Option<Val>, method: BodyRef) -> bool {
        let name = self.program.global(method.file, self.program.body(method).name);
        match (receiver, name) {
            (Some(Val::Instance { class, exact: false, .. }), Some(name)) => !self.overrides(class, name).is_empty(),
            _ => false,
        }
    }

    fn fits_parameters(&self, body: BodyRef, site: SiteRef, with_receiver: bool) -> bool {
        let (facts, here) = (self.program.facts(body.file), self.program.facts(site.file));
        let args = self.program.args_of(site);
        if args.iter().any(|arg| matches!(here.form(arg.value), Form::Star(_) | Form::StarStar(_))) {
            return true;
        }
        let params = self.program.params_of(body);
        let has = |kind: ParamKind| params.iter().any(|param| param.kind == kind);
        let by_position = args.iter().filter(|arg| arg.name.is_none()).count() + usize::from(with_receiver);
        let is_named = |name: &str| args.iter().any(|arg| arg.name.is_some() && here.text(arg.name) == name);
        let mut positional = 0;
        for param in params {
            let name = if param.name.is_some() { facts.text(param.name) } else { "" };
            let is_filled = match param.kind {
                ParamKind::VarArgs | ParamKind::KwArgs | ParamKind::Receiver => continue,
                ParamKind::KeywordOnly => is_named(name),
                ParamKind::Normal | ParamKind::PositionalOnly => {
                    positional += 1;
                    positional <= by_position || param.kind == ParamKind::Normal && is_named(name)
                }
            };
            if !is_filled && param.default.is_none() {
                return false;
            }
        }
        if by_position > positional && !has(ParamKind::VarArgs) {
            return false;
        }
        let knows = |name: &str| {
            params.iter().any(|param| {
                matches!(param.kind, ParamKind::Normal | ParamKind::KeywordOnly)
                    && param.name.is_some()
                    && facts.text(param.name) == name
            })
        };
        has(ParamKind::KwArgs) || args.iter().all(|arg| arg.name.is_none() || knows(here.text(arg.name)))
    }
}
