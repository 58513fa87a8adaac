//! How far a run is, for those who wait for it.

/// A part of a run that can take long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Files are read, one after the other.
    Read,
    /// Calls are resolved, and paths looked for.
    Resolve,
}

/// Receives the progress of a run; called from several threads, and often, so that it must be quick.
pub trait Progress: Sync {
    /// A part begins that has so many pieces; 0 if the number is unknown.
    fn begin(&self, step: Step, pieces: usize);

    /// One more piece is done.
    fn advance(&self);
}

/// A progress that shows nothing.
pub(crate) struct Silent;

impl Progress for Silent {
    fn begin(&self, _: Step, _: usize) {}

    fn advance(&self) {}
}
