//! Files that their project's formatter left as they are stay so: after an edit they are formatted again. Other files are not.

use ruff_formatter::printer::LineEnding;
use ruff_formatter::{IndentStyle, IndentWidth, LineWidth};
use ruff_python_formatter::{MagicTrailingComma, PreviewMode, PyFormatOptions, QuoteStyle, format_module_source};

/// How a project formats its files, as ruff and black are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of a line.
    pub width: u16,
    /// Columns of one step of indentation.
    pub indent: u8,
    /// Whether a tab indents.
    pub tabs: bool,
    /// The quotes of strings.
    pub quotes: Quotes,
    /// Whether a comma behind the last element keeps elements on lines of their own.
    pub magic_trailing_comma: bool,
    /// Whether the formatter's preview is on.
    pub preview: bool,
}

/// The quotes that a formatter prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// `"`
    Double,
    /// `'`
    Single,
    /// Those that are there.
    AsWritten,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: 88, indent: 4, tabs: false, quotes: Quotes::Double, magic_trailing_comma: true, preview: false }
    }
}

/// The text after edits as the formatter leaves it; `None` where the text before them was not as the formatter leaves it, or
/// where the formatter says nothing. Needs a thread with [`crate::STACK_SIZE`] of stack.
pub fn reformatted(before: &str, after: &str, style: &Style) -> Option<String> {
    // What nests too deeply to be read is not formatted either.
    if crate::depth::refuse(before).is_some() || crate::depth::refuse(after).is_some() {
        return None;
    }
    let ending = if before.contains("\r\n") { LineEnding::CarriageReturnLineFeed } else { LineEnding::LineFeed };
    let format = |text: &str| Some(format_module_source(text, options(style, ending)?).ok()?.into_code());
    (format(before)? == before).then(|| format(after))?
}

fn options(style: &Style, ending: LineEnding) -> Option<PyFormatOptions> {
    let options = PyFormatOptions::default()
        .with_line_width(LineWidth::try_from(style.width).ok()?)
        .with_indent_width(IndentWidth::try_from(style.indent).ok()?)
        .with_indent_style(if style.tabs { IndentStyle::Tab } else { IndentStyle::Space })
        .with_quote_style(match style.quotes {
            Quotes::Double => QuoteStyle::Double,
            Quotes::Single => QuoteStyle::Single,
            Quotes::AsWritten => QuoteStyle::Preserve,
        })
        .with_magic_trailing_comma(match style.magic_trailing_comma {
            true => MagicTrailingComma::Respect,
            false => MagicTrailingComma::Ignore,
        })
        .with_preview(if style.preview { PreviewMode::Enabled } else { PreviewMode::Disabled })
        .with_line_ending(ending);
    Some(options)
}
