//! Rust: functions that are handed on by their path, `map(Store::from)` and `map(Into::into)`: which of several impl
//! blocks they mean, by the arguments that the call passes and by the use of its result.

use blocklint_core::Language;
use blocklint_facts::{Form, SiteKind};

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, Name, SiteRef};
use crate::values::value::{BoundId, EnvId, Val, ValueId};

/// The traits of the prelude with a conversion into the type that is expected, its name, and the code that it runs.
const CONVERSIONS: [(&str, &str, &str); 2] = [("Into", "into", "from"), ("TryInto", "try_into", "try_from")];

/// Calls in a chain after the one that is handed a conversion: `.collect::<Result<Vec<_>, _>>()`, `.unwrap()`.
const LONGEST_CHAIN: usize = 4;

impl Linker<'_> {
    /// Returns an argument as a callable: its value, and of a function in several impl blocks the ones for the given
    /// type.
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
        let Some(given) = self.value_passed_by_row(site, arg, 0) else { return typed };
        let given = [self.as_value(given).value];
        let is_meant = |of: &&(&str, &str, &str)| last(base) == Some(of.0) && facts.text(name) == of.1;
        if let Some((_, _, runs)) = CONVERSIONS.iter().find(is_meant) {
            return self.converted_to(site, runs, &given).unwrap_or(typed);
        }
        self.of_impls_for(typed, &given)
    }

    /// Returns the conversions that a call runs by the type that is expected of its result.
    fn converted_to(&self, site: SiteRef, runs: &str, given: &[ValueId]) -> Option<Typed> {
        let runs = self.program.name(runs)?;
        let mut at = site;
        for _ in 0..LONGEST_CHAIN {
            let found = self.conversions_to(self.expected_classes(self.scope_of(at, EnvId::NONE), at), runs, given);
            if found.is_some() {
                return found;
            }
            at = self.called_on(at)?;
        }
        None
    }

    /// Returns the call on the result of a call.
    fn called_on(&self, site: SiteRef) -> Option<SiteRef> {
        let (facts, site_id) = self.program.facts_and_id(site);
        let body = self.program.body_of_site(site);
        let is_on = |of: &SiteRef| {
            let row = self.program.site(*of);
            let callee = match facts.form(row.callee) {
                Form::Subscript(method, _) => facts.form(method),
                callee => callee,
            };
            let Form::Attr(base, _) = callee else { return false };
            row.kind == SiteKind::Call && facts.form(base) == Form::Result(site_id)
        };
        self.program.sites_in(body).find(is_on)
    }

    fn conversions_to(&self, classes: Vec<ClassRef>, runs: Name, given: &[ValueId]) -> Option<Typed> {
        let bodies = self.conversions_of(classes, runs, given);
        let found: Vec<Val> =
            bodies.into_iter().map(|body| Val::Fn { body, receiver: BoundId::NONE, env: EnvId::NONE }).collect();
        let first = *found.first()?;
        Some(Typed { value: self.values.union(&found), ..self.known(first) })
    }
}
