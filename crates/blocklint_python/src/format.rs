//! Formatting after edits (ruff, black): a file that was formatted before the edits is formatted again, any other file
//! is not.

use ruff_formatter::printer::LineEnding;
use ruff_formatter::{IndentStyle, IndentWidth, LineWidth};
use ruff_python_formatter::{
    MagicTrailingComma, PreviewMode, PyFormatOptions, QuoteStyle, format_module_source, format_range,
};
use ruff_text_size::{TextRange, TextSize};
use rustc_hash::FxHashSet;
use similar::{DiffOp, TextDiff};

/// Settings of a project's formatter (ruff, black).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of a line at most.
    pub width: u16,
    /// Columns of one step of indentation.
    pub indent: u8,
    /// True if a tab indents.
    pub tabs: bool,
    /// The quotes of strings.
    pub quotes: Quotes,
    /// True if a trailing comma keeps each element on a line of its own.
    pub magic_trailing_comma: bool,
    /// True if the formatter's preview mode is on.
    pub preview: bool,
}

/// The quotes that a formatter prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// `"`
    Double,
    /// `'`
    Single,
    /// The quotes of the source.
    AsWritten,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: 88, indent: 4, tabs: false, quotes: Quotes::Double, magic_trailing_comma: true, preview: false }
    }
}

/// Returns the text after edits, formatted; `None` if the text before them was not formatted, or if the formatter
/// fails. Needs a thread with [`crate::STACK_SIZE`] of stack.
pub fn reformat_after_edits(before: &str, after: &str, style: &Style) -> Option<String> {
    // A text that nests too deeply to be parsed is not formatted either.
    if crate::depth::check_nesting(before).is_some() || crate::depth::check_nesting(after).is_some() {
        return None;
    }
    let ending = if before.contains("\r\n") { LineEnding::CarriageReturnLineFeed } else { LineEnding::LineFeed };
    let format = |text: &str| Some(format_module_source(text, formatter_options(style, ending)?).ok()?.into_code());
    let formatted = format(before)?;
    if formatted == before {
        return format(after);
    }
    reformat_edited_lines(before, &formatted, after, &formatter_options(style, ending)?)
}

/// If the formatter would change at most one line in this many, the file counts as formatted by another formatter of
/// the same style.
const LINES_PER_DIFFERENCE: usize = 20;
/// With more edited places than these, none of them is formatted.
const MAX_EDITED_PLACES: usize = 64;

/// Returns the text after edits, in which only the edited lines are formatted. Formatters of one style differ in a few
/// lines, which stay as they are.
fn reformat_edited_lines(before: &str, formatted: &str, after: &str, options: &PyFormatOptions) -> Option<String> {
    let old_lines: Vec<&str> = before.split_inclusive('\n').collect();
    let unformatted: FxHashSet<&str> = TextDiff::from_lines(before, formatted)
        .ops()
        .iter()
        .flat_map(|op| match op {
            DiffOp::Equal { .. } => 0..0,
            op => op.old_range(),
        })
        .filter_map(|line| old_lines.get(line).copied())
        .filter(|line| !line.trim().is_empty())
        .collect();
    if unformatted.len() * LINES_PER_DIFFERENCE > before.lines().count() {
        return None;
    }
    let line_starts: Vec<usize> = std::iter::once(0).chain(after.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let edits = TextDiff::from_lines(before, after);
    let was_unformatted =
        |op: &DiffOp| op.old_range().any(|line| old_lines.get(line).is_some_and(|line| unformatted.contains(line)));
    let stays = |op: &DiffOp| matches!(op, DiffOp::Equal { .. } | DiffOp::Delete { .. }) || was_unformatted(op);
    let places = edits.ops().iter().filter(|op| !stays(op));
    let places: Vec<std::ops::Range<usize>> = places.map(DiffOp::new_range).collect();
    if places.len() > MAX_EDITED_PLACES {
        return None;
    }
    let mut text = after.to_owned();
    // From the end, so that the formatted lines do not move those that are still to be formatted.
    for lines in places.into_iter().rev() {
        let (Some(&start), end) =
            (line_starts.get(lines.start), line_starts.get(lines.end).map_or(after.len(), |end| end - 1))
        else {
            continue;
        };
        if start >= end {
            continue;
        }
        let range = TextRange::new(TextSize::try_from(start).ok()?, TextSize::try_from(end).ok()?);
        let Ok(printed) = format_range(&text, range, options.clone()) else { continue };
        let replaced = printed.source_range();
        let replaced = usize::from(replaced.start())..usize::from(replaced.end());
        let Some(lines) = text.get(replaced.clone()) else { continue };
        // Lines that were not formatted before the edits stay as they are.
        if lines.split_inclusive('\n').any(|line| unformatted.contains(line)) {
            continue;
        }
        text.replace_range(replaced, printed.as_code());
    }
    (text != after).then_some(text)
}

fn formatter_options(style: &Style, ending: LineEnding) -> Option<PyFormatOptions> {
    let options = PyFormatOptions::default()
        .with_line_width(LineWidth::try_from(style.width).ok()?)
        .with_indent_width(IndentWidth::try_from(style.indent).ok()?)
        .with_indent_style(if style.tabs { IndentStyle::Tab } else { IndentStyle::Space })
        .with_quote_style(match style.quotes {
            Quotes::Double => QuoteStyle::Double,
            Quotes::Single => QuoteStyle::Single,
            Quotes::AsWritten => QuoteStyle::Preserve,
        })
        .with_magic_trailing_comma(if style.magic_trailing_comma {
            MagicTrailingComma::Respect
        } else {
            MagicTrailingComma::Ignore
        })
        .with_preview(if style.preview { PreviewMode::Enabled } else { PreviewMode::Disabled })
        .with_line_ending(ending);
    Some(options)
}

#[cfg(test)]
mod tests {
    use super::{Style, reformat_after_edits};

    #[test]
    fn lines_of_another_formatter_of_the_style_stay_and_edits_are_formatted() {
        let unformatted = "def first( ):\n    return 1\n\n\n";
        let more = "value = 1\n".repeat(40);
        let before = format!("{unformatted}{more}result = load(first_argument, second_argument)\n");
        let long = "result = await asyncio.to_thread(load, first_argument, second_argument, and_a_third_argument)\n";
        let after = before.replace("result = load(first_argument, second_argument)\n", long);
        let text = reformat_after_edits(&before, &after, &Style::default()).expect("it is laid out");
        assert!(text.starts_with(unformatted), "what was so before stays: {text}");
        let laid_out =
            "result = await asyncio.to_thread(\n    load, first_argument, second_argument, and_a_third_argument\n)\n";
        assert!(text.ends_with(laid_out), "{text}");
    }

    #[test]
    fn files_and_lines_of_another_style_are_not_formatted() {
        let before = "value = { 'a':1 }\nresult = load( name )\n";
        let after = "value = { 'a':1 }\nresult = await to_thread( load, name )\n";
        assert_eq!(reformat_after_edits(before, after, &Style::default()), None);
        let more = "value = 1\n".repeat(40);
        let (before, after) = (format!("{more}load( name )\n"), format!("{more}await to_thread( load, name )\n"));
        assert_eq!(reformat_after_edits(&before, &after, &Style::default()), None);
    }
}
