//! BLT103 blocking-database.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// A query, a commit or a connection that the whole thread waits for.
pub(crate) static BLOCKING_DATABASE: Rule = Rule {
    code: RuleCode::BLOCKING_DATABASE,
    name: "blocking-database",
    summary: "a database call holds a thread that must not block",
    page: include_str!("../../../rules/BLT103-blocking-database.md"),
    effect: Some(Effect::Database),
    noun: "blocking database call",
    words: None,
};
