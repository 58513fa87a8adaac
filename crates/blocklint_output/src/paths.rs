//! Paths and texts as a terminal may show them.

use std::borrow::Cow;
use std::fmt::Write;

use blocklint_core::Place;
use camino::Utf8Path;

/// Returns the path relative to the folder where it lies below, without characters a terminal obeys.
pub(crate) fn shown<'a>(path: &'a Utf8Path, folder: &Utf8Path) -> Cow<'a, str> {
    harmless(path.strip_prefix(folder).unwrap_or(path).as_str())
}

/// Returns the path relative to the folder where it lies below, with `/` on every system and otherwise as it is: for
/// programs, whose formats escape what they must.
pub(crate) fn portable<'a>(path: &'a Utf8Path, folder: &Utf8Path) -> Cow<'a, str> {
    let path = path.strip_prefix(folder).unwrap_or(path).as_str();
    match std::path::MAIN_SEPARATOR {
        '/' => Cow::Borrowed(path),
        separator => Cow::Owned(path.replace(separator, "/")),
    }
}

/// Returns the path as `shown`, with the cell where the place lies in a notebook (`demo.ipynb:cell 3`).
pub(crate) fn shown_file<'a>(place: &'a Place, folder: &Utf8Path) -> Cow<'a, str> {
    let path = shown(&place.path, folder);
    match place.cell {
        Some(cell) => Cow::Owned(format!("{path}:cell {cell}")),
        None => path,
    }
}

/// Path, row and column (`app/main.py:3:5`, `demo.ipynb:cell 3:2:5`).
pub(crate) fn shown_place(place: &Place, folder: &Utf8Path) -> String {
    format!("{}:{}:{}", shown_file(place, folder), place.start.row, place.start.column)
}

/// Returns the text with control characters made visible: file names and source text come from strangers.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let visible = text.chars().flat_map(|c| match c.is_control() {
        true => c.escape_default().collect::<Vec<_>>(),
        false => vec![c],
    });
    Cow::Owned(visible.collect())
}

/// Returns the path with `/` on every system.
pub(crate) fn slashes(path: &Utf8Path) -> String {
    path.as_str().replace('\\', "/")
}

/// Returns the URI of a file with an absolute path.
pub(crate) fn file_uri(path: &Utf8Path) -> String {
    let path = slashes(path);
    // `C:/x` needs one separator more than `/x`.
    let separator = if path.starts_with('/') { "" } else { "/" };
    format!("file://{separator}{}", encoded(&path).replacen("%3A", ":", 1))
}

/// Returns a path as a URI spells it: everything but unreserved characters and separators is encoded.
pub(crate) fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}
