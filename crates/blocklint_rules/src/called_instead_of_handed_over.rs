//! BLT403 called-instead-of-handed-over.

use blocklint_core::RuleCode;

use crate::Rule;

/// Handing over what a call gives where the callable was meant.
pub(crate) static CALLED_INSTEAD_OF_HANDED_OVER: Rule = Rule {
    code: RuleCode(403),
    name: "called-instead-of-handed-over",
    summary: "a function is called where it should be handed over",
    page: include_str!("../../../rules/BLT403-called-instead-of-handed-over.md"),
    effect: None,
    noun: "called instead of handed over",
};
