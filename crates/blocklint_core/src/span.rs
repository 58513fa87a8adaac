//! Places in source files: byte spans as the analysis knows them, rows and columns as people do.

use std::sync::Arc;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

/// A half-open range of byte offsets in one file. A file holds less than 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte; never less than `start`.
    pub end: u32,
}

impl Span {
    /// Returns the range from `start` to `end`; `end` is raised to `start` where it lies before it.
    pub fn new(start: u32, end: u32) -> Self {
        Span { start, end: end.max(start) }
    }

    /// True if `other` lies wholly inside this span.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// True if the offset lies inside; the end itself does not.
    pub fn contains_offset(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }
}

/// A position as editors show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// Line, from 1.
    pub row: u32,
    /// Character (Unicode scalar value, not byte) in the line, from 1.
    pub column: u32,
}

/// A span of a named file, with its ends as rows and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Absolute path of the file.
    pub path: Arc<Utf8Path>,
    /// Bytes.
    pub span: Span,
    /// Position of `span.start`; zero until the file was looked at (`Place::locate`).
    pub start: Location,
    /// Position of `span.end`.
    pub end: Location,
    /// The cell of a notebook in which it lies, all cells counted from 1; rows then count from the cell's
    /// first line. `None` in every other file.
    pub cell: Option<u32>,
}

impl Place {
    /// Returns a place whose rows and columns are not known yet.
    pub fn unlocated(path: Arc<Utf8Path>, span: Span) -> Self {
        Place { path, span, start: Location::default(), end: Location::default(), cell: None }
    }

    /// Computes rows and columns from the file's text; a span beyond its end is clamped to it,
    /// because the file may have changed since it was read.
    pub fn locate(&mut self, text: &str) {
        self.locate_in(text, &LineStarts::new(text));
    }

    /// Sets line and column from known starts of lines, so that many places of one file need only one scan of its text.
    pub fn locate_in(&mut self, text: &str, lines: &LineStarts) {
        self.span = clamp(self.span, text);
        self.start = lines.location(text, self.span.start);
        self.end = lines.location(text, self.span.end);
    }
}

/// Where the lines of a text begin. `\n`, `\r\n` and a lone `\r` end a line, as in Python, Java and every editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineStarts {
    starts: Vec<u32>,
}

impl LineStarts {
    /// Looks through a text of less than 4 GiB once.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|&(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        LineStarts { starts: std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect() }
    }

    /// Returns the number, from 0, of the line in which an offset lies.
    pub fn line_of(&self, offset: u32) -> usize {
        self.starts.partition_point(|&start| start <= offset).max(1) - 1
    }

    /// Returns the line of this number, from 0, without its end; `None` behind the last line.
    pub fn line<'t>(&self, text: &'t str, number: usize) -> Option<&'t str> {
        let start = *self.starts.get(number)? as usize;
        let end = self.starts.get(number + 1).map_or(text.len(), |end| *end as usize);
        text.get(start..end).map(|line| line.trim_end_matches(['\n', '\r']))
    }

    /// Returns the row and column of an offset that is a character boundary of the text.
    fn location(&self, text: &str, offset: u32) -> Location {
        let row = self.starts.partition_point(|&start| start <= offset).max(1);
        let line = &text[self.starts[row - 1] as usize..offset as usize];
        let line = if row == 1 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        Location { row: row as u32, column: line.chars().count() as u32 + 1 }
    }
}

/// Returns the span with both ends on character boundaries inside `text`.
fn clamp(span: Span, text: &str) -> Span {
    let floor = |offset: u32| {
        let mut at = (offset as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at as u32
    };
    Span::new(floor(span.start), floor(span.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_rows_count_every_line_end() {
        let text = "é = 1\r\nb\rc = ü!\n";
        let lines = LineStarts::new(text);
        let at = |needle: &str| lines.location(text, text.find(needle).expect("in text") as u32);
        assert_eq!(at("= 1"), Location { row: 1, column: 3 });
        assert_eq!(at("b"), Location { row: 2, column: 1 });
        assert_eq!(at("!"), Location { row: 3, column: 6 });
        assert_eq!(lines.location(text, text.len() as u32), Location { row: 4, column: 1 });
        assert_eq!(LineStarts::new("").location("", 0), Location { row: 1, column: 1 });
    }

    #[test]
    fn a_span_beyond_a_shrunken_file_is_clamped() {
        let mut place = Place::unlocated(Arc::from(Utf8Path::new("/a.py")), Span::new(3, 90));
        place.locate("ab\u{e9}");
        assert_eq!(place.span, Span::new(2, 4));
        assert_eq!(place.end, Location { row: 1, column: 4 });
    }
}
