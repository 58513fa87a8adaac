//! Findings about suppression comments: unused (BLT901), malformed or with unknown rules (BLT903), and without a
//! required reason (BLT904).

mod edit;
pub(crate) mod named;
mod said;

use blocklint_analysis::{Solved, SourceFile};
use blocklint_core::{Finding, Language, RuleCode, Suppression, SuppressionSource};
use blocklint_facts::{BodyId, FileFacts, Form, SuppressionKind};
use blocklint_project::Project;
use blocklint_rules::{RULES, Selection, mentions_rules, resolve_rules};
use rustc_hash::FxHashSet;

use crate::extraction::Extracted;

pub(crate) use edit::{CommentEdit, fix_of_comment};

/// The checks of suppression comments that a run makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommentChecks {
    /// The rules for which the run can decide if a comment is needed. The bit of a rule is its index in [`RULES`].
    decidable: u64,
    /// True if each comment must have a reason (`require-reason`).
    demands_reason: bool,
}

impl CommentChecks {
    /// Returns the checks that a run over a project can make. The run cannot decide if a comment is needed if it does
    /// not select the comment's rule, or sees only a part of the project.
    pub fn new(project: &Project, selection: &Selection) -> Self {
        let bit = |(index, rule): (usize, &&'static blocklint_rules::Rule)| {
            u64::from(project.is_whole && selection.contains(rule.code)) << index
        };
        CommentChecks {
            decidable: RULES.iter().enumerate().map(bit).fold(0, |all, bit| all | bit),
            demands_reason: project.configuration.require_reason,
        }
    }

    fn decides(self, rule: RuleCode) -> bool {
        RULES.iter().position(|known| known.code == rule).is_some_and(|index| self.decidable & (1 << index) != 0)
    }

    fn decides_all(self) -> bool {
        RULES.iter().all(|rule| rule.code.0 >= 900 || self.decides(rule.code))
    }
}

/// Returns the languages with a file that was not read, or only in part. Comments of these languages are not reported
/// as unused, because a call in such a file may be the reason for a comment.
pub(crate) fn unread_languages(project: &Project, extracted: &[Extracted]) -> Vec<Language> {
    let mut unread: Vec<Language> = Vec::new();
    for (file, extracted) in project.files.iter().zip(extracted) {
        if extracted.unread.is_some() && !unread.contains(&file.language) {
            unread.push(file.language);
        }
    }
    unread
}

/// Returns the findings about comments in the reported files whose slots `is_searched` accepts, with their edits.
pub(crate) fn comment_findings(
    files: &[SourceFile],
    solved: &Solved,
    checks: CommentChecks,
    unread: &[Language],
    is_searched: impl Fn(usize) -> bool,
) -> Vec<CommentFinding> {
    let used: FxHashSet<(usize, u32, RuleCode)> = solved
        .used_comments
        .iter()
        .map(|used_comment| (used_comment.file.index(), used_comment.comment, used_comment.rule))
        .collect();
    let mut findings = Vec::new();
    for (slot, file) in files.iter().enumerate().filter(|(slot, file)| file.reported && is_searched(*slot)) {
        let file_checks =
            if unread.contains(&file.facts.language) { CommentChecks { decidable: 0, ..checks } } else { checks };
        let mut of_file = Vec::new();
        for index in 0..file.facts.suppressions.len() as u32 {
            let is_used = |rule| used.contains(&(slot, index, rule));
            of_file.extend(check_comment(file, index, file_checks, &is_used));
        }
        set_fingerprints(file, &mut of_file);
        findings.extend(of_file);
    }
    findings
}

/// A suppression comment.
struct Comment<'a> {
    file: &'a SourceFile,
    index: u32,
    kind: SuppressionKind,
    /// The words of the comment as written, with the rules to which they refer. A `noqa` may also have codes of other
    /// tools, which refer to no rule.
    words: Vec<(&'a str, Vec<RuleCode>)>,
}

/// A finding about a comment, and the edit that fixes it, if there is one.
type CommentFinding = (Finding, Option<CommentEdit>);

/// Returns the findings about one comment.
fn check_comment(
    file: &SourceFile,
    index: u32,
    checks: CommentChecks,
    is_used: &dyn Fn(RuleCode) -> bool,
) -> Vec<CommentFinding> {
    let mut findings = Vec::new();
    let row = file.facts.suppressions[index as usize];
    let reason = row.reason.get().map_or("", |sym| file.facts.text(sym));
    let words = written_rules(&file.facts, index).map(|word| (word, resolve_rules(word))).collect();
    let comment = Comment { file, index, kind: row.kind, words };
    match row.kind {
        SuppressionKind::Malformed => findings.extend(said::malformed(&comment, reason)),
        SuppressionKind::Ignore if comment.words.is_empty() && mentions_rules(reason) => {
            let is_of_file = row.covered_span == file.facts.body(BodyId(0)).span;
            let word = if is_of_file { "ignore-file" } else { "ignore" };
            findings.extend(said::malformed(&comment, &format!("blocklint: {word} {reason}")));
        }
        SuppressionKind::Ignore | SuppressionKind::Noqa if comment.is_for_blocklint() => {
            findings.extend(said::unknown(&comment));
            findings.extend(unused_part(&comment, checks, is_used));
            if checks.demands_reason && reason.is_empty() {
                findings.push(said::unexplained(&comment));
            }
        }
        _ => {}
    }
    findings
}

impl Comment<'_> {
    /// True if the comment is for blocklint. A bare `noqa` is for all tools, so it is not.
    fn is_for_blocklint(&self) -> bool {
        match self.kind {
            SuppressionKind::Noqa => self.words.iter().any(|(word, rules)| !rules.is_empty() || has_our_prefix(word)),
            _ => true,
        }
    }
}

/// True if a code of `noqa` has blocklint's prefix (`BLT`).
fn has_our_prefix(word: &str) -> bool {
    word.get(..3).is_some_and(|head| head.eq_ignore_ascii_case("BLT"))
}

/// Returns the rules in a comment, as written.
fn written_rules(facts: &FileFacts, index: u32) -> impl Iterator<Item = &str> {
    let list = facts.list(facts.suppressions[index as usize].rules);
    list.iter().filter_map(|&word| match facts.form(word) {
        Form::Str(sym) => Some(facts.text(sym)),
        _ => None,
    })
}

/// Returns the finding about a comment that is not needed, or about its words that are not needed.
fn unused_part(
    comment: &Comment<'_>,
    checks: CommentChecks,
    is_used: &dyn Fn(RuleCode) -> bool,
) -> Option<CommentFinding> {
    if comment.words.is_empty() {
        let is_unused = checks.decides_all() && !RULES.iter().any(|rule| is_used(rule.code));
        return is_unused.then(|| said::unused(comment, &[]));
    }
    // If two words refer to one rule, only the first is needed.
    let mut claimed: Vec<RuleCode> = Vec::new();
    let mut unused_words = Vec::new();
    for (word, rules) in &comment.words {
        let is_about_code = !rules.is_empty() && rules.iter().all(|rule| rule.0 < 900);
        let needed = rules.iter().copied().filter(|&rule| is_used(rule) && !claimed.contains(&rule));
        let needed: Vec<RuleCode> = needed.collect();
        if is_about_code && needed.is_empty() && rules.iter().all(|&rule| checks.decides(rule)) {
            unused_words.push(*word);
        }
        claimed.extend(needed);
    }
    (!unused_words.is_empty()).then(|| said::unused(comment, &unused_words))
}

/// Returns the suppression of a finding about a comment: by a comment that covers its line, or by the comment itself.
fn suppression_of(comment: &Comment<'_>, rule: RuleCode) -> Option<Suppression> {
    let facts = &comment.file.facts;
    let place = facts.suppressions[comment.index as usize].comment;
    let mut rows = facts.suppressions.iter().enumerate().filter(|(_, row)| {
        matches!(row.kind, SuppressionKind::Ignore | SuppressionKind::Noqa)
            && (row.comment == place || row.covered_span.contains_offset(place.start))
    });
    let (_, row) =
        rows.find(|(index, _)| written_rules(facts, *index as u32).any(|word| resolve_rules(word).contains(&rule)))?;
    let reason = row.reason.get().map(|sym| facts.text(sym).to_owned());
    Some(Suppression { reason, source: SuppressionSource::Comment })
}

/// Sets the fingerprints of a file's findings, so that equal findings have different ones.
fn set_fingerprints(file: &SourceFile, findings: &mut [CommentFinding]) {
    let mut earlier: Vec<(RuleCode, String)> = Vec::new();
    for (finding, _) in findings {
        let key = (finding.rule, finding.message.clone());
        let occurrence = earlier.iter().filter(|earlier_key| **earlier_key == key).count() as u32;
        finding.fingerprint =
            blocklint_core::fingerprint(finding.rule, &file.relative, "", &finding.message, occurrence);
        earlier.push(key);
    }
}
