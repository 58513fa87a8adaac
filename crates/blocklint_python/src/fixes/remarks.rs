//! Comments beside a call: why it is called, and which lines a checker must leave.

use blocklint_core::Refusal;
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{File, Site};

/// How comments for checkers begin, which hold for the line on which they stand.
const FOR_CHECKERS: &[&str] = &["type: ignore", "pyright:", "ty: ignore", "noqa", "pylint:", "nosec"];
/// Columns of a line that no formatter wraps.
const NARROW: usize = 79;
/// Columns that an edit adds to a line at least: `await asyncio.to_thread(` and a comma.
const ADDED: usize = 26;

impl<'a> File<'a, '_> {
    /// Refuses a call that a comment above it names, because its author thought about it.
    pub(super) fn is_meant(&self, site: &Site<'a>) -> Result<(), Refusal> {
        let callee = self.text(site.call.func.range());
        let around = site.around.loop_around.map(|range| range.start());
        if [Some(site.call.start()), around].into_iter().flatten().any(|at| self.says_it_blocks(at)) {
            return Err(Refusal::new("a comment above says that it blocks: it may be meant so"));
        }
        let mut line = self.line_at(site.call.start());
        while line.start() > TextSize::from(0) {
            line = self.line_at(line.start() - TextSize::from(1));
            let Some(remark) = self.text(line).trim().strip_prefix('#') else { break };
            let names = remark.match_indices(callee).any(|(at, _)| {
                let is_word = |next: Option<char>| next.is_some_and(|next| next.is_alphanumeric() || next == '_');
                !is_word(remark[..at].chars().next_back()) && !is_word(remark[at + callee.len()..].chars().next())
            });
            if names && callee.contains('.') {
                return Err(Refusal::new("a comment above names it: it may be meant so"));
            }
        }
        Ok(())
    }

    /// True if a comment right above the line of a place says that something blocks there.
    fn says_it_blocks(&self, at: TextSize) -> bool {
        let mut line = self.line_at(at);
        while line.start() > TextSize::from(0) {
            line = self.line_at(line.start() - TextSize::from(1));
            let Some(remark) = self.text(line).trim().strip_prefix('#') else { break };
            let words = remark.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
            if words.map(str::to_ascii_lowercase).any(|word| matches!(word.as_str(), "block" | "blocks" | "blocking")) {
                return true;
            }
        }
        false
    }

    /// Refuses an edit that would wrap a line which ends in a comment for a checker: it would hold for another line then.
    pub(super) fn keeps_remark(&self, site: &Site<'a>) -> Result<(), Refusal> {
        let line = self.line_at(site.call.start());
        let Some(remark) = self.comments.iter().find(|comment| line.contains_range(**comment)) else { return Ok(()) };
        let text = self.text(*remark).trim_start_matches(['#', ' ']);
        let code = self.text(TextRange::new(line.start(), remark.start())).trim_end();
        let wraps = code.chars().count() + ADDED > NARROW;
        match wraps && line.contains_range(site.call.range()) && FOR_CHECKERS.iter().any(|of| text.starts_with(of)) {
            true => Err(Refusal::new("a comment for a checker ends the line, which would become several")),
            false => Ok(()),
        }
    }

    /// Returns the line of a place, without its end.
    fn line_at(&self, at: TextSize) -> TextRange {
        let at = usize::from(at);
        let before = self.source.get(..at).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let behind = self.source.get(at..).unwrap_or_default();
        let end = behind.find('\n').map_or(self.source.len(), |end| at + end);
        TextRange::new(TextSize::try_from(start).unwrap_or_default(), TextSize::try_from(end).unwrap_or_default())
    }
}
