//! Confidence: the word for a number of inferred steps, and the signals that add steps for the cost of a path.
//! `candidate.rs` adds the steps of a finding.

use blocklint_core::Confidence;
use blocklint_link::linker::LOW_STEPS;

use crate::graph::best_path::Cost;

/// Paths with more hops are long (Python).
const FAR: u32 = 12;

/// Returns the confidence for a number of inferred steps.
pub fn confidence_of(steps: u32) -> Confidence {
    match steps {
        0 => Confidence::High,
        1 | 2 => Confidence::Medium,
        _ => Confidence::Low,
    }
}

/// Returns one step if a path has two doubts of one kind: two choices among receivers, or two branches that are one of
/// many.
pub(crate) fn steps_of_two_similar_doubts(cost: &Cost) -> u32 {
    u32::from(cost.chosen >= 2 || cost.guessed >= 2)
}

/// Returns the steps that the length of a path adds in Python. Reviewers rarely believed long traces.
pub(crate) fn steps_of_length_in_python(cost: &Cost) -> u32 {
    if cost.hops > FAR { u32::from(LOW_STEPS) } else { 0 }
}

/// Returns the steps that the length of a path adds in Rust. Each hop assumes that its branch is taken and that the
/// found implementation runs, so the path gets less certain with each hop.
pub(crate) fn steps_of_length_in_rust(cost: &Cost) -> u32 {
    match cost.hops {
        0..=8 => 0,
        9..=12 => 1,
        _ => 3,
    }
}

/// Returns the steps that the length of a path adds in Java. The limits are lower than in Rust, because methods have
/// many implementations. Statically bound hops count half, because a call of an object on itself has no choice of
/// implementations.
pub(crate) fn steps_of_length_in_java(cost: &Cost) -> u32 {
    match cost.hops - cost.statically_bound_hops.min(cost.hops) / 2 {
        0..=6 => 0,
        7..=8 => 1,
        _ => 3,
    }
}
