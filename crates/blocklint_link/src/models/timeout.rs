//! How long a call waits at most, by its arguments: a number in the row's unit or the one beside it, a duration.

use blocklint_core::Language;
use blocklint_facts::{Form, FormId};
use blocklint_models::{Argument, Unit};

use crate::effect::constant::Constant;
use crate::lang::java::time_unit::TimeUnit;
use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::values::value::EnvId;

/// The time for which a call waits, by an argument.
pub(crate) enum Timeout {
    /// Not at all.
    Zero,
    /// So many seconds.
    Seconds(f64),
    /// For as long as it takes.
    Unbounded,
    /// There is a bound, and it is not seen.
    Hidden,
    /// The n-th parameter, in units of so many seconds.
    Param(u32, f64),
}

impl Linker<'_> {
    /// Returns how long a call waits by this argument; the row's numbers are in `unit`.
    pub(crate) fn timeout(&self, site: SiteRef, argument: &Argument, unit: Option<Unit>, env: EnvId) -> Timeout {
        let Some(form) = self.argument(site, argument) else {
            return if self.may_be_unpacked(site, argument) { Timeout::Hidden } else { Timeout::Unbounded };
        };
        let unit = match self.time_unit_of_number(site, form, env) {
            TimeUnit::None => unit_seconds(unit, self.program.language(site.file)),
            TimeUnit::Seconds(seconds) => seconds,
            TimeUnit::Hidden => return Timeout::Hidden,
        };
        match self.constant(site, form, env, 6) {
            Constant::Null => Timeout::Unbounded,
            Constant::Param(index) => Timeout::Param(index, unit),
            constant => match constant.number().or_else(|| self.duration(site, form)) {
                Some(number) if number <= 0.0 => Timeout::Zero,
                Some(number) => {
                    let is_duration = constant.number().is_none();
                    Timeout::Seconds(if is_duration { number } else { number * unit })
                }
                None => Timeout::Hidden,
            },
        }
    }

    /// Returns seconds of `Duration::from_secs(5)` and the like.
    fn duration(&self, site: SiteRef, form: FormId) -> Option<f64> {
        let facts = self.program.facts(site.file);
        let Form::Result(made) = facts.form(form) else { return None };
        let row = facts.site(made);
        let unit = crate::lang::words_of(facts.language).duration_unit(facts.text(row.name))?;
        let [arg] = facts.args_of(made)[..] else { return None };
        match facts.form(arg.value) {
            Form::Int(value) => Some(value as f64 * unit),
            Form::Float(value) => Some(value * unit),
            _ => None,
        }
    }
}

/// Returns seconds of a row's unit; a language has one for rows that name none.
pub(crate) fn unit_seconds(unit: Option<Unit>, language: Language) -> f64 {
    unit.map_or(if language == Language::Java { 1e-3 } else { 1.0 }, Unit::seconds)
}
