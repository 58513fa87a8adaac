//! Paths and texts as a terminal may show them.

use std::borrow::Cow;

use camino::Utf8Path;

/// The path relative to the folder where it lies below, without characters a terminal obeys.
pub(crate) fn shown<'a>(path: &'a Utf8Path, folder: &Utf8Path) -> Cow<'a, str> {
    harmless(path.strip_prefix(folder).unwrap_or(path).as_str())
}

/// The text with control characters made visible: file names and source text come from strangers.
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
