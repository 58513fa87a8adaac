//! Paths and texts in the output: relative paths, escaped control characters, file URIs.

use std::borrow::Cow;
use std::fmt::Write;

use blocklint_core::Place;
use camino::Utf8Path;

/// Returns a path for people: relative to the folder if it is below it, with control characters escaped.
pub(crate) fn path_text<'a>(path: &'a Utf8Path, folder: &Utf8Path) -> Cow<'a, str> {
    escape_controls(path.strip_prefix(folder).unwrap_or(path).as_str())
}

/// Returns a path for programs: relative to the folder if it is below it, with `/` on every system. Nothing is escaped,
/// because the formats do that.
pub(crate) fn portable<'a>(path: &'a Utf8Path, folder: &Utf8Path) -> Cow<'a, str> {
    let path = path.strip_prefix(folder).unwrap_or(path).as_str();
    match std::path::MAIN_SEPARATOR {
        '/' => Cow::Borrowed(path),
        separator => Cow::Owned(path.replace(separator, "/")),
    }
}

/// Returns the path of a place for people, with the cell of a notebook (`demo.ipynb:cell 3`).
pub(crate) fn file_text<'a>(place: &'a Place, folder: &Utf8Path) -> Cow<'a, str> {
    let path = path_text(&place.path, folder);
    match place.cell {
        Some(cell) => Cow::Owned(format!("{path}:cell {cell}")),
        None => path,
    }
}

/// Returns the path, row and column of a place for people (`app/main.py:3:5`, `demo.ipynb:cell 3:2:5`).
pub(crate) fn place_text(place: &Place, folder: &Utf8Path) -> String {
    format!("{}:{}:{}", file_text(place, folder), place.start.row, place.start.column)
}

/// Returns a text with control characters escaped, so that file names and source text cannot control the terminal.
pub(crate) fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let visible =
        text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] });
    Cow::Owned(visible.collect())
}

/// Returns a path with `/` on every system.
pub(crate) fn slashes(path: &Utf8Path) -> String {
    path.as_str().replace('\\', "/")
}

/// Returns the URI of a file with an absolute path.
pub(crate) fn file_uri(path: &Utf8Path) -> String {
    let path = slashes(path);
    // `C:/x` needs one more separator than `/x`.
    let separator = if path.starts_with('/') { "" } else { "/" };
    format!("file://{separator}{}", percent_encode(&path).replacen("%3A", ":", 1))
}

/// Returns a path in percent-encoding: all bytes but unreserved characters and separators are encoded.
pub(crate) fn percent_encode(path: &str) -> String {
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
