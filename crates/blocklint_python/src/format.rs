//! Files that their project's formatter left as they are stay so: after an edit they are formatted again. Other files are not.

use ruff_formatter::printer::LineEnding;
use ruff_formatter::{IndentStyle, IndentWidth, LineWidth};
use ruff_python_formatter::{
    MagicTrailingComma, PreviewMode, PyFormatOptions, QuoteStyle, format_module_source, format_range,
};
use ruff_text_size::{TextRange, TextSize};
use rustc_hash::FxHashSet;
use similar::{DiffOp, TextDiff};

/// How a project formats its files, as ruff and black are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of a line.
    pub width: u16,
    /// Columns of one step of indentation.
    pub indent: u8,
    /// True if a tab indents.
    pub tabs: bool,
    /// The quotes of strings.
    pub quotes: Quotes,
    /// True if a comma behind the last element keeps elements on lines of their own.
    pub magic_trailing_comma: bool,
    /// True if the formatter's preview is on.
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

/// Returns the text after edits as the formatter leaves it; `None` where the text before them was not as the formatter
/// leaves it, or where the formatter shows nothing. Needs a thread with [`crate::STACK_SIZE`] of stack.
pub fn reformatted(before: &str, after: &str, style: &Style) -> Option<String> {
    // A text that nests too deeply to be read is not formatted either.
    if crate::depth::refuse(before).is_some() || crate::depth::refuse(after).is_some() {
        return None;
    }
    let ending = if before.contains("\r\n") { LineEnding::CarriageReturnLineFeed } else { LineEnding::LineFeed };
    let format = |text: &str| Some(format_module_source(text, options(style, ending)?).ok()?.into_code());
    let laid_out = format(before)?;
    if laid_out == before {
        return format(after);
    }
    edited_lines(before, &laid_out, after, &options(style, ending)?)
}

/// A file of one line in so many that the formatter would lay out otherwise is another formatter's of the same style.
const ALIKE: usize = 20;
/// Edited places of a file beyond which none is laid out by itself.
const PLACES: usize = 64;

/// Returns the text after edits, of which only what they changed is laid out anew: formatters of one style differ in a
/// few lines, which stay as they are.
fn edited_lines(before: &str, laid_out: &str, after: &str, options: &PyFormatOptions) -> Option<String> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let odd: FxHashSet<&str> = TextDiff::from_lines(before, laid_out)
        .ops()
        .iter()
        .flat_map(|op| match op {
            DiffOp::Equal { .. } => 0..0,
            op => op.old_range(),
        })
        .filter_map(|line| old.get(line).copied())
        .filter(|line| !line.trim().is_empty())
        .collect();
    if odd.len() * ALIKE > before.lines().count() {
        return None;
    }
    let starts: Vec<usize> = std::iter::once(0).chain(after.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let edits = TextDiff::from_lines(before, after);
    let was_odd = |op: &DiffOp| op.old_range().any(|line| old.get(line).is_some_and(|line| odd.contains(line)));
    let is_left = |op: &DiffOp| matches!(op, DiffOp::Equal { .. } | DiffOp::Delete { .. }) || was_odd(op);
    let places = edits.ops().iter().filter(|op| !is_left(op));
    let places: Vec<std::ops::Range<usize>> = places.map(DiffOp::new_range).collect();
    if places.len() > PLACES {
        return None;
    }
    let mut text = after.to_owned();
    // From the end, so that what is laid out does not move what is still to come.
    for lines in places.into_iter().rev() {
        let (Some(&start), end) = (starts.get(lines.start), starts.get(lines.end).map_or(after.len(), |end| end - 1))
        else {
            continue;
        };
        if start >= end {
            continue;
        }
        let range = TextRange::new(TextSize::try_from(start).ok()?, TextSize::try_from(end).ok()?);
        let Ok(printed) = format_range(&text, range, options.clone()) else { continue };
        let at = printed.source_range();
        let at = usize::from(at.start())..usize::from(at.end());
        let Some(own) = text.get(at.clone()) else { continue };
        // Lines that were not laid out by the formatter before are left as they are.
        if own.split_inclusive('\n').any(|line| odd.contains(line)) {
            continue;
        }
        text.replace_range(at, printed.as_code());
    }
    (text != after).then_some(text)
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

#[cfg(test)]
mod tests {
    use super::{Style, reformatted};

    /// Formatters of one style differ in few lines.
    #[test]
    fn what_another_formatter_of_the_style_left_stays_and_edits_are_laid_out() {
        let odd = "def first( ):\n    return 1\n\n\n";
        let more = "value = 1\n".repeat(40);
        let before = format!("{odd}{more}result = load(first_argument, second_argument)\n");
        let long = "result = await asyncio.to_thread(load, first_argument, second_argument, and_a_third_argument)\n";
        let after = before.replace("result = load(first_argument, second_argument)\n", long);
        let text = reformatted(&before, &after, &Style::default()).expect("it is laid out");
        assert!(text.starts_with(odd), "what was so before stays: {text}");
        let laid_out =
            "result = await asyncio.to_thread(\n    load, first_argument, second_argument, and_a_third_argument\n)\n";
        assert!(text.ends_with(laid_out), "{text}");
    }

    #[test]
    fn a_file_of_another_style_and_a_line_that_was_odd_are_left() {
        let before = "value = { 'a':1 }\nresult = load( name )\n";
        let after = "value = { 'a':1 }\nresult = await to_thread( load, name )\n";
        assert_eq!(reformatted(before, after, &Style::default()), None);
        let more = "value = 1\n".repeat(40);
        let (before, after) = (format!("{more}load( name )\n"), format!("{more}await to_thread( load, name )\n"));
        assert_eq!(reformatted(&before, &after, &Style::default()), None);
    }
}
