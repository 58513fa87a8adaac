//! The project's own style: what its formatter left as it is stays so.

use blocklint_project::{FormatSettings, format_settings};
use blocklint_python::{Quotes, Style, decode, encode_like, reformat_after_edits};
use camino::Utf8Path;

use super::rustfmt;

/// Returns the bytes of a Python file after edits as the project's formatter leaves them, where it left those before as
/// they were.
pub(super) fn formatted(path: &Utf8Path, root: &Utf8Path, before: &[u8], after: &[u8]) -> Option<Vec<u8>> {
    let style = style_of(format_settings(path, root));
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
    let laid_out = rustfmt::reformatted(path, root, edition, before, after);
    laid_out.or(tidy).map(String::into_bytes)
}

fn style_of(said: FormatSettings) -> Style {
    let usual = Style::default();
    Style {
        width: said.width.unwrap_or(usual.width),
        indent: said.indent.unwrap_or(usual.indent),
        tabs: said.indent_style.as_deref() == Some("tab"),
        quotes: match said.quotes.as_deref() {
            Some("single") => Quotes::Single,
            Some("preserve") => Quotes::AsWritten,
            _ => usual.quotes,
        },
        magic_trailing_comma: !said.skip_magic_trailing_comma,
        preview: said.preview,
    }
}
