//! BLT501 per-instance-scheduler.

use blocklint_core::RuleCode;

use crate::{Rule, created_repeatedly};

/// Reports schedulers and executors whose threads are created for each instance or request.
pub(crate) static PER_INSTANCE_SCHEDULER: Rule = Rule {
    code: RuleCode::PER_INSTANCE_SCHEDULER,
    name: "per-instance-scheduler",
    summary: "threads are created for each instance or request",
    page: include_str!("../../../rules/BLT501-per-instance-scheduler.md"),
    effect: None,
    noun: "scheduler per instance",
    mistake_words: Some(&created_repeatedly::WORDS),
};
