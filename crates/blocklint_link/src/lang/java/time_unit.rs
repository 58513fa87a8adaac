//! Java: the unit of a number that stands beside it, `get(3, SECONDS)`, or on which the call is made, `SECONDS.sleep(1)`.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::FormId;

use crate::linker::{Linker, Typed};
use crate::program::ids::{PathId, SiteRef};
use crate::values::value::{EnvId, Val};

/// The unit of time beside a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum UnitBeside {
    /// Nothing.
    None,
    /// So many seconds.
    Seconds(f64),
    /// There is one, and it is not seen.
    Hidden,
}

impl Linker<'_> {
    /// Returns the unit that a call has for a number among its arguments.
    pub(crate) fn unit_beside(&self, site: SiteRef, number: FormId, env: EnvId) -> UnitBeside {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Java {
            return UnitBeside::None;
        }
        let args = self.program.args_of(site);
        let at = args.iter().position(|arg| arg.value == number);
        let beside = at.and_then(|at| args.get(at + 1)).map(|arg| arg.value);
        let scope = self.scope_of(site, env);
        let said = |form: FormId| self.unit_of(self.eval(scope, form));
        match beside.map_or(UnitBeside::None, said) {
            UnitBeside::None => self.receiver_form(site).map_or(UnitBeside::None, said),
            found => found,
        }
    }

    fn unit_of(&self, typed: Typed) -> UnitBeside {
        let mut found = UnitBeside::None;
        for val in self.values.members(typed.value) {
            let unit = match val {
                Val::External(path) => match lang::java::names::time_unit(&self.library.text(path)) {
                    Some(seconds) => UnitBeside::Seconds(seconds),
                    None => return UnitBeside::None,
                },
                Val::Library { ty, .. } if lang::java::names::is_time_unit(&self.library.text(ty)) => {
                    UnitBeside::Hidden
                }
                _ => return UnitBeside::None,
            };
            found = if found == UnitBeside::None || found == unit { unit } else { UnitBeside::Hidden };
        }
        found
    }

    /// Returns a method of a constant that is of the type which has it: `TimeUnit.SECONDS.sleep`.
    pub(crate) fn method_of_constant(&self, constant: PathId, method: &str) -> Option<Typed> {
        if self.library.language(constant) != Language::Java {
            return None;
        }
        let (ty, name) = self.library.split(constant)?;
        let is_constant = name.chars().all(|char| char.is_ascii_uppercase() || char == '_' || char.is_ascii_digit());
        let path = self.library.member(ty, method);
        let own = self.library.member(constant, method);
        (is_constant && self.library.calls(own).is_empty() && !self.library.calls(path).is_empty())
            .then(|| self.known(Val::Method { path, receiver: self.values.bound(Val::External(constant)) }))
    }
}
