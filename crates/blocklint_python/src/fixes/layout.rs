//! Line breaks in a call that moves to a thread, in files that no formatter formats.

use blocklint_core::Span;
use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::File;
use crate::walk::span;

/// A longer line is broken, however long other lines of the file are.
const MAX_WIDTH: usize = 120;
/// A shorter line is not broken, because every project allows this width.
const MIN_WIDTH: usize = 88;

impl File<'_, '_> {
    /// Breaks the argument list of a call on one line whose line would become too long for the file: callee and
    /// arguments go on one line below the bracket, or each on a line of its own. `before` is the text that the edit
    /// adds in front of the call. Returns `None` if the line is short enough, or the call is laid out in another way.
    pub(super) fn break_arguments(&self, call: &ExprCall, before: &str, callee: &str) -> Option<Vec<(Span, String)>> {
        let arguments: Vec<TextRange> = call.arguments.iter_source_order().map(|argument| argument.range()).collect();
        let (first, last) = (arguments.first()?, arguments.last()?);
        let brackets = call.arguments.range();
        let is_plain = !self.text(call.range()).contains(['\n', '\r'])
            && !matches!(&*call.arguments.args, [Expr::Generator(_)])
            && self.text(TextRange::new(brackets.start() + TextSize::of('('), first.start())).is_empty()
            && self.text(TextRange::new(last.end(), brackets.end())) == ")"
            && arguments.windows(2).all(|pair| self.text(TextRange::new(pair[0].end(), pair[1].start())).trim() == ",");
        let start = self.line_start(call.start());
        let end = self.line_end(call.end());
        // A comment after the call may go beyond the width.
        let comment = self.comments.iter().map(Ranged::start).find(|at| (call.end()..end).contains(at));
        let line = self.text(TextRange::new(start, comment.unwrap_or(end))).trim_end();
        let width = |text: &str| text.chars().count();
        if !is_plain || width(line) + width(before) + ", ".len() <= self.allowed_width() {
            return None;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let unit = if indent.starts_with('\t') { "\t" } else { "    " };
        let line_break = format!("{}{indent}{unit}", self.newline_at(call.start()));
        let below = format!("{}{indent}", self.newline_at(call.start()));
        let shared = width(self.text(TextRange::new(first.start(), last.end())));
        if width(indent) + width(unit) + width(callee) + ", ".len() + shared <= MIN_WIDTH {
            let opened = (span(TextRange::empty(first.start())), format!("{line_break}{callee}, "));
            return Some(vec![opened, (span(TextRange::empty(last.end())), below)]);
        }
        let mut edits = vec![(span(TextRange::empty(first.start())), format!("{line_break}{callee},{line_break}"))];
        for pair in arguments.windows(2) {
            edits.push((span(TextRange::new(pair[0].end(), pair[1].start())), format!(",{line_break}")));
        }
        edits.push((span(TextRange::empty(last.end())), format!(",{below}")));
        Some(edits)
    }

    /// Returns the edits that indent the argument lines below the first argument by `by` columns more, because the
    /// bracket moves by that many.
    pub(super) fn reindent_arguments(&self, call: &ExprCall, by: isize) -> Vec<(Span, String)> {
        let arguments: Vec<TextRange> = call.arguments.iter_source_order().map(|argument| argument.range()).collect();
        let Some(first) = arguments.first() else { return Vec::new() };
        let column = |at: TextSize| self.text(TextRange::new(self.line_start(at), at)).chars().count();
        let first_column = column(first.start());
        let is_aligned = |range: &&TextRange| {
            let before = self.text(TextRange::new(self.line_start(range.start()), range.start()));
            !before.is_empty() && before.chars().all(|c| c == ' ') && before.len() == first_column
        };
        // An argument of several lines is not moved.
        if by == 0 || arguments.iter().any(|argument| self.text(*argument).contains('\n')) {
            return Vec::new();
        }
        let indent = " ".repeat(first_column.saturating_add_signed(by));
        let edit =
            |range: &TextRange| (span(TextRange::new(self.line_start(range.start()), range.start())), indent.clone());
        arguments.iter().skip(1).filter(is_aligned).map(edit).collect()
    }

    /// Returns the width that lines of the file may have: the third longest line of code, between [`MIN_WIDTH`] and
    /// [`MAX_WIDTH`].
    fn allowed_width(&self) -> usize {
        *self.width.get_or_init(|| self.measure_allowed_width())
    }

    fn measure_allowed_width(&self) -> usize {
        const SEVERAL: usize = 3;
        let code =
            self.source.lines().filter(|line| !line.contains(['"', '\'', '#']) && line.contains(['(', '=', ':']));
        let mut widths: Vec<usize> = code.map(|line| line.chars().count()).filter(|width| *width > MIN_WIDTH).collect();
        widths.sort_unstable_by(|a, b| b.cmp(a));
        widths.get(SEVERAL - 1).copied().unwrap_or(MIN_WIDTH).min(MAX_WIDTH)
    }
}
