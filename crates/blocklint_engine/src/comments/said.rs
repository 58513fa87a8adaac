//! The findings about suppression comments, with their messages, help and edits.

use std::sync::Arc;

use blocklint_core::{Finding, Place, RuleCode, Severity};
use blocklint_facts::SuppressionKind;
use blocklint_rules::{
    INVALID_SUPPRESSION, UNEXPLAINED_SUPPRESSION, UNUSED_SUPPRESSION, diagnose_comment, suggest_rule,
};

use rustc_hash::FxHashSet;

use super::edit::CommentEdit;
use super::{Comment, has_our_prefix, suppression_of};

/// Returns the finding about a comment that suppresses nothing, or about those of its words that do not (`idle`).
/// `idle` is empty for a comment without words.
pub(super) fn unused(comment: &Comment<'_>, idle: &[&str]) -> (Finding, Option<CommentEdit>) {
    let is_whole = idle.len() == comment.words.len();
    let message = match idle {
        [] => "unused suppression".to_owned(),
        idle => format!("unused suppression of {}", quote_words(idle)),
    };
    let note = match idle {
        [] => "no finding is here",
        [_] => "no call that this rule reports is here or is reached from here",
        _ => "no call that these rules report is here or is reached from here",
    };
    let help =
        if is_whole { "remove the suppression".to_owned() } else { format!("remove {} from it", quote_words(idle)) };
    let instead = comment.words.iter().filter(|(word, _)| !idle.contains(word)).map(|(word, _)| (*word).to_owned());
    let edit = CommentEdit { title: capitalise(&help), words: written_words(comment), instead: instead.collect() };
    let mut finding = new_finding(comment, UNUSED_SUPPRESSION.code, message);
    finding.notes.push(note.to_owned());
    finding.help = Some(help);
    (finding, Some(edit))
}

/// Returns the finding about a comment with unknown rules.
pub(super) fn unknown(comment: &Comment<'_>) -> Option<(Finding, Option<CommentEdit>)> {
    let is_other_tool = |word: &str| comment.kind == SuppressionKind::Noqa && !has_our_prefix(word);
    let unknown: Vec<&str> = comment
        .words
        .iter()
        .filter(|(word, rules)| rules.is_empty() && !is_other_tool(word))
        .map(|(word, _)| *word)
        .collect();
    if unknown.is_empty() {
        return None;
    }
    let rules = if unknown.len() == 1 { "rule" } else { "rules" };
    let near: Vec<(&str, String)> = unknown.iter().filter_map(|word| Some((*word, suggest_rule(word)?))).collect();
    let instead = near.iter().map(|(word, near)| format!("`{near}` instead of `{word}`")).collect::<Vec<_>>();
    // The question is in the message, because most formats show only the message.
    let question = match (near.as_slice(), unknown.len()) {
        ([], _) => String::new(),
        ([(_, near)], 1) => format!("; did you mean `{near}`?"),
        _ => format!("; did you mean {}?", instead.join(", ")),
    };
    let message = format!("unknown {rules} {} in a comment{question}", quote_words(&unknown));
    let mut finding = new_finding(comment, INVALID_SUPPRESSION.code, message);
    finding.notes.push("the comment suppresses nothing by that name".to_owned());
    if near.is_empty() {
        finding.help = Some("`blocklint rule --all` shows all rules".to_owned());
        return Some((finding, None));
    }
    let help = format!("write {}", instead.join(", "));
    let instead = comment.words.iter().map(|(word, _)| {
        let near = near.iter().find(|(unknown, _)| unknown == word);
        near.map_or((*word).to_owned(), |(_, near)| near.clone())
    });
    let mut instead: Vec<String> = instead.collect();
    // A replacement may be in the comment already, and is not written twice.
    let mut written = FxHashSet::default();
    instead.retain(|word| written.insert(word.clone()));
    Some((finding, Some(CommentEdit { title: capitalise(&help), words: written_words(comment), instead })))
}

/// Returns the finding about a malformed comment; `text` is its whole text.
pub(super) fn malformed(comment: &Comment<'_>, text: &str) -> Option<(Finding, Option<CommentEdit>)> {
    let (mistake, instead) = diagnose_comment(text)?;
    let instead = instead.map_or_else(String::new, |instead| format!("; write `{instead}`"));
    let mut finding =
        new_finding(comment, INVALID_SUPPRESSION.code, format!("comment cannot be read: {mistake}{instead}"));
    finding.notes.push("it suppresses nothing".to_owned());
    Some((finding, None))
}

/// Returns the finding about a comment without a required reason.
pub(super) fn unexplained(comment: &Comment<'_>) -> (Finding, Option<CommentEdit>) {
    let mut finding = new_finding(comment, UNEXPLAINED_SUPPRESSION.code, "suppression without a reason".to_owned());
    finding.notes.push("`require-reason` of the configuration asks for one".to_owned());
    finding.help = Some(match comment.kind {
        SuppressionKind::Noqa => "add the reason after the codes: `noqa: BLT101 because …`".to_owned(),
        _ => "add the reason after the brackets: `blocklint: ignore[BLT101] because …`".to_owned(),
    });
    (finding, None)
}

fn new_finding(comment: &Comment<'_>, rule: RuleCode, message: String) -> Finding {
    let span = comment.file.facts.suppressions[comment.index as usize].comment;
    let place = Place::unlocated(Arc::clone(&comment.file.path), span);
    Finding {
        suppression: suppression_of(comment, rule),
        ..Finding::of_source(rule, Severity::Warning, message, place)
    }
}

fn written_words(comment: &Comment<'_>) -> Vec<String> {
    comment.words.iter().map(|(word, _)| (*word).to_owned()).collect()
}

/// Returns a list of words: `` `a`, `b` and `c` ``.
fn quote_words(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.join(""),
    }
}

fn capitalise(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
