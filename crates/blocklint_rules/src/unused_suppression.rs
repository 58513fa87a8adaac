//! BLT901 unused-suppression.

use blocklint_core::RuleCode;

use crate::Rule;

/// A comment, or a part of it, that silences nothing.
pub static UNUSED_SUPPRESSION: Rule = Rule {
    code: RuleCode::UNUSED_SUPPRESSION,
    name: "unused-suppression",
    summary: "a comment silences nothing",
    page: include_str!("../../../rules/BLT901-unused-suppression.md"),
    effect: None,
    noun: "unused suppression",
    words: None,
};
