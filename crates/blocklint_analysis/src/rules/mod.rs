//! Rules about mistakes other than a blocking call on a path from a root: one file or folder for each rule, with its
//! search. `blocklint_rules` words the findings.

use crate::raw_finding::RawFinding;

use crate::rules::mistakes::MistakeSearch;

pub(crate) mod called_instead_of_handed_over;
pub(crate) mod created_repeatedly;
pub(crate) mod job_waits_for_own_pool;
pub(crate) mod large_response_on_loop;
pub(crate) mod late_monkey_patch;
pub(crate) mod lock_held_across_await;
pub(crate) mod mistakes;
pub(crate) mod native_call_blocks_hub;
pub(crate) mod pool_starvation;
pub(crate) mod unbounded_offload;

/// A function that returns the findings of one rule.
type FindMistakes = fn(&mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding>;

/// The searches of all these rules.
pub(crate) const MISTAKES: &[FindMistakes] = &[
    called_instead_of_handed_over::findings,
    late_monkey_patch::findings,
    large_response_on_loop::findings,
    lock_held_across_await::findings,
    created_repeatedly::findings,
    pool_starvation::findings,
    unbounded_offload::findings,
    unbounded_offload::elsewhere::findings,
];
