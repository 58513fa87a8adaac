//! BLT501 per-instance-scheduler.

use blocklint_core::RuleCode;

use crate::Rule;

/// Making a scheduler's threads for each instance or request.
pub(crate) static PER_INSTANCE_SCHEDULER: Rule = Rule {
    code: RuleCode(501),
    name: "per-instance-scheduler",
    summary: "threads are made for each instance or request",
    page: include_str!("../../../rules/BLT501-per-instance-scheduler.md"),
    effect: None,
    noun: "scheduler per instance",
};
