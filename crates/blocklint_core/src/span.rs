//! Places in source files: byte spans (`Span`) for the analysis, rows and columns (`Location`) for people, and the
//! starts of lines that turn one into the other (`LineStarts`).

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
    /// Returns the range from `start` to `end`, or an empty range at `start` if `end` is before it.
    pub fn new(start: u32, end: u32) -> Self {
        Span { start, end: end.max(start) }
    }

    /// True if `other` is wholly inside this span.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// True if the offset is inside this span; the end is outside.
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
    /// The bytes of the place.
    pub span: Span,
    /// Position of `span.start`; zero until `Place::locate` computes it from the file's text.
    pub start: Location,
    /// Position of `span.end`.
    pub end: Location,
    /// The number of the notebook cell with the place, all cells counted from 1; rows then count from the cell's first
    /// line. `None` in files that are no notebooks.
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

    /// Computes rows and columns from the starts of lines, so that many places of one file need only one scan of its
    /// text.
    pub fn locate_in(&mut self, text: &str, lines: &LineStarts) {
        self.span = clamp(self.span, text);
        self.start = lines.location(text, self.span.start);
        self.end = lines.location(text, self.span.end);
    }
}

/// The offsets at which the lines of a text begin. `\n`, `\r\n` and a lone `\r` end a line, as in Python, Java and
/// every editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineStarts {
    starts: Vec<u32>,
}

impl LineStarts {
    /// Scans a text of less than 4 GiB once.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|&(index, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(index + 1) != Some(&b'\n'),
            _ => false,
        });
        LineStarts { starts: std::iter::once(0).chain(ends.map(|(index, _)| index as u32 + 1)).collect() }
    }

    /// Returns the number, from 0, of the line with an offset.
    pub fn line_of(&self, offset: u32) -> usize {
        self.starts.partition_point(|&start| start <= offset).max(1) - 1
    }

    /// Returns the line with this number, from 0, without its line end; `None` behind the last line.
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
        let mut index = (offset as usize).min(text.len());
        while !text.is_char_boundary(index) {
            index -= 1;
        }
        index as u32
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
        let location_of = |needle: &str| lines.location(text, text.find(needle).expect("in text") as u32);
        assert_eq!(location_of("= 1"), Location { row: 1, column: 3 });
        assert_eq!(location_of("b"), Location { row: 2, column: 1 });
        assert_eq!(location_of("!"), Location { row: 3, column: 6 });
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
