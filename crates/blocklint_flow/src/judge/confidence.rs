//! Confidence: the inferred steps of a path, as one word, and the steps that a path as a whole adds. `candidate.rs` adds them
//! up for a finding.

use blocklint_core::Confidence;
use blocklint_link::linker::LOW_STEPS;

use crate::graph::best_path::Cost;

/// The number of hops beyond which a reader of the trace does not believe each branch on it (Python).
const FAR: u32 = 12;

/// Returns the word for this many inferred steps.
pub fn confidence_of(steps: u32) -> Confidence {
    match steps {
        0 => Confidence::High,
        1 | 2 => Confidence::Medium,
        _ => Confidence::Low,
    }
}

/// Returns one step if two doubts of a path are of one kind: two choices among objects, or two branches that are one of many.
pub(crate) fn two_of_one_kind(cost: &Cost) -> u32 {
    u32::from(cost.chosen >= 2 || cost.guessed >= 2)
}

/// Returns the steps of a long path in Python, because readers of its trace rarely believe the end.
pub(crate) fn long_in_python(cost: &Cost) -> u32 {
    if cost.hops > FAR { u32::from(LOW_STEPS) } else { 0 }
}

/// Returns the steps of a long path in Rust. On most of its hops one implementation was taken for all there may be, and each branch for
/// taken; beyond a dozen hops a reader of the trace does not believe that any more.
pub(crate) fn long_in_rust(cost: &Cost) -> u32 {
    match cost.hops {
        0..=8 => 0,
        9..=12 => 1,
        _ => 3,
    }
}

/// Returns the steps of a long path in Java, which doubts come sooner than in Rust, because methods are short and have many
/// implementations. Calls of an object on itself ask for half the belief: small methods of one class make nothing less likely.
pub(crate) fn long_in_java(cost: &Cost) -> u32 {
    match cost.hops - cost.statically_bound_hops.min(cost.hops) / 2 {
        0..=6 => 0,
        7..=8 => 1,
        _ => 3,
    }
}
