//! Where lines end and begin in a call that is handed over, in files that no formatter lays out.

use blocklint_core::Span;
use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::File;
use crate::walk::span;

/// The longest line that is left as it is, however long others are, and the longest that every project admits.
const LONGEST: usize = 120;
const SHORTEST: usize = 88;

impl File<'_, '_> {
    /// Returns the callee among the arguments of a call that stands on one line, on one line below the bracket or each
    /// on its own, where the line would become longer than any other of the file. `before` is what the edit adds in
    /// front of the call.
    pub(super) fn exploded(&self, call: &ExprCall, before: &str, callee: &str) -> Option<Vec<(Span, String)>> {
        let all: Vec<TextRange> = call.arguments.iter_source_order().map(|argument| argument.range()).collect();
        let (first, last) = (all.first()?, all.last()?);
        let inside = call.arguments.range();
        let is_plain = !self.text(call.range()).contains(['\n', '\r'])
            && !matches!(&*call.arguments.args, [Expr::Generator(_)])
            && self.text(TextRange::new(inside.start() + TextSize::of('('), first.start())).is_empty()
            && self.text(TextRange::new(last.end(), inside.end())) == ")"
            && all.windows(2).all(|pair| self.text(TextRange::new(pair[0].end(), pair[1].start())).trim() == ",");
        let start = self.line_start(call.start());
        let end = self.line_end(call.end());
        // A comment behind may stand further out.
        let comment = self.comments.iter().map(Ranged::start).find(|at| (call.end()..end).contains(at));
        let line = self.text(TextRange::new(start, comment.unwrap_or(end))).trim_end();
        let width = |text: &str| text.chars().count();
        if !is_plain || width(line) + width(before) + ", ".len() <= self.longest_line() {
            return None;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let unit = if indent.starts_with('\t') { "\t" } else { "    " };
        let line_break = format!("{}{indent}{unit}", self.newline_at(call.start()));
        let below = format!("{}{indent}", self.newline_at(call.start()));
        let shared = width(self.text(TextRange::new(first.start(), last.end())));
        if width(indent) + width(unit) + width(callee) + ", ".len() + shared <= SHORTEST {
            let opened = (span(TextRange::empty(first.start())), format!("{line_break}{callee}, "));
            return Some(vec![opened, (span(TextRange::empty(last.end())), below)]);
        }
        let mut edits = vec![(span(TextRange::empty(first.start())), format!("{line_break}{callee},{line_break}"))];
        for pair in all.windows(2) {
            edits.push((span(TextRange::new(pair[0].end(), pair[1].start())), format!(",{line_break}")));
        }
        edits.push((span(TextRange::empty(last.end())), format!(",{below}")));
        Some(edits)
    }

    /// Edits that move the lines of a call's arguments with its bracket, where they stand below the first argument: by so many
    /// columns.
    pub(super) fn moved_lines(&self, call: &ExprCall, by: isize) -> Vec<(Span, String)> {
        let all: Vec<TextRange> = call.arguments.iter_source_order().map(|argument| argument.range()).collect();
        let Some(first) = all.first() else { return Vec::new() };
        let column = |at: TextSize| self.text(TextRange::new(self.line_start(at), at)).chars().count();
        let below = column(first.start());
        let own_line = |range: &&TextRange| {
            let before = self.text(TextRange::new(self.line_start(range.start()), range.start()));
            !before.is_empty() && before.chars().all(|c| c == ' ') && before.len() == below
        };
        // An argument of several lines has a layout of its own.
        if by == 0 || all.iter().any(|of| self.text(*of).contains('\n')) {
            return Vec::new();
        }
        let indent = " ".repeat(below.saturating_add_signed(by));
        let edit =
            |range: &TextRange| (span(TextRange::new(self.line_start(range.start()), range.start())), indent.clone());
        all.iter().skip(1).filter(own_line).map(edit).collect()
    }

    /// How long lines of the file may become: as several of code are, within reason. Texts and comments are not broken.
    fn longest_line(&self) -> usize {
        *self.longest.get_or_init(|| self.find_longest_line())
    }

    fn find_longest_line(&self) -> usize {
        const SEVERAL: usize = 3;
        let code =
            self.source.lines().filter(|line| !line.contains(['"', '\'', '#']) && line.contains(['(', '=', ':']));
        let mut widths: Vec<usize> = code.map(|line| line.chars().count()).filter(|width| *width > SHORTEST).collect();
        widths.sort_unstable_by(|a, b| b.cmp(a));
        widths.get(SEVERAL - 1).copied().unwrap_or(SHORTEST).min(LONGEST)
    }
}
