//! Progress reports of a run, for progress bars.

/// A part of a run that can take long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Files are read, one after the other.
    Read,
    /// Calls are resolved, and paths looked for.
    Resolve,
}

/// Receives the progress of a run. Implementations must be quick because many threads call them often.
pub trait Progress: Sync {
    /// Called when a part begins; `pieces` is 0 if their number is unknown.
    fn begin(&self, step: Step, pieces: usize);

    /// Called when one more piece is done.
    fn advance(&self);
}

/// A receiver that ignores progress.
pub(crate) struct Silent;

impl Progress for Silent {
    fn begin(&self, _: Step, _: usize) {}

    fn advance(&self) {}
}
