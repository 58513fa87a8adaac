//! Mistakes that no blocking call at the end of a path makes: one file or folder for each rule, with its search and its findings. Their
//! words are in `blocklint_rules`.

use crate::raw_finding::RawFinding;

use crate::rules::mistakes::MistakeSearch;

pub(crate) mod called_instead;
pub(crate) mod large_response;
pub(crate) mod late_patch;
pub(crate) mod lock_over_await;
pub(crate) mod made_anew;
pub(crate) mod mistakes;
pub(crate) mod native_hub;
pub(crate) mod own_job;
pub(crate) mod pool_starvation;
pub(crate) mod unbounded_offload;

/// A search for the findings of one rule.
type Mistake = fn(&mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding>;

/// The searches of all rules that need no path to a blocking call.
pub(crate) const MISTAKES: &[Mistake] = &[
    called_instead::findings,
    late_patch::findings,
    large_response::findings,
    lock_over_await::findings,
    made_anew::findings,
    pool_starvation::findings,
    unbounded_offload::findings,
    unbounded_offload::elsewhere::findings,
];
