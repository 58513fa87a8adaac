//! Paths and texts as a terminal may show them.

use std::borrow::Cow;

use blocklint_core::Place;
use camino::Utf8Path;

/// The path relative to the folder where it lies below, without characters a terminal obeys.
pub(crate) fn shown<'a>(path: &'a Utf8Path, folder: &Utf8Path) -> Cow<'a, str> {
    harmless(path.strip_prefix(folder).unwrap_or(path).as_str())
}

/// The path as above, with the cell where the place lies in a notebook (`demo.ipynb:cell 3`).
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
