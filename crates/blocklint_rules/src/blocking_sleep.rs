//! BLT101 blocking-sleep.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// Reports sleeps that stop every task of the thread instead of one.
pub(crate) static BLOCKING_SLEEP: Rule = Rule {
    code: RuleCode::BLOCKING_SLEEP,
    name: "blocking-sleep",
    summary: "a sleep holds a thread that must not block",
    page: include_str!("../../../rules/BLT101-blocking-sleep.md"),
    effect: Some(Effect::Sleep),
    noun: "blocking sleep",
    mistake_words: None,
};
