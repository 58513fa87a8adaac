//! BLT402 pool-starvation.

use blocklint_core::RuleCode;

use crate::{Rule, offloads};

/// Reports connections and threads of a pool that are held while other holders wait for one.
pub(crate) static POOL_STARVATION: Rule = Rule {
    code: RuleCode::POOL_STARVATION,
    name: "pool-starvation",
    summary: "a pooled connection is held while other code waits for one",
    page: include_str!("../../../rules/BLT402-pool-starvation.md"),
    effect: None,
    noun: "pool starvation",
    mistake_words: Some(&offloads::WORDS),
};
