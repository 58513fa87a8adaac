//! BLT901 unused-suppression.

use blocklint_core::RuleCode;

use crate::Rule;

/// Reports suppression comments, and rules in them, that suppress no finding.
pub static UNUSED_SUPPRESSION: Rule = Rule {
    code: RuleCode::UNUSED_SUPPRESSION,
    name: "unused-suppression",
    summary: "a comment suppresses nothing",
    page: include_str!("../../../rules/BLT901-unused-suppression.md"),
    effect: None,
    noun: "unused suppression",
    mistake_words: None,
};
