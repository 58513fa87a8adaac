//! The result of the check of one model file.

use serde::Serialize;

/// One thing of a model that does not hold of its library.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Line of the row's `path` in the model, from 1.
    pub line: u32,
    /// The expanded path.
    pub path: String,
    /// The mistake.
    pub message: String,
}

/// The result of the check of one model file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// The library's name; empty where the model names none.
    pub library: String,
    /// Its version, as it was given; empty if it was not.
    pub version: String,
    /// Rows of the model, switches not counted.
    pub rows: usize,
    /// Expanded paths that were looked up.
    pub checked: usize,
    /// Expanded paths that were not: those with a synthetic segment, and those of rows with `unchecked`.
    pub exempt: usize,
    /// Expanded paths of rows with `unchecked`.
    pub unchecked: usize,
    /// The mistakes, by line.
    pub problems: Vec<Problem>,
    /// Paths that only an older version has, and which.
    pub gone: Vec<(String, String)>,
    /// The names that each glob covers.
    pub expansions: Vec<(String, Vec<String>)>,
    /// Ranges of versions of which none was at hand, though rows describe them.
    pub needs: Vec<String>,
}

/// The results that the lookup of one path adds to a report.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) expansions: Vec<(String, Vec<String>)>,
}
