//! The report of the check of one model file (`VerifyReport`): its counts and its mistakes.

use serde::Serialize;

/// A mistake in a model: a statement that is false for its library.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Line of the row's `path` in the model, from 1.
    pub line: u32,
    /// The expanded path.
    pub path: String,
    /// The mistake.
    pub message: String,
}

/// The report of the check of one model file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// The name of the library; empty if the model has none.
    pub library: String,
    /// The checked version of the library; empty if it is unknown.
    pub version: String,
    /// The number of rows of the model, without switches.
    pub rows: usize,
    /// The number of expanded paths that were looked up.
    pub checked: usize,
    /// The number of expanded paths that were not looked up: those with a synthetic segment, and those of rows with
    /// `unchecked`.
    pub exempt: usize,
    /// The number of expanded paths of rows with `unchecked`.
    pub unchecked: usize,
    /// The mistakes, in the order of lines.
    pub problems: Vec<Problem>,
    /// The paths that only an older version has, each with that version.
    pub gone: Vec<(String, String)>,
    /// The names that each glob covers.
    pub expansions: Vec<(String, Vec<String>)>,
    /// The version ranges of rows for which no extracted version was available.
    pub needs: Vec<String>,
}

/// The names that each glob covers.
#[derive(Debug, Default)]
pub(crate) struct GlobExpansions(pub(crate) Vec<(String, Vec<String>)>);
