//! BLT106 blocking-wait.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// Reports waits for another thread: a lock, a queue, a future.
pub(crate) static BLOCKING_WAIT: Rule = Rule {
    code: RuleCode::BLOCKING_WAIT,
    name: "blocking-wait",
    summary: "a thread that must not block waits for a lock, a queue, a thread or a future",
    page: include_str!("../../../rules/BLT106-blocking-wait.md"),
    effect: Some(Effect::Wait),
    noun: "blocking wait",
    mistake_words: None,
};
