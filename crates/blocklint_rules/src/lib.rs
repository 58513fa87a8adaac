//! The rules: their names, pages, messages and edits (one file per rule, all in the list [`RULES`]), and their
//! selection by `--select` and `--ignore`.
//!
//! This crate reads no code: the analysis describes a finding by a [`Subject`], and [`Subject::words`] returns its
//! sentences.

mod advice;
mod async_codes;
mod blocking_database;
mod blocking_file;
mod blocking_input;
mod blocking_network;
mod blocking_sleep;
mod blocking_subprocess;
mod blocking_wait;
mod called_instead_of_handed_over;
mod comments;
mod cpu_bound;
mod created_repeatedly;
mod invalid_suppression;
mod large_response_on_loop;
mod late_monkey_patch;
mod lock_held_across_await;
mod native_call_blocks_hub;
mod nested_event_loop;
mod offloads;
mod per_instance_scheduler;
mod pool_per_call;
mod pool_starvation;
mod remedy;
mod remedy_java;
mod remedy_rust;
mod rule;
mod selection;
mod unbounded_offload;
mod unexplained_suppression;
mod unreadable_source;
mod unused_suppression;
mod words;

use blocklint_core::RuleCode;

pub use async_codes::{AsyncCode, async_codes, rules_of_async_code};
pub use comments::{diagnose_comment, mentions_rules, resolve_rules, suggest_rule};
pub use invalid_suppression::INVALID_SUPPRESSION;
pub use remedy::{Advice, AsyncHelpers, Availability, choose_remedy, refusal_of_bound};
pub use remedy_rust::RUST_FIX_SHAPES;
pub use rule::{Rule, repository};
pub use selection::{Layer, Selection, Selector, SelectorError, nearest_rule};
pub use unexplained_suppression::UNEXPLAINED_SUPPRESSION;
pub use unreadable_source::{UNREADABLE_SOURCE, Unread};
pub use unused_suppression::UNUSED_SUPPRESSION;
pub use words::{FindingText, Owner, OwnerKind, SiteForm, Subject, Twin, WhyNotAlone};

/// Every rule, by code.
pub static RULES: &[&Rule] = &[
    &blocking_sleep::BLOCKING_SLEEP,
    &blocking_network::BLOCKING_NETWORK,
    &blocking_database::BLOCKING_DATABASE,
    &blocking_file::BLOCKING_FILE,
    &blocking_subprocess::BLOCKING_SUBPROCESS,
    &blocking_wait::BLOCKING_WAIT,
    &nested_event_loop::NESTED_EVENT_LOOP,
    &cpu_bound::CPU_BOUND,
    &blocking_input::BLOCKING_INPUT,
    &large_response_on_loop::LARGE_RESPONSE_ON_LOOP,
    &native_call_blocks_hub::NATIVE_CALL_BLOCKS_HUB,
    &late_monkey_patch::LATE_MONKEY_PATCH,
    &unbounded_offload::UNBOUNDED_OFFLOAD,
    &pool_starvation::POOL_STARVATION,
    &called_instead_of_handed_over::CALLED_INSTEAD_OF_HANDED_OVER,
    &per_instance_scheduler::PER_INSTANCE_SCHEDULER,
    &pool_per_call::POOL_PER_CALL,
    &lock_held_across_await::LOCK_HELD_ACROSS_AWAIT,
    &UNUSED_SUPPRESSION,
    &UNREADABLE_SOURCE,
    &INVALID_SUPPRESSION,
    &UNEXPLAINED_SUPPRESSION,
];

/// Returns the rule with this code.
pub fn rule(code: RuleCode) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code == code)
}

/// Returns the rule with this code (of either case) or name, as users write it.
pub fn rule_named(text: &str) -> Option<&'static Rule> {
    RuleCode::parse(text).and_then(rule).or_else(|| RULES.iter().copied().find(|rule| rule.name == text))
}

#[cfg(test)]
mod tests {
    use blocklint_core::{Context, Effect, rule_of};

    use super::*;

    #[test]
    fn every_page_has_the_heading_of_its_rule_and_all_sections() {
        for rule in RULES {
            let heading = format!("# {} ({})", rule.name, rule.code);
            assert_eq!(rule.page.lines().next(), Some(heading.as_str()));
            for section in ["## Why", "## What it reports", "## How to fix it", "## When to suppress it", "## Options"]
            {
                assert!(rule.page.contains(section), "{} lacks `{section}`", rule.code);
            }
        }
    }

    /// The fixtures run the examples, so that each expectation on a page is true.
    #[test]
    fn every_page_has_a_bad_and_a_good_example_and_says_how_safe_its_fix_is() {
        for rule in RULES {
            let has_expectation = |marker: &str| {
                let is_on_page = |level: &&str| rule.page.contains(&format!("{marker} {level}: [{}]", rule.name));
                ["error", "warning", "note"].iter().any(is_on_page)
            };
            let is_bad_shown = has_expectation("#") || has_expectation("//");
            assert!(is_bad_shown, "{} shows nothing that is found", rule.code);
            assert!(rule.page.contains("# ok") || rule.page.contains("// ok"), "{} shows nothing good", rule.code);
            let fix = rule.page.split("**Fix:** ").nth(1).unwrap_or_default();
            let fix = fix.split("\n\n").next().unwrap_or_default();
            let safety = ["safe", "none", "display", "shown"];
            assert!(
                safety.iter().any(|word| fix.contains(word)),
                "{} does not say how safe its fix is: {fix}",
                rule.code
            );
        }
    }

    #[test]
    fn codes_ascend_and_names_differ() {
        for pair in RULES.windows(2) {
            assert!(pair[0].code < pair[1].code);
        }
        for rule in RULES {
            assert_eq!(rule_named(rule.name).map(|found| found.code), Some(rule.code));
            assert_eq!(rule_named(&rule.code.to_string().to_lowercase()).map(|found| found.code), Some(rule.code));
        }
    }

    #[test]
    fn each_effect_has_the_rule_that_reports_it() {
        for rule in RULES {
            assert!(rule.effect.is_none_or(|effect| effect.rule() == rule.code), "{}", rule.name);
        }
        for &effect in Effect::ALL {
            assert_eq!(rule(effect.rule()).and_then(|rule| rule.effect), Some(effect));
        }
        for context in [Context::Worker, Context::Unknown, Context::Greenlet] {
            assert_eq!(rule_of(Effect::Sleep, false, context), None);
        }
    }
}
