//! A file to which suppression comments are added, and the possible places of a comment.

use std::collections::BTreeSet;
use std::sync::Arc;

use blocklint_core::{Language, RuleCode, Span};
use blocklint_facts::{FileFacts, Form, SuppressionKind};
use blocklint_project::SourceFile;

use crate::extraction::{decode, extract_bytes};
use crate::fixing::apply_edits;

/// An insertion: its offset in the old text, and the number of bytes by which the file grew.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    pub(super) at: u32,
    pub(super) grown: i32,
}

/// A file to which suppression comments are added.
pub(super) struct Page<'f> {
    pub(super) file: &'f SourceFile,
    /// The bytes as they were read.
    pub(super) before: Vec<u8>,
    /// The bytes with the new comments.
    pub(super) bytes: Vec<u8>,
    /// The text of `bytes`.
    pub(super) text: Arc<str>,
    pub(super) facts: FileFacts,
}

impl<'f> Page<'f> {
    pub(super) fn new(file: &'f SourceFile, bytes: Vec<u8>) -> Result<Self, String> {
        let facts = extract_bytes(file, &bytes)?;
        let text = decode(file, bytes.clone()).0;
        Ok(Page { file, before: bytes.clone(), bytes, text, facts })
    }

    /// Returns the offset at which the line of an offset begins.
    pub(super) fn line_of(&self, offset: u32) -> u32 {
        let before = self.text.get(..offset as usize).unwrap_or_default();
        before.rfind(['\n', '\r']).map_or(0, |at| at as u32 + 1)
    }

    /// Adds a comment for the line of an offset, or adds the rules to its present comment.
    pub(super) fn ignore(&mut self, offset: u32, rules: &BTreeSet<RuleCode>, reason: &str) -> Result<Edit, String> {
        let mut why = "there is no place for a comment".to_owned();
        for (span, content) in self.comment_places(offset, rules, reason) {
            let tried = self.with_comments(&[(span, &content)]).and_then(|(page, edits)| {
                let edit = edits.first().copied().ok_or("there is no edit")?;
                let offset = if edit.at <= offset { offset.saturating_add_signed(edit.grown) } else { offset };
                let is_silenced = page.suppresses(offset, rules);
                if is_silenced {
                    Ok((page, edit))
                } else {
                    Err("a comment there would be a part of something else".to_owned())
                }
            });
            match tried {
                Ok((page, edit)) => {
                    *self = page;
                    return Ok(edit);
                }
                Err(reason) => why = reason,
            }
        }
        Err(why)
    }

    /// Returns the possible comments for a line with their places, the best first.
    pub(super) fn comment_places(&self, offset: u32, rules: &BTreeSet<RuleCode>, reason: &str) -> Vec<(Span, String)> {
        // The number of spaces before a comment that formatters expect: two in Python, else one.
        let (marker, before, widest) = match self.file.language {
            Language::Python => ("#", "  ", 88),
            Language::Rust | Language::Java => ("//", " ", 100),
        };
        let codes = |more: &[String]| {
            let mut codes: Vec<String> = more.to_vec();
            codes.extend(rules.iter().map(ToString::to_string).filter(|code| !more.contains(code)));
            codes.join(", ")
        };
        let mut places = Vec::new();
        if let Some((span, known)) = self.bracket_list(offset) {
            places.push((span, codes(&known)));
        }
        let reason = if reason.is_empty() { String::new() } else { format!(" {reason}") };
        let comment = format!("{marker} blocklint: ignore[{}]{reason}", codes(&[]));
        let start = self.line_of(offset) as usize;
        let rest = self.text.get(start..).unwrap_or_default();
        let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
        let end = (start + line.trim_end().len()) as u32;
        let indent: String = line.chars().take_while(|c| c.is_whitespace() && *c != '\u{feff}').collect();
        let behind = (Span::new(end, end), format!("{before}{comment}"));
        let at = (start + if line.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }) as u32;
        let above = (Span::new(at, at), format!("{indent}{comment}\n"));
        // A formatter may divide a line that is too long, and rustfmt moves a comment after an open bracket to the next
        // line. The comment would then be at another line.
        let fits = line.trim_end().chars().count() + comment.chars().count() + before.len() <= widest;
        let fits = fits && (self.file.language == Language::Python || line.trim_end().ends_with([';', ',', '}']));
        places.extend(if fits { [behind, above] } else { [above, behind] });
        // A line that ends with a backslash can have no comment, but a comment at the last of the joined lines covers
        // it.
        if self.file.language == Language::Python && line.ends_with('\\') {
            let last = rest.split_inclusive('\n').position(|line| !line.trim_end_matches(['\r', '\n']).ends_with('\\'));
            let length: usize = rest.split_inclusive('\n').take(last.map_or(0, |last| last + 1)).map(str::len).sum();
            let end = (start + rest[..length].trim_end().len()) as u32;
            places.push((Span::new(end, end), format!("{before}{comment}")));
        }
        places
    }

    /// Returns the span of the bracketed list of a comment that covers this line, and the rules in the list.
    fn bracket_list(&self, offset: u32) -> Option<(Span, Vec<String>)> {
        let suppressions = self
            .facts
            .suppressions
            .iter()
            .filter(|suppression| suppression.kind == SuppressionKind::Ignore && !suppression.rules.is_empty());
        let suppression = suppressions
            .into_iter()
            .find(|suppression| suppression.covered_span.start <= offset && offset <= suppression.covered_span.end)?;
        let comment = self.text.get(suppression.comment.start as usize..suppression.comment.end as usize)?;
        let word = comment.find("blocklint")?;
        let open = word + comment[word..].find('[')? + 1;
        let close = open + comment[open..].find(']')?;
        let start = suppression.comment.start + open as u32;
        let codes = comment[open..close].split(',').map(|code| code.trim().to_owned()).filter(|code| !code.is_empty());
        Some((Span::new(start, start + (close - open) as u32), codes.collect()))
    }

    /// Returns the file with these comments added, sorted by place, and the edits; an error if the code would change.
    pub(super) fn with_comments(&self, comments: &[(Span, &str)]) -> Result<(Self, Vec<Edit>), String> {
        let bytes = apply_edits(self.file.language, &self.bytes, comments)?;
        let page = Page { before: self.before.clone(), ..Page::new(self.file, bytes)? };
        let (old, new) = (&self.facts, &page.facts);
        let same_code = old.sites.len() == new.sites.len()
            && old.bodies.len() == new.bodies.len()
            && old
                .problems
                .iter()
                .map(|problem| &problem.message)
                .eq(new.problems.iter().map(|problem| &problem.message));
        if !same_code {
            return Err("a comment there would change the code".to_owned());
        }
        let longer = |(span, content): &(Span, &str)| content.len() as i32 - (span.end - span.start) as i32;
        let lines = comments.iter().filter(|(_, content)| content.ends_with('\n')).count() as i32;
        // A comment's `\n` becomes the line ending of the file, which may have two characters.
        let grown = page.text.len() as i32 - self.text.len() as i32;
        let added_by_line_ends = grown - comments.iter().map(longer).sum::<i32>();
        let per_line = added_by_line_ends.checked_div(lines).unwrap_or_default();
        let edit = |comment: &(Span, &str)| {
            let per_line = if comment.1.ends_with('\n') { per_line } else { 0 };
            Edit { at: comment.0.start, grown: longer(comment) + per_line }
        };
        Ok((page, comments.iter().map(edit).collect()))
    }

    /// True if one comment suppresses all of these rules on the line of an offset.
    pub(super) fn suppresses(&self, offset: u32, rules: &BTreeSet<RuleCode>) -> bool {
        let facts = &self.facts;
        let named = |suppression: &blocklint_facts::Suppression| -> BTreeSet<RuleCode> {
            let texts = facts.list(suppression.rules).iter().filter_map(|form| match facts.form(*form) {
                Form::Str(sym) => RuleCode::parse(facts.text(sym)),
                _ => None,
            });
            texts.collect()
        };
        facts.suppressions.iter().any(|suppression| {
            let covers_offset = suppression.covered_span.start <= offset && offset <= suppression.covered_span.end;
            suppression.kind == SuppressionKind::Ignore && covers_offset && rules.is_subset(&named(suppression))
        })
    }

    /// True if the comment in a span applies to the line of an offset.
    pub(super) fn is_comment_for_line(&self, comment: Span, offset: u32) -> bool {
        let mut suppressions =
            self.facts.suppressions.iter().filter(|suppression| suppression.kind == SuppressionKind::Ignore);
        suppressions.any(|suppression| {
            let is_in_comment = comment.start <= suppression.comment.start && suppression.comment.start < comment.end;
            is_in_comment && suppression.covered_span.start <= offset && offset <= suppression.covered_span.end
        })
    }
}
