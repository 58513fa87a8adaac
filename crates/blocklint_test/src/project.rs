//! One project of a specification: its files and where each of their lines was written.

use std::fmt;

use camino::Utf8PathBuf;

use crate::Options;

/// A project that is checked as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Project {
    /// Its name among the tests.
    pub name: String,
    /// Its files, in the order in which they are written.
    pub files: Vec<ProjectFile>,
    /// How it is checked.
    pub options: Options,
    /// The output that is pinned, if any.
    pub snapshot: Option<Snapshot>,
    /// The fixes that are pinned, if any.
    pub fix: Option<Snapshot>,
    /// The document or directory it was read from, as messages name it.
    pub origin: Utf8PathBuf,
    /// The line of its heading; 1 for a directory.
    pub line: u32,
    /// Mistakes in how it is written.
    pub problems: Vec<Problem>,
}

/// A file of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectFile {
    /// Path below the project's root.
    pub path: Utf8PathBuf,
    /// Its bytes.
    pub contents: Vec<u8>,
    /// Where its lines were written.
    pub source: Source,
}

/// Where the lines of a file were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// The document, or the file itself.
    pub path: Utf8PathBuf,
    /// For each block the row in the file with which it begins and the line in `path` of that row;
    /// ascending, rows and lines from 1. Empty: rows are lines.
    pub blocks: Vec<(u32, u32)>,
}

impl Source {
    /// Returns the line in `path` of a row of the file.
    pub fn line(&self, row: u32) -> u32 {
        let before = self.blocks.partition_point(|(first, _)| *first <= row);
        match before.checked_sub(1).and_then(|at| self.blocks.get(at)) {
            Some((first, line)) => line + (row - first),
            None => row,
        }
    }
}

/// The kinds of output that a document can pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// The rendered output.
    Snapshot,
    /// The changes of fixes.
    Fix,
}

impl Project {
    /// Returns the output of a kind that this section pins.
    pub fn pinned(&self, pin: Pin) -> Option<&Snapshot> {
        match pin {
            Pin::Snapshot => self.snapshot.as_ref(),
            Pin::Fix => self.fix.as_ref(),
        }
    }
}

/// Output that a document pins.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The text between the fences.
    pub text: String,
    /// The first line of that text in the document.
    pub line: u32,
}

/// Something wrong at a line of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The document or file.
    pub path: Utf8PathBuf,
    /// The line.
    pub line: u32,
    /// The mistake; further lines are indented where it is shown.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message.replace('\n', "\n    "))
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn rows_lead_back_to_the_block_they_came_from() {
        let source = Source { path: "a.md".into(), blocks: vec![(1, 10), (4, 20)] };
        assert_eq!([1, 3, 4, 9].map(|row| source.line(row)), [10, 12, 20, 25]);
        assert_eq!(Source::default().line(7), 7);
    }
}
