//! BLT904 unexplained-suppression.

use blocklint_core::RuleCode;

use crate::Rule;

/// Reports suppression comments without the reason that `require-reason` demands.
pub static UNEXPLAINED_SUPPRESSION: Rule = Rule {
    code: RuleCode::UNEXPLAINED_SUPPRESSION,
    name: "unexplained-suppression",
    summary: "a comment has no reason, but the configuration requires one",
    page: include_str!("../../../rules/BLT904-unexplained-suppression.md"),
    effect: None,
    noun: "unexplained suppression",
    mistake_words: None,
};
