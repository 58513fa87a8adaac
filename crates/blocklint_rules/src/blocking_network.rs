//! BLT102 blocking-network.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// Reports network requests for whose response the whole thread waits.
pub(crate) static BLOCKING_NETWORK: Rule = Rule {
    code: RuleCode::BLOCKING_NETWORK,
    name: "blocking-network",
    summary: "a network request is awaited by a thread that must not block",
    page: include_str!("../../../rules/BLT102-blocking-network.md"),
    effect: Some(Effect::Network),
    noun: "blocking network call",
    mistake_words: None,
};
