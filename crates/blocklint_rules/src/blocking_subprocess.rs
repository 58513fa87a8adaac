//! BLT105 blocking-subprocess.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// Reports processes that are started, or run to their end.
pub(crate) static BLOCKING_SUBPROCESS: Rule = Rule {
    code: RuleCode::BLOCKING_SUBPROCESS,
    name: "blocking-subprocess",
    summary: "a thread that must not block waits for a process",
    page: include_str!("../../../rules/BLT105-blocking-subprocess.md"),
    effect: Some(Effect::Subprocess),
    noun: "blocking subprocess call",
    mistake_words: None,
};
