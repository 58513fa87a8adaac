//! The rules that a suppression comment suppresses: `ignore[BLT104]`, `noqa: ASYNC251`.

use blocklint_analysis::ResolvedSuppression;
use blocklint_core::RuleCode;
use blocklint_facts::{FileFacts, SuppressionKind};
use blocklint_rules::{mentions_rules, resolve_rules, rules_of_async_code};

use super::written_rules;

/// Returns the comments of a file that suppress rules, in order. A `noqa` with codes of other tools suppresses nothing.
/// Rules without brackets (`ignore BLT104`) suppress nothing either, because they are a mistake and not a reason
/// (BLT903).
pub(crate) fn resolve_suppressions(facts: &FileFacts) -> Vec<ResolvedSuppression> {
    let rows = facts.suppressions.iter().enumerate();
    let resolved_suppressions = rows.filter_map(|(index, row)| {
        let is_noqa = row.kind == SuppressionKind::Noqa;
        if !is_noqa && row.kind != SuppressionKind::Ignore {
            return None;
        }
        let index = index as u32;
        let rules: Vec<RuleCode> = written_rules(facts, index).flat_map(resolve_rules).collect();
        let aliases =
            if is_noqa { written_rules(facts, index).flat_map(rules_of_foreign_code).collect() } else { Vec::new() };
        if rules.is_empty() && aliases.is_empty() && !row.rules.is_empty() {
            return None;
        }
        let reason = row.reason.get().map(|sym| facts.text(sym));
        if row.rules.is_empty() && !is_noqa && reason.is_some_and(mentions_rules) {
            return None;
        }
        Some(ResolvedSuppression { index, rules, aliases })
    });
    resolved_suppressions.collect()
}

/// Returns the rules that report the same direct calls as a code of another linter (`ASYNC251`). Codes in lower case
/// have none, because ruff and flake8 do not read them.
fn rules_of_foreign_code(code: &str) -> Vec<RuleCode> {
    if code.bytes().any(|letter| letter.is_ascii_lowercase()) { Vec::new() } else { rules_of_async_code(code) }
}
