//! Java: the time unit of a number: the next argument, `get(3, SECONDS)`, or the receiver, `SECONDS.sleep(1)`.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::FormId;

use crate::linker::{Linker, Typed};
use crate::program::ids::{PathId, SiteRef};
use crate::values::value::{EnvId, Val};

/// The unit that a call has for one of its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TimeUnit {
    /// The call has no unit.
    None,
    /// The seconds of the unit.
    Seconds(f64),
    /// The call has a unit of unknown value.
    Hidden,
}

impl Linker<'_> {
    /// Returns the unit of a number among the arguments of a call.
    pub(crate) fn time_unit_of_number(&self, site: SiteRef, number: FormId, env: EnvId) -> TimeUnit {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Java {
            return TimeUnit::None;
        }
        let args = self.program.args_of(site);
        let index = args.iter().position(|arg| arg.value == number);
        let next = index.and_then(|index| args.get(index + 1)).map(|arg| arg.value);
        let scope = self.scope_of(site, env);
        let unit = |form: FormId| self.unit_of_value(self.eval(scope, form));
        match next.map_or(TimeUnit::None, unit) {
            TimeUnit::None => self.receiver_form(site).map_or(TimeUnit::None, unit),
            found => found,
        }
    }

    fn unit_of_value(&self, typed: Typed) -> TimeUnit {
        let mut common = TimeUnit::None;
        for val in self.values.members(typed.value) {
            let unit = match val {
                Val::External(path) => match lang::java::names::time_unit(&self.library.text(path)) {
                    Some(seconds) => TimeUnit::Seconds(seconds),
                    None => return TimeUnit::None,
                },
                Val::Library { ty, .. } if lang::java::names::is_time_unit(&self.library.text(ty)) => TimeUnit::Hidden,
                _ => return TimeUnit::None,
            };
            common = if common == TimeUnit::None || common == unit { unit } else { TimeUnit::Hidden };
        }
        common
    }

    /// Returns a method of a constant of an enum, by the row of the enum's method: `TimeUnit.SECONDS.sleep`.
    pub(crate) fn method_of_constant(&self, constant: PathId, method: &str) -> Option<Typed> {
        if self.library.language(constant) != Language::Java {
            return None;
        }
        let (ty, name) = self.library.split(constant)?;
        let is_constant = name.chars().all(|char| char.is_ascii_uppercase() || char == '_' || char.is_ascii_digit());
        let path = self.library.member(ty, method);
        let constant_member = self.library.member(constant, method);
        (is_constant && self.library.calls(constant_member).is_empty() && !self.library.calls(path).is_empty())
            .then(|| self.known(Val::Method { path, receiver: self.values.bound(Val::External(constant)) }))
    }
}
