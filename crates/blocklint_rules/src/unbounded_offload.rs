//! BLT401 unbounded-offload.

use blocklint_core::RuleCode;

use crate::{Rule, offloads};

/// Reports work that is passed to threads without a bound: as many jobs as there are items or requests.
pub(crate) static UNBOUNDED_OFFLOAD: Rule = Rule {
    code: RuleCode::UNBOUNDED_OFFLOAD,
    name: "unbounded-offload",
    summary: "work is passed to threads without a limit",
    page: include_str!("../../../rules/BLT401-unbounded-offload.md"),
    effect: None,
    noun: "unbounded offload",
    mistake_words: Some(&offloads::WORDS),
};
