//! BLT903 invalid-suppression.

use blocklint_core::RuleCode;

use crate::Rule;

/// A comment that is meant to silence something and cannot be read.
pub static INVALID_SUPPRESSION: Rule = Rule {
    code: RuleCode::INVALID_SUPPRESSION,
    name: "invalid-suppression",
    summary: "a comment names no rule or cannot be read, and silences nothing",
    page: include_str!("../../../rules/BLT903-invalid-suppression.md"),
    effect: None,
    noun: "invalid suppression",
    words: None,
};
