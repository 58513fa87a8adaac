//! Decoding of source files: byte-order marks, PEP 263 encoding declarations, invalid bytes.

use std::borrow::Cow;

use blocklint_core::Span;
use blocklint_facts::Problem;
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// The text of a file, into which the spans of facts are byte offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded<'a> {
    /// The text. It is the bytes themselves where they are valid UTF-8 (with its byte-order mark, if there is one).
    pub text: Cow<'a, str>,
    /// The first part that could not be decoded.
    pub problem: Option<Problem>,
}

/// Decodes a Python source file.
///
/// Spans of facts are byte offsets into the result. For UTF-8 these are offsets into the file too, also where it holds
/// invalid or NUL bytes: each is replaced by one ASCII character (`?`, space). A file in another encoding, declared as
/// PEP 263 says, is transcoded, and offsets count the UTF-8 text.
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    let valid = std::str::from_utf8(bytes);
    if let Some(encoding) = declared_encoding(bytes).filter(|_| !bytes.is_ascii()) {
        let (text, malformed) = encoding.decode_without_bom_handling(bytes);
        let problem = malformed.then(|| Problem {
            span: Span::default(),
            message: format!("some bytes are not valid in the declared encoding {}", encoding.name().to_lowercase()),
        });
        return replace_nul_bytes(text, problem);
    }
    match valid {
        Ok(text) => replace_nul_bytes(Cow::Borrowed(text), None),
        Err(error) => {
            let at = error.valid_up_to() as u32;
            let problem = Problem { span: Span::new(at, at + 1), message: "a byte here is not valid UTF-8".to_owned() };
            let mut text = String::with_capacity(bytes.len());
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(chunk.invalid().iter().map(|_| '?'));
            }
            replace_nul_bytes(Cow::Owned(text), Some(problem))
        }
    }
}

/// Encodes a text in the encoding of the file `original`; `None` if that encoding lacks one of its characters. For the
/// text that was decoded from `original` without a problem, the result is `original`.
pub fn encode_like(original: &[u8], text: &str) -> Option<Vec<u8>> {
    match declared_encoding(original).filter(|_| !original.is_ascii()) {
        None => Some(text.as_bytes().to_vec()),
        Some(encoding) if encoding.output_encoding() == encoding => {
            let (bytes, _, unmappable) = encoding.encode(text);
            (!unmappable).then(|| bytes.into_owned())
        }
        Some(_) => None,
    }
}

/// Replaces NUL bytes by spaces, because the parser treats a NUL byte as the end of the file.
pub(crate) fn replace_nul_bytes(text: Cow<'_, str>, problem: Option<Problem>) -> Decoded<'_> {
    let Some(at) = memchr::memchr(0, text.as_bytes()) else { return Decoded { text, problem } };
    let at = at as u32;
    let nul = Problem { span: Span::new(at, at + 1), message: "the file contains NUL bytes".to_owned() };
    Decoded { text: Cow::Owned(text.replace('\0', " ")), problem: problem.or(Some(nul)) }
}

/// Returns the encoding that one of the first two lines declares; `None` for UTF-8 and for unknown names.
fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut rest = bytes;
    for _ in 0..2 {
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        let text = line.trim_ascii_start();
        if text.first() == Some(&b'#')
            && let Some(name) = find_encoding_name(text)
        {
            let encoding = encoding_by_python_name(name)?;
            return (encoding != UTF_8).then_some(encoding);
        }
        // The declaration counts only behind a comment or an empty line.
        if !text.is_empty() && text[0] != b'#' {
            return None;
        }
        let after = if rest[end..].starts_with(b"\r\n") { end + 2 } else { end + 1 };
        rest = rest.get(after..)?;
    }
    None
}

/// Returns the name in a declaration: `coding: name` or `coding=name`.
fn find_encoding_name(comment: &[u8]) -> Option<&[u8]> {
    let mut from = 0;
    while let Some(found) = memchr::memmem::find(&comment[from..], b"coding") {
        let rest = &comment[from + found + 6..];
        from += found + 6;
        if !matches!(rest.first(), Some(b':' | b'=')) {
            continue;
        }
        let rest = rest[1..].trim_ascii_start();
        let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"-_.".contains(byte));
        let name = &rest[..end.unwrap_or(rest.len())];
        if !name.is_empty() {
            return Some(name);
        }
    }
    None
}

/// Returns the encoding of a name, also of those names of Python that the table of the web lacks (`cp932`).
fn encoding_by_python_name(name: &[u8]) -> Option<&'static Encoding> {
    let name: Vec<u8> = name.to_ascii_lowercase().iter().map(|&byte| if byte == b'_' { b'-' } else { byte }).collect();
    match &name[..] {
        b"latin-1" | b"iso-latin-1" => Some(WINDOWS_1252),
        [b'u', b't', b'f', b'-' | b'8', ..] => Some(UTF_8),
        [b'c', b'p', b'9', b'3', b'2'] => Some(encoding_rs::SHIFT_JIS),
        [b'c', b'p', b'9', b'3', b'6'] => Some(encoding_rs::GBK),
        [b'c', b'p', b'9', b'4', b'9'] | b"uhc" => Some(encoding_rs::EUC_KR),
        [b'c', b'p', b'9', b'5', b'0'] => Some(encoding_rs::BIG5),
        [b'i', b's', b'o', b'8', b'8', b'5', b'9', b'-', part @ ..] => {
            Encoding::for_label(&[b"iso-8859-", part].concat())
        }
        [b'l', b'a', b't', b'i', b'n', b'-', part @ ..] => Encoding::for_label(&[b"latin", part].concat()),
        name => {
            // `euc-jp`, `cp1252`, `koi8-r`, `shift-jis` …
            Encoding::for_label(name).or_else(|| {
                Encoding::for_label(
                    &name.iter().map(|&byte| if byte == b'-' { b'_' } else { byte }).collect::<Vec<u8>>(),
                )
            })
        }
    }
}
