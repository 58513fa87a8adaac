//! BLT502 pool-per-call.

use blocklint_core::RuleCode;

use crate::{Rule, created_repeatedly};

/// Reports clients and pools that are created for each request or item.
pub(crate) static POOL_PER_CALL: Rule = Rule {
    code: RuleCode::POOL_PER_CALL,
    name: "pool-per-call",
    summary: "a client or connection pool is created for each request or item",
    page: include_str!("../../../rules/BLT502-pool-per-call.md"),
    effect: None,
    noun: "pool per call",
    mistake_words: Some(&created_repeatedly::WORDS),
};
