//! Findings about suppression comments: they are not needed (BLT901), cannot be read (BLT903), or lack a required
//! reason (BLT904).

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

/// The checks of comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommentChecks {
    /// The rules of which it is known whether a comment is needed: a bit for each, by its index in the list of rules.
    known: u64,
    /// True if comments must have a reason.
    demands_reason: bool,
}

impl CommentChecks {
    /// Returns the checks that a run over a project can make. If the run does not select a rule or sees only a part of
    /// the project, it cannot know if a comment is needed.
    pub fn new(project: &Project, selection: &Selection) -> Self {
        let bit = |(index, rule): (usize, &&'static blocklint_rules::Rule)| {
            u64::from(project.is_whole && selection.contains(rule.code)) << index
        };
        CommentChecks {
            known: RULES.iter().enumerate().map(bit).fold(0, |all, bit| all | bit),
            demands_reason: project.configuration.require_reason,
        }
    }

    fn knows(self, rule: RuleCode) -> bool {
        RULES.iter().position(|known| known.code == rule).is_some_and(|index| self.known & (1 << index) != 0)
    }

    fn knows_all(self) -> bool {
        RULES.iter().all(|rule| rule.code.0 >= 900 || self.knows(rule.code))
    }
}

/// Returns the languages of which some file was not read, or only in part: its calls may be what a comment is for.
pub(crate) fn unread_languages(project: &Project, extracted: &[Extracted]) -> Vec<Language> {
    let mut unread: Vec<Language> = Vec::new();
    for (file, extracted) in project.files.iter().zip(extracted) {
        if extracted.unread.is_some() && !unread.contains(&file.language) {
            unread.push(file.language);
        }
    }
    unread
}

/// Returns the findings about comments in reported files whose slots are meant, and what mends them.
pub(crate) fn comments(
    files: &[SourceFile],
    solved: &Solved,
    checks: CommentChecks,
    unread: &[Language],
    is_meant: impl Fn(usize) -> bool,
) -> Vec<(Finding, Option<CommentEdit>)> {
    let used: FxHashSet<(usize, u32, RuleCode)> =
        solved.used_comments.iter().map(|one| (one.file.index(), one.comment, one.rule)).collect();
    let mut found = Vec::new();
    for (slot, file) in files.iter().enumerate().filter(|(slot, file)| file.reported && is_meant(*slot)) {
        let known = if unread.contains(&file.facts.language) { CommentChecks { known: 0, ..checks } } else { checks };
        let before = found.len();
        for index in 0..file.facts.suppressions.len() as u32 {
            let is_used = |rule| used.contains(&(slot, index, rule));
            of_comment(file, index, known, &is_used, &mut found);
        }
        number(file, &mut found[before..]);
    }
    found
}

/// One comment, as it is read.
struct Comment<'a> {
    file: &'a SourceFile,
    index: u32,
    kind: SuppressionKind,
    /// The words of the comment as written, with the rules that they mean. For `noqa`, codes of other tools are
    /// included.
    words: Vec<(&'a str, Vec<RuleCode>)>,
}

fn of_comment(
    file: &SourceFile,
    index: u32,
    checks: CommentChecks,
    is_used: &dyn Fn(RuleCode) -> bool,
    found: &mut Vec<(Finding, Option<CommentEdit>)>,
) {
    let row = file.facts.suppressions[index as usize];
    let reason = row.reason.get().map_or("", |sym| file.facts.text(sym));
    let words = words(&file.facts, index).map(|word| (word, resolve_rules(word))).collect();
    let comment = Comment { file, index, kind: row.kind, words };
    match row.kind {
        SuppressionKind::Malformed => found.extend(said::malformed(&comment, reason)),
        SuppressionKind::Ignore if comment.words.is_empty() && mentions_rules(reason) => {
            let is_of_file = row.line == file.facts.body(BodyId(0)).span;
            let word = if is_of_file { "ignore-file" } else { "ignore" };
            found.extend(said::malformed(&comment, &format!("blocklint: {word} {reason}")));
        }
        SuppressionKind::Ignore | SuppressionKind::Noqa if comment.is_ours() => {
            found.extend(said::unknown(&comment));
            found.extend(unused(&comment, checks, is_used));
            if checks.demands_reason && reason.is_empty() {
                found.push(said::unexplained(&comment));
            }
        }
        _ => {}
    }
}

impl Comment<'_> {
    /// True if the comment addresses blocklint. A bare `noqa` addresses all tools.
    fn is_ours(&self) -> bool {
        match self.kind {
            SuppressionKind::Noqa => self.words.iter().any(|(word, rules)| !rules.is_empty() || seems_ours(word)),
            _ => true,
        }
    }
}

/// True if a code of `noqa` can only be blocklint's.
fn seems_ours(word: &str) -> bool {
    word.get(..3).is_some_and(|head| head.eq_ignore_ascii_case("BLT"))
}

/// Returns the rules that a comment names, as written.
fn words(facts: &FileFacts, index: u32) -> impl Iterator<Item = &str> {
    let list = facts.list(facts.suppressions[index as usize].rules);
    list.iter().filter_map(|&word| match facts.form(word) {
        Form::Str(sym) => Some(facts.text(sym)),
        _ => None,
    })
}

/// Returns the part of a comment that is not needed.
fn unused(
    comment: &Comment<'_>,
    checks: CommentChecks,
    is_used: &dyn Fn(RuleCode) -> bool,
) -> Option<(Finding, Option<CommentEdit>)> {
    if comment.words.is_empty() {
        let idle = checks.knows_all() && !RULES.iter().any(|rule| is_used(rule.code));
        return idle.then(|| said::unused(comment, &[]));
    }
    // A rule that an earlier word silences is not silenced by a later one.
    let mut claimed: Vec<RuleCode> = Vec::new();
    let mut idle = Vec::new();
    for (word, rules) in &comment.words {
        let about_code = !rules.is_empty() && rules.iter().all(|rule| rule.0 < 900);
        let needed = rules.iter().copied().filter(|&rule| is_used(rule) && !claimed.contains(&rule));
        let needed: Vec<RuleCode> = needed.collect();
        if about_code && needed.is_empty() && rules.iter().all(|&rule| checks.knows(rule)) {
            idle.push(*word);
        }
        claimed.extend(needed);
    }
    (!idle.is_empty()).then(|| said::unused(comment, &idle))
}

/// Returns the comment that silences a finding about a comment: one that covers its line, or the very one.
fn silenced(comment: &Comment<'_>, rule: RuleCode) -> Option<Suppression> {
    let facts = &comment.file.facts;
    let place = facts.suppressions[comment.index as usize].comment;
    let mut rows = facts.suppressions.iter().enumerate().filter(|(_, row)| {
        matches!(row.kind, SuppressionKind::Ignore | SuppressionKind::Noqa)
            && (row.comment == place || row.line.contains_offset(place.start))
    });
    let (_, row) =
        rows.find(|(index, _)| words(facts, *index as u32).any(|word| resolve_rules(word).contains(&rule)))?;
    let reason = row.reason.get().map(|sym| facts.text(sym).to_owned());
    Some(Suppression { reason, source: SuppressionSource::Comment })
}

/// Gives equal findings of a file fingerprints that differ.
fn number(file: &SourceFile, found: &mut [(Finding, Option<CommentEdit>)]) {
    let mut seen: Vec<(RuleCode, String)> = Vec::new();
    for (finding, _) in found {
        let key = (finding.rule, finding.message.clone());
        let occurrence = seen.iter().filter(|known| **known == key).count() as u32;
        finding.fingerprint =
            blocklint_core::fingerprint(finding.rule, &file.relative, "", &finding.message, occurrence);
        seen.push(key);
    }
}
