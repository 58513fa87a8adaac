//! The rules that the words of a comment mean: `ignore[BLT104]`, `noqa: ASYNC251`.

use blocklint_analysis::SilencingComment;
use blocklint_core::RuleCode;
use blocklint_facts::{FileFacts, SuppressionKind};
use blocklint_rules::{mentions_rules, resolve_rules, rules_of_async_code};

use super::words;

/// Returns the comments of a file that silence rules, in order. Codes of other tools silence nothing, and words without brackets that
/// name rules (`ignore BLT104`) are a mistake instead of a reason.
pub(crate) fn silencing_comments(facts: &FileFacts) -> Vec<SilencingComment> {
    let rows = facts.suppressions.iter().enumerate();
    let silencing = rows.filter_map(|(index, row)| {
        let is_noqa = row.kind == SuppressionKind::Noqa;
        if !is_noqa && row.kind != SuppressionKind::Ignore {
            return None;
        }
        let index = index as u32;
        let rules: Vec<RuleCode> = words(facts, index).flat_map(resolve_rules).collect();
        let aliases = if is_noqa { words(facts, index).flat_map(rules_of_code).collect() } else { Vec::new() };
        if rules.is_empty() && aliases.is_empty() && !row.rules.is_empty() {
            return None;
        }
        let reason = row.reason.get().map(|sym| facts.text(sym));
        if row.rules.is_empty() && !is_noqa && reason.is_some_and(mentions_rules) {
            return None;
        }
        Some(SilencingComment { index, rules, aliases })
    });
    silencing.collect()
}

/// Returns the rules that see the same direct call as a code of another linter. ruff and flake8 read codes in capital letters only.
fn rules_of_code(code: &str) -> Vec<RuleCode> {
    match code.bytes().any(|letter| letter.is_ascii_lowercase()) {
        true => Vec::new(),
        false => rules_of_async_code(code),
    }
}
