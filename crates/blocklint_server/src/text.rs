//! The text of a file, with conversions between byte offsets and LSP positions in the encoding of the client.

use std::sync::Arc;

use blocklint_core::Span;

use crate::protocol::{Position, Range, TextDocumentContentChangeEvent};

/// The unit of a position's character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, which every client knows.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// Returns the best encoding that the client offers: UTF-8 if possible, because offsets here are bytes.
    pub(crate) fn negotiated(offered: &[String]) -> Self {
        let has = |word: &str| offered.iter().any(|encoding| encoding == word);
        match (has("utf-8"), has("utf-32") && !has("utf-16")) {
            (true, _) => Encoding::Utf8,
            (false, true) => Encoding::Utf32,
            (false, false) => Encoding::Utf16,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Utf32 => "utf-32",
        }
    }

    fn length(self, text: &str) -> usize {
        match self {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 => text.chars().map(char::len_utf16).sum(),
            Encoding::Utf32 => text.chars().count(),
        }
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text with the offsets of its lines. `\n`, `\r\n` and a lone `\r` end a line.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    content: Arc<str>,
    starts: Vec<u32>,
}

impl Text {
    pub(crate) fn new(content: Arc<str>) -> Self {
        let bytes = content.as_bytes();
        let ends = bytes.iter().enumerate().filter(|&(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect();
        Text { content, starts }
    }

    pub(crate) fn content(&self) -> &Arc<str> {
        &self.content
    }

    /// Returns the line of an offset; the first line is 0.
    pub(crate) fn line_of(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset).max(1) as u32 - 1
    }

    /// Returns the span of a line without its line break; an empty span at the end of the text if there is no such
    /// line.
    pub(crate) fn line(&self, line: u32) -> Span {
        let Some(&start) = self.starts.get(line as usize) else {
            let end = self.content.len() as u32;
            return Span::new(end, end);
        };
        let rest = &self.content[start as usize..];
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        Span::new(start, start + length as u32)
    }

    pub(crate) fn slice(&self, span: Span) -> &str {
        let span = self.clamped(span);
        &self.content[span.start as usize..span.end as usize]
    }

    pub(crate) fn position(&self, offset: u32, encoding: Encoding) -> Position {
        let offset = self.clamped(Span::new(offset, offset)).start;
        let line = self.line_of(offset);
        let before = &self.content[self.starts[line as usize] as usize..offset as usize];
        // Editors do not count the byte order mark.
        let before = if line == 0 { before.strip_prefix(BYTE_ORDER_MARK).unwrap_or(before) } else { before };
        Position { line, character: encoding.length(before) as u32 }
    }

    pub(crate) fn range(&self, span: Span, encoding: Encoding) -> Range {
        Range { start: self.position(span.start, encoding), end: self.position(span.end, encoding) }
    }

    /// Returns the offset of a position. A position after the end of its line is the end of the line, and a position
    /// after the last line is the end of the text.
    pub(crate) fn offset(&self, position: Position, encoding: Encoding) -> u32 {
        let mut line = self.line(position.line);
        if position.line == 0 && self.content.starts_with(BYTE_ORDER_MARK) {
            line.start += BYTE_ORDER_MARK.len_utf8() as u32;
        }
        let text = self.slice(line);
        let mut remaining = position.character as usize;
        for (at, c) in text.char_indices() {
            let length = match encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
                Encoding::Utf32 => 1,
            };
            // A position inside of a character, as between surrogates, is moved to its beginning.
            if remaining < length {
                return line.start + at as u32;
            }
            remaining -= length;
        }
        line.start + text.len() as u32
    }

    pub(crate) fn span(&self, range: Range, encoding: Encoding) -> Span {
        Span::new(self.offset(range.start, encoding), self.offset(range.end, encoding))
    }

    /// Returns the text after changes; the positions of each change refer to the text after the change before it.
    pub(crate) fn with_changes(&self, changes: Vec<TextDocumentContentChangeEvent>, encoding: Encoding) -> Text {
        let mut text = self.clone();
        for change in changes {
            text = match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    Text::new(Arc::from(whole.text))
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let span = text.span(part.range, encoding);
                    Text::new(Arc::from(text.with_replacements(&[(span, part.text)])))
                }
            };
        }
        text
    }

    /// Returns the text with these spans replaced; they must be sorted and must not overlap.
    pub(crate) fn with_replacements(&self, edits: &[(Span, String)]) -> String {
        let added: usize = edits.iter().map(|(_, text)| text.len()).sum();
        let mut new = String::with_capacity(self.content.len() + added);
        let mut copied = 0;
        for (span, text) in edits {
            let span = self.clamped(*span);
            new.push_str(self.content.get(copied..span.start as usize).unwrap_or_default());
            new.push_str(text);
            copied = span.end as usize;
        }
        new.push_str(self.content.get(copied..).unwrap_or_default());
        new
    }

    fn clamped(&self, span: Span) -> Span {
        let floor = |offset: u32| self.content.floor_char_boundary(offset as usize) as u32;
        Span::new(floor(span.start), floor(span.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_in_three_encodings_read_back() {
        let text = Text::new(Arc::from("a = 'é𝄞'\r\nb\rc\n"));
        let offset = "a = 'é𝄞".len() as u32;
        for (encoding, character) in [(Encoding::Utf8, 11), (Encoding::Utf16, 8), (Encoding::Utf32, 7)] {
            let position = text.position(offset, encoding);
            assert_eq!(position, Position { line: 0, character }, "{encoding:?}");
            assert_eq!(text.offset(position, encoding), offset);
        }
        let at = |line, character| text.offset(Position { line, character }, Encoding::Utf16);
        assert_eq!((at(1, 0), at(2, 0), at(3, 0), at(9, 4)), (14, 16, 18, 18));
        assert_eq!(at(0, 99), 12, "behind the end of the line is its end");
        assert_eq!(at(0, 7), 7, "in the middle of a surrogate pair is before it");
    }

    #[test]
    fn the_byte_order_mark_is_no_character_of_the_editor() {
        let text = Text::new(Arc::from("\u{feff}ab\n\u{feff}c"));
        assert_eq!(text.position(4, Encoding::Utf16), Position { line: 0, character: 1 });
        assert_eq!(text.offset(Position { line: 0, character: 1 }, Encoding::Utf16), 4);
        assert_eq!(text.position(9, Encoding::Utf16), Position { line: 1, character: 1 });
    }

    #[test]
    fn positions_of_a_change_refer_to_the_text_after_the_change_before_it() {
        let text = Text::new(Arc::from("one\ntwo\n"));
        let part = |from: (u32, u32), to: (u32, u32), text: &str| {
            serde_json::from_value(serde_json::json!({
                "range": {
                    "start": { "line": from.0, "character": from.1 },
                    "end": { "line": to.0, "character": to.1 },
                },
                "text": text,
            }))
            .expect("a change")
        };
        let changes = vec![part((0, 0), (1, 0), ""), part((0, 3), (0, 3), "é"), part((0, 4), (0, 4), "!")];
        assert_eq!(&**text.with_changes(changes, Encoding::Utf16).content(), "twoé!\n");
        let whole = vec![serde_json::from_value(serde_json::json!({ "text": "x" })).expect("a change")];
        assert_eq!(&**text.with_changes(whole, Encoding::Utf16).content(), "x");
    }

    #[test]
    fn utf8_is_negotiated_if_the_client_offers_it() {
        let negotiated =
            |offered: &[&str]| Encoding::negotiated(&offered.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(negotiated(&[]), Encoding::Utf16);
        assert_eq!(negotiated(&["utf-16", "utf-8"]), Encoding::Utf8);
        assert_eq!(negotiated(&["utf-32"]), Encoding::Utf32);
        assert_eq!(negotiated(&["utf-32", "utf-16"]), Encoding::Utf16);
    }
}
