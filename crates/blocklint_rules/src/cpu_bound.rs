//! BLT108 cpu-bound.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// Reports long calculations, during which the thread runs no other task.
pub(crate) static CPU_BOUND: Rule = Rule {
    code: RuleCode::CPU_BOUND,
    name: "cpu-bound",
    summary: "a long computation runs on a thread that must not block",
    page: include_str!("../../../rules/BLT108-cpu-bound.md"),
    effect: Some(Effect::Cpu),
    noun: "CPU-bound call",
    mistake_words: None,
};
