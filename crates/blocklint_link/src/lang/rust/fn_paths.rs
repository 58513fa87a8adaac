//! Rust: functions that are passed by their path: `map(Store::from)`, `map(Into::into)`. The arguments that the callee
//! passes and the use of the result select one of several impl blocks.

use blocklint_core::Language;
use blocklint_facts::{Form, SiteKind};

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, Name, SiteRef};
use crate::values::value::{BoundId, EnvId, Val, ValueId};

/// Conversion traits of the prelude: the trait, its method, and the method of the target type that it runs.
const CONVERSIONS: [(&str, &str, &str); 2] = [("Into", "into", "from"), ("TryInto", "try_into", "try_from")];

/// The number of calls of a chain, after the call that takes a conversion, that are searched for the expected type:
/// `.collect::<Result<Vec<_>, _>>()`, `.unwrap()`.
const LONGEST_CHAIN: usize = 4;

impl Linker<'_> {
    /// Returns an argument as a callable. If several impl blocks have the function, the result has only those for the
    /// type that the callee passes.
    pub fn argument_callable(&self, site: SiteRef, arg: u32, env: EnvId) -> Typed {
        let facts = self.program.facts(site.file);
        let form = self.program.args_of(site)[arg as usize].value;
        let typed = self.eval(self.scope_of(site, env), form);
        let Form::Path(base, name) = facts.form(form) else { return typed };
        if facts.language != Language::Rust {
            return typed;
        }
        let last = |form| match facts.form(form) {
            Form::Name(sym) | Form::Path(_, sym) => Some(facts.text(sym)),
            _ => None,
        };
        let Some(passed) = self.value_passed_by_row(site, arg, 0) else { return typed };
        let passed = [self.as_value(passed).value];
        let is_meant =
            |&&(of_trait, method, _): &&(&str, &str, &str)| last(base) == Some(of_trait) && facts.text(name) == method;
        if let Some((_, _, runs)) = CONVERSIONS.iter().find(is_meant) {
            return self.conversions_by_use(site, runs, &passed).unwrap_or(typed);
        }
        self.with_fitting_impls(typed, &passed)
    }

    /// Returns the conversions that a call runs, by the type that is expected of its result.
    fn conversions_by_use(&self, site: SiteRef, runs: &str, arguments: &[ValueId]) -> Option<Typed> {
        let runs = self.program.name(runs)?;
        let mut call = site;
        for _ in 0..LONGEST_CHAIN {
            let conversions =
                self.conversions_to(self.expected_classes(self.scope_of(call, EnvId::NONE), call), runs, arguments);
            if conversions.is_some() {
                return conversions;
            }
            call = self.call_on_result(call)?;
        }
        None
    }

    /// Returns the method call whose receiver is the result of a call.
    fn call_on_result(&self, site: SiteRef) -> Option<SiteRef> {
        let (facts, site_id) = self.program.facts_and_id(site);
        let body = self.program.body_of_site(site);
        let is_on_result = |other: &SiteRef| {
            let site_facts = self.program.site(*other);
            let callee = match facts.form(site_facts.callee) {
                Form::Subscript(method, _) => facts.form(method),
                callee => callee,
            };
            let Form::Attr(base, _) = callee else { return false };
            site_facts.kind == SiteKind::Call && facts.form(base) == Form::Result(site_id)
        };
        self.program.sites_in(body).find(is_on_result)
    }

    fn conversions_to(&self, classes: Vec<ClassRef>, runs: Name, arguments: &[ValueId]) -> Option<Typed> {
        let bodies = self.conversions_of(classes, runs, arguments);
        let callables: Vec<Val> =
            bodies.into_iter().map(|body| Val::Fn { body, receiver: BoundId::NONE, env: EnvId::NONE }).collect();
        let first_callable = *callables.first()?;
        Some(Typed { value: self.values.union(&callables), ..self.known(first_callable) })
    }
}
