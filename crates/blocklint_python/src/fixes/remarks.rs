//! Comments at a call that forbid an edit: those that say that it blocks on purpose, and those for checkers (`# noqa`).

use blocklint_core::Refusal;
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{File, Site};

/// The beginnings of comments for checkers, which apply to their own line.
const CHECKER_COMMENTS: &[&str] = &["type: ignore", "pyright:", "ty: ignore", "noqa", "pylint:", "nosec"];
/// A line of at most this width is wrapped by no formatter.
const UNWRAPPED_WIDTH: usize = 79;
/// The least number of columns that an edit adds to a line: `await asyncio.to_thread(` and a comma.
const ADDED_WIDTH: usize = 26;

impl<'a> File<'a, '_> {
    /// Refuses a call if a comment above mentions it or says that it blocks, because the author possibly means it so.
    pub(super) fn check_comments_above(&self, site: &Site<'a>) -> Result<(), Refusal> {
        let callee = self.text(site.call.func.range());
        let loop_start = site.around.loop_around.map(|range| range.start());
        if [Some(site.call.start()), loop_start]
            .into_iter()
            .flatten()
            .any(|offset| self.has_comment_on_blocking(offset))
        {
            return Err(Refusal::new("a comment above says that the call blocks, so it may be intended"));
        }
        let mut line = self.line_at(site.call.start());
        while line.start() > TextSize::from(0) {
            line = self.line_at(line.start() - TextSize::from(1));
            let Some(remark) = self.text(line).trim().strip_prefix('#') else { break };
            let mentions_callee = remark.match_indices(callee).any(|(index, _)| {
                let is_word = |next: Option<char>| next.is_some_and(|next| next.is_alphanumeric() || next == '_');
                !is_word(remark[..index].chars().next_back()) && !is_word(remark[index + callee.len()..].chars().next())
            });
            if mentions_callee && callee.contains('.') {
                return Err(Refusal::new("a comment above mentions this call, so it may be intended"));
            }
        }
        Ok(())
    }

    /// True if a comment right above the line of an offset has a word like *blocks*.
    fn has_comment_on_blocking(&self, offset: TextSize) -> bool {
        let mut line = self.line_at(offset);
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

    /// Refuses an edit that would wrap a line with a comment for a checker, because the comment would move to another
    /// line.
    pub(super) fn check_comment_behind(&self, site: &Site<'a>) -> Result<(), Refusal> {
        let line = self.line_at(site.call.start());
        let Some(remark) = self.comments.iter().find(|comment| line.contains_range(**comment)) else { return Ok(()) };
        let text = self.text(*remark).trim_start_matches(['#', ' ']);
        let code = self.text(TextRange::new(line.start(), remark.start())).trim_end();
        let wraps = code.chars().count() + ADDED_WIDTH > UNWRAPPED_WIDTH;
        if wraps
            && line.contains_range(site.call.range())
            && CHECKER_COMMENTS.iter().any(|start| text.starts_with(start))
        {
            Err(Refusal::new("the line ends with a comment for a checker, and the edit would split the line"))
        } else {
            Ok(())
        }
    }

    /// Returns the range of the line of an offset, without its line end.
    fn line_at(&self, offset: TextSize) -> TextRange {
        let offset = usize::from(offset);
        let before = self.source.get(..offset).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let behind = self.source.get(offset..).unwrap_or_default();
        let end = behind.find('\n').map_or(self.source.len(), |end| offset + end);
        TextRange::new(TextSize::try_from(start).unwrap_or_default(), TextSize::try_from(end).unwrap_or_default())
    }
}
