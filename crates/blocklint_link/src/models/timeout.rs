//! Timeouts of calls by their arguments: a number in the unit of the row or of another argument, or a duration.

use blocklint_core::Language;
use blocklint_facts::{Form, FormId};
use blocklint_models::{Argument, Unit};

use crate::effect::constant::Constant;
use crate::lang::java::time_unit::TimeUnit;
use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::values::value::EnvId;

/// How many variables and fields are followed to the constant of a timeout.
const MAX_CONSTANT_DEPTH: u32 = 6;

/// The longest time for which a call waits.
pub(crate) enum Timeout {
    /// The call does not wait.
    Zero,
    /// The call waits for this number of seconds.
    Seconds(f64),
    /// The call has no timeout.
    Unbounded,
    /// The call has a timeout whose value is unknown.
    Hidden,
    /// The timeout is the n-th parameter, in a unit of this number of seconds.
    Param(u32, f64),
}

impl Linker<'_> {
    /// Returns the timeout of a call by an argument; `unit` is the unit of the row.
    pub(crate) fn timeout(&self, site: SiteRef, argument: &Argument, unit: Option<Unit>, env: EnvId) -> Timeout {
        let Some(form) = self.argument(site, argument) else {
            return if self.may_be_unpacked(site, argument) { Timeout::Hidden } else { Timeout::Unbounded };
        };
        let unit = match self.time_unit_of_number(site, form, env) {
            TimeUnit::None => unit_seconds(unit, self.program.language(site.file)),
            TimeUnit::Seconds(seconds) => seconds,
            TimeUnit::Hidden => return Timeout::Hidden,
        };
        match self.constant(site, form, env, MAX_CONSTANT_DEPTH) {
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

    /// Returns the seconds of a duration: `Duration::from_secs(5)`.
    fn duration(&self, site: SiteRef, form: FormId) -> Option<f64> {
        let facts = self.program.facts(site.file);
        let Form::Result(call) = facts.form(form) else { return None };
        let site_facts = facts.site(call);
        let unit = crate::lang::words_of(facts.language).duration_unit(facts.text(site_facts.name))?;
        let [arg] = facts.args_of(call)[..] else { return None };
        match facts.form(arg.value) {
            Form::Int(value) => Some(value as f64 * unit),
            Form::Float(value) => Some(value * unit),
            _ => None,
        }
    }
}

/// Returns the seconds of a row's unit. Rows without a unit have the default of their language.
pub(crate) fn unit_seconds(unit: Option<Unit>, language: Language) -> f64 {
    unit.map_or(if language == Language::Java { 1e-3 } else { 1.0 }, Unit::seconds)
}
