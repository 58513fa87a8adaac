//! BLT601 lock-held-across-await.

use blocklint_core::RuleCode;

use crate::Rule;

/// Holding a thread's lock while the task is suspended.
pub(crate) static LOCK_HELD_ACROSS_AWAIT: Rule = Rule {
    code: RuleCode(601),
    name: "lock-held-across-await",
    summary: "a thread's lock is held over an await",
    page: include_str!("../../../rules/BLT601-lock-held-across-await.md"),
    effect: None,
    noun: "lock held across await",
};
