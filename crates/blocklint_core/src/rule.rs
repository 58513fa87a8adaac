//! Rule codes (`BLT` and three digits), and the rule that reports an effect. `mistake.rs` has the table of all codes.

use std::fmt;

use crate::{Context, Effect};

/// The code of a rule. `blocklint_rules` has its name, words and page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleCode(pub u16);

/// Returns the rule that reports an effect in a root's context; `None` if no rule reports it. `native` is true if no
/// library makes the call cooperative: one rule reports all native calls on greenlets, whatever their effect.
pub fn rule_of(effect: Effect, native: bool, context: Context) -> Option<RuleCode> {
    match context {
        Context::EventLoop => Some(effect.rule()),
        Context::Greenlet if native => Some(RuleCode::NATIVE_CALL_BLOCKS_HUB),
        Context::Greenlet | Context::Worker | Context::Unknown => None,
    }
}

impl Effect {
    /// Returns the rule that reports this effect on an event loop.
    pub const fn rule(self) -> RuleCode {
        match self {
            Effect::Sleep => RuleCode::BLOCKING_SLEEP,
            Effect::Network => RuleCode::BLOCKING_NETWORK,
            Effect::Database => RuleCode::BLOCKING_DATABASE,
            Effect::File => RuleCode::BLOCKING_FILE,
            Effect::Subprocess => RuleCode::BLOCKING_SUBPROCESS,
            Effect::Wait => RuleCode::BLOCKING_WAIT,
            Effect::NestedLoop => RuleCode::NESTED_EVENT_LOOP,
            Effect::Cpu => RuleCode::CPU_BOUND,
            Effect::Input => RuleCode::BLOCKING_INPUT,
        }
    }
}

impl RuleCode {
    /// Parses `BLT101`, with letters of either case; `None` for other text.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.get(..3).filter(|head| head.eq_ignore_ascii_case("BLT")).and(text.get(3..))?;
        if digits.len() != 3 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        digits.parse().ok().map(RuleCode)
    }
}

impl fmt::Display for RuleCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BLT{:03}", self.0)
    }
}

impl fmt::Debug for RuleCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::RuleCode;

    #[test]
    fn codes_are_parsed_and_junk_is_not() {
        assert_eq!(RuleCode::parse("BLT101"), Some(RuleCode(101)));
        assert_eq!(RuleCode::parse("blt101").map(|c| c.to_string()).as_deref(), Some("BLT101"));
        for junk in ["", "BLT", "BLT1", "BLT+01", "ASY101", "BLT1010", "é"] {
            assert_eq!(RuleCode::parse(junk), None, "{junk}");
        }
    }
}
