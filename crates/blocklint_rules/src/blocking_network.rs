//! BLT102 blocking-network.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// A request whose answer the whole thread waits for.
pub(crate) static BLOCKING_NETWORK: Rule = Rule {
    code: RuleCode::BLOCKING_NETWORK,
    name: "blocking-network",
    summary: "a network request is awaited by a thread that must not block",
    page: include_str!("../../../rules/BLT102-blocking-network.md"),
    effect: Some(Effect::Network),
    noun: "blocking network call",
    words: None,
};
