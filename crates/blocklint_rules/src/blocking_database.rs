//! BLT103 blocking-database.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// Reports queries, commits and connections for which the whole thread waits.
pub(crate) static BLOCKING_DATABASE: Rule = Rule {
    code: RuleCode::BLOCKING_DATABASE,
    name: "blocking-database",
    summary: "a database call holds a thread that must not block",
    page: include_str!("../../../rules/BLT103-blocking-database.md"),
    effect: Some(Effect::Database),
    noun: "blocking database call",
    mistake_words: None,
};
