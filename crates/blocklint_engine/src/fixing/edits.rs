//! Applies edits to the bytes of a file, in its encoding and with its line endings. All other bytes stay as they are.

use blocklint_core::{Language, Span};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The edits of one file: spans in its decoded text, and their new texts. They are sorted and do not overlap.
pub(crate) type Replacements<'a> = [(Span, &'a str)];

/// Returns the bytes of a file after the edits. A `\n` in an edit becomes the line ending of the file's first line.
///
/// # Errors
///
/// If the bytes are no valid text, if a span is outside of the file, or if the encoding lacks a character of an edit.
pub(crate) fn apply_edits(language: Language, bytes: &[u8], edits: &Replacements<'_>) -> Result<Vec<u8>, String> {
    let strange = || "the file has bytes that are invalid in its encoding".to_owned();
    let encoded = |text: &str| match language {
        Language::Python => blocklint_python::encode_like(bytes, text),
        Language::Rust | Language::Java => Some(text.as_bytes().to_vec()),
    };
    let text = match language {
        Language::Python => blocklint_python::decode(bytes).text,
        Language::Rust | Language::Java => String::from_utf8_lossy(bytes),
    };
    // Decoding and encoding must be inverse, or other lines would change too.
    if encoded(&text).as_deref() != Some(bytes) {
        return Err(strange());
    }
    let new = splice(text.as_bytes(), edits, line_ending(bytes))?;
    let new = String::from_utf8(new).map_err(|_| "an edit divides a character".to_owned())?;
    encoded(&new).ok_or_else(|| "the file's encoding lacks a character of the edit".to_owned())
}

fn splice(bytes: &[u8], edits: &Replacements<'_>, ending: &str) -> Result<Vec<u8>, String> {
    let outside = || "an edit is outside of the file".to_owned();
    let first = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let mut new = Vec::with_capacity(bytes.len() + 64);
    let mut at = 0;
    for (span, content) in edits {
        // Text at offset 0 is inserted after the byte order mark.
        let (start, end) = ((span.start as usize).max(first), (span.end as usize).max(first));
        new.extend_from_slice(bytes.get(at..start).ok_or_else(outside)?);
        let mut before = '\0';
        for c in content.chars() {
            match c {
                '\n' if before != '\r' => new.extend_from_slice(ending.as_bytes()),
                _ => new.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
            before = c;
        }
        at = end;
    }
    new.extend_from_slice(bytes.get(at..).ok_or_else(outside)?);
    Ok(new)
}

/// Returns the line ending of the first line; `\n` in a file of one line.
fn line_ending(bytes: &[u8]) -> &'static str {
    let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    match end.map(|end| (bytes[end], bytes.get(end + 1))) {
        Some((b'\r', Some(b'\n'))) => "\r\n",
        Some((b'\r', _)) => "\r",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(bytes: &[u8], edits: &[(u32, u32, &str)]) -> Result<Vec<u8>, String> {
        let edits = edits.iter().map(|&(start, end, text)| (Span::new(start, end), text)).collect::<Vec<_>>();
        apply_edits(Language::Python, bytes, &edits)
    }

    #[test]
    fn edits_get_the_line_endings_of_the_file() {
        let insert = [(0, 0, "import asyncio\n"), (3, 4, "y")];
        assert_eq!(python(b"a\r\nb\r\n", &insert).expect("edited"), b"import asyncio\r\na\r\ny\r\n");
        assert_eq!(python(b"a\n\nb\r\n", &insert).expect("edited"), b"import asyncio\na\n\ny\r\n");
        assert_eq!(python(b"a\r\rb\r", &insert).expect("edited"), b"import asyncio\ra\r\ry\r");
        assert_eq!(python(b"a\nb\n", &[(0, 1, "x\r\ny")]).expect("edited"), b"x\r\ny\nb\n", "copied source stays");
    }

    #[test]
    fn the_byte_order_mark_stays_first() {
        let edited = python(b"\xef\xbb\xbfa\n", &[(0, 0, "import b\n"), (3, 4, "c")]).expect("edited");
        assert_eq!(edited, b"\xef\xbb\xbfimport b\nc\n");
    }

    #[test]
    fn a_declared_encoding_is_kept() {
        let file = b"# coding: latin-1\nx = '\xe9'  # \x81\ny()\n";
        let text = blocklint_python::decode(file).text.into_owned();
        let at = text.find("y()").expect("there") as u32;
        let expected = b"# coding: latin-1\nx = '\xe9'  # \x81\nz('\xfc')\n";
        assert_eq!(python(file, &[(at, at + 3, "z('\u{fc}')")]).expect("edited"), expected);
        let error = python(file, &[(at, at + 3, "'\u{4e00}'")]).expect_err("latin-1 has no such character");
        assert!(error.contains("lacks a character"), "{error}");
    }

    #[test]
    fn a_file_with_invalid_bytes_is_not_edited() {
        assert!(python(b"# \xff\na\n", &[(4, 5, "b")]).is_err());
        assert!(apply_edits(Language::Rust, b"// \xff\n", &[]).is_err());
        assert_eq!(apply_edits(Language::Rust, b"// \xc3\xa9\n", &[]).expect("UTF-8"), b"// \xc3\xa9\n");
        assert!(python(b"a\0\n", &[]).is_err());
    }

    #[test]
    fn spans_beyond_the_file_are_refused() {
        assert!(python(b"a\n", &[(1, 9, "")]).is_err());
        assert!(python(b"a\n", &[(8, 9, "")]).is_err());
        assert!(python("\u{e9}\n".as_bytes(), &[(1, 2, "")]).is_err(), "half a character");
    }
}
