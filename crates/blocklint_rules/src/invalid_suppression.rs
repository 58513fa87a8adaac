//! BLT903 invalid-suppression.

use blocklint_core::RuleCode;

use crate::Rule;

/// Reports suppression comments that cannot be parsed or refer to unknown rules.
pub static INVALID_SUPPRESSION: Rule = Rule {
    code: RuleCode::INVALID_SUPPRESSION,
    name: "invalid-suppression",
    summary: "a comment names no rule or cannot be read, so it suppresses nothing",
    page: include_str!("../../../rules/BLT903-invalid-suppression.md"),
    effect: None,
    noun: "invalid suppression",
    mistake_words: None,
};
