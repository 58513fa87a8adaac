//! BLT109 blocking-input.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// Reports waits for a person's input.
pub(crate) static BLOCKING_INPUT: Rule = Rule {
    code: RuleCode::BLOCKING_INPUT,
    name: "blocking-input",
    summary: "a thread that must not block waits for a person to type",
    page: include_str!("../../../rules/BLT109-blocking-input.md"),
    effect: Some(Effect::Input),
    noun: "blocking input",
    mistake_words: None,
};
