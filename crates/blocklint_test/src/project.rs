//! A project of a fixture: its files, with the lines of the document from which they were read.

use std::fmt;

use camino::Utf8PathBuf;

use crate::Options;

/// A project of a fixture: a section of a document, or an annotated directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Project {
    /// The name of its test.
    pub name: String,
    /// Its files, in the order of the document.
    pub files: Vec<ProjectFile>,
    /// The options with which it is checked.
    pub options: Options,
    /// The output that is pinned, if any.
    pub snapshot: Option<Snapshot>,
    /// The fixes that are pinned, if any.
    pub fix: Option<Snapshot>,
    /// The document or directory from which it was read, as in messages.
    pub origin: Utf8PathBuf,
    /// The line of its heading; 1 for a directory.
    pub line: u32,
    /// Mistakes in its form.
    pub problems: Vec<Problem>,
}

/// A file of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectFile {
    /// The path relative to the project's root.
    pub path: Utf8PathBuf,
    /// Its bytes.
    pub contents: Vec<u8>,
    /// The origin of its lines.
    pub source: Source,
}

/// The origin of the lines of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// The document, or the file itself.
    pub path: Utf8PathBuf,
    /// For each block the first row in the file, and the line in `path` of that row; sorted, rows and lines from 1.
    /// Empty if rows are lines.
    pub blocks: Vec<(u32, u32)>,
}

impl Source {
    /// Returns the line in `path` of a row of the file.
    pub fn line(&self, row: u32) -> u32 {
        let count = self.blocks.partition_point(|(first, _)| *first <= row);
        match count.checked_sub(1).and_then(|index| self.blocks.get(index)) {
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
    /// The diff of the fixes.
    Fix,
}

impl Project {
    /// Returns the pinned output of a kind.
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

/// A mistake at a line of a document or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The document or file.
    pub path: Utf8PathBuf,
    /// The line.
    pub line: u32,
    /// The mistake; `Display` indents its lines after the first.
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
    fn rows_map_to_the_lines_of_their_block() {
        let source = Source { path: "a.md".into(), blocks: vec![(1, 10), (4, 20)] };
        assert_eq!([1, 3, 4, 9].map(|row| source.line(row)), [10, 12, 20, 25]);
        assert_eq!(Source::default().line(7), 7);
    }
}
