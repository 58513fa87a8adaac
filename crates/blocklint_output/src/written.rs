//! The traces and texts that a heading of the format `full` has shown already (`Written`), by hashes of their steps.

use std::hash::{Hash, Hasher};

use blocklint_core::Step;
use rustc_hash::{FxHashSet, FxHasher};

use crate::frames::ShownSteps;

/// The texts and traces that were written under a heading and are not repeated.
#[derive(Default)]
pub(crate) struct Written<'a> {
    /// For each step of the traces that were written, a hash of the steps from there to the end.
    trace_ends: FxHashSet<u64>,
    /// For each step of the traces that were written, a hash of the steps up to it.
    trace_starts: FxHashSet<u64>,
    /// For each trace that was written, a hash of the steps before its last one, and of the function of that.
    paths: FxHashSet<u64>,
    /// Notes and help.
    pub(crate) texts: FxHashSet<&'a str>,
}

impl<'a> Written<'a> {
    /// Adds a trace, and returns the steps that no earlier trace has.
    pub(crate) fn add_trace(&mut self, trace: &'a [Step]) -> ShownSteps {
        let ends = step_hashes(trace.iter().rev());
        // A finding's own place is always shown.
        let last = trace.len();
        let own = (1..last).find(|&index| self.trace_ends.contains(&ends[last - 1 - index])).unwrap_or(last);
        let starts = step_hashes(trace.iter());
        let shared = starts.iter().take_while(|hash| self.trace_starts.contains(hash)).count();
        self.trace_ends.extend(ends);
        self.trace_starts.extend(starts);
        self.paths.extend(path_hash(trace));
        ShownSteps { shared, own }
    }

    /// True if an earlier trace has the same steps up to the function that makes the last call.
    pub(crate) fn has_path_to_last(&self, trace: &[Step]) -> bool {
        path_hash(trace).is_some_and(|hash| self.paths.contains(&hash))
    }
}

/// Returns for each step a hash of the steps up to it.
fn step_hashes<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<u64> {
    let mut hash = 0;
    let hashes = steps.map(|step| {
        let mut hasher = FxHasher::default();
        (hash, &*step.place.path, step.place.span, &step.call).hash(&mut hasher);
        hash = hasher.finish();
        hash
    });
    hashes.collect()
}

/// Returns a hash of the steps before the last one, and of the function of that.
fn path_hash(trace: &[Step]) -> Option<u64> {
    let (last, before) = trace.split_last()?;
    let mut hasher = FxHasher::default();
    (step_hashes(before.iter()).last(), &*last.place.path, &last.function).hash(&mut hasher);
    Some(hasher.finish())
}
