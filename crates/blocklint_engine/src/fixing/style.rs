//! Formats edited files in the project's style, if they were formatted before the edits.

use blocklint_project::{FormatSettings, format_settings};
use blocklint_python::{Quotes, Style, decode, encode_like, reformat_after_edits};
use camino::Utf8Path;

use super::rustfmt;

/// Returns the formatted bytes of a Python file after edits; `None` if the file was not formatted before.
pub(super) fn formatted(path: &Utf8Path, root: &Utf8Path, before: &[u8], after: &[u8]) -> Option<Vec<u8>> {
    let style = to_style(format_settings(path, root));
    let text = reformat_after_edits(&decode(before).text, &decode(after).text, &style)?;
    encode_like(after, &text)
}

/// Returns the formatted text of a Rust file, without the imports that lost their last use.
pub(super) fn formatted_rust(
    path: &Utf8Path,
    root: &Utf8Path,
    edition: u16,
    before: &[u8],
    after: &[u8],
) -> Option<Vec<u8>> {
    let (before, after) = (std::str::from_utf8(before).ok()?, std::str::from_utf8(after).ok()?);
    let tidy = blocklint_rust::without_unused_imports(before, after);
    let after = tidy.as_deref().unwrap_or(after);
    let laid_out = rustfmt::reformat_edited(path, root, edition, before, after);
    laid_out.or(tidy).map(String::into_bytes)
}

fn to_style(settings: FormatSettings) -> Style {
    let usual = Style::default();
    Style {
        width: settings.width.unwrap_or(usual.width),
        indent: settings.indent.unwrap_or(usual.indent),
        tabs: settings.indent_style.as_deref() == Some("tab"),
        quotes: match settings.quotes.as_deref() {
            Some("single") => Quotes::Single,
            Some("preserve") => Quotes::AsWritten,
            _ => usual.quotes,
        },
        magic_trailing_comma: !settings.skip_magic_trailing_comma,
        preview: settings.preview,
    }
}
