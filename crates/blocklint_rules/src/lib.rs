//! The rules: what each reports, in which words, and which of them are chosen.
//!
//! One file per rule; `RULES` is the list of all. Nothing here looks at code: the analysis says what
//! it found in a [`RawFinding`], and [`RawFinding::words`] turns that into sentences.

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
mod invalid_suppression;
mod large_response_on_loop;
mod late_monkey_patch;
mod lock_held_across_await;
mod made_anew;
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

use blocklint_core::{Context, Effect, RuleCode};

pub use async_codes::{AsyncCode, async_codes, rules_of_async};
pub use comments::{malformed, meant, names_rules, probably_meant};
pub use invalid_suppression::INVALID_SUPPRESSION;
pub use large_response_on_loop::{Path, Response};
pub use made_anew::{Anew, Made};
pub use offloads::{Starved, Unbounded};
pub use remedy::{Advice, BoundCall, BoundTo, BoundUse, FixKind, Helpers, Reach, remedy};
pub use remedy_rust::RUST_FIX_SHAPES;
pub use rule::{Rule, repository};
pub use selection::{Layer, Selection, Selector, SelectorError, nearest};
pub use unexplained_suppression::UNEXPLAINED_SUPPRESSION;
pub use unreadable_source::{UNREADABLE_SOURCE, Unread};
pub use unused_suppression::UNUSED_SUPPRESSION;
pub use words::{Along, Owner, OwnerKind, RawFinding, SiteKind, Twin, What, Words};

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

/// The rule that reports an effect in a root's context; `native` says that no library makes the
/// call cooperative. `None` where no rule speaks of it.
///
/// On greenlets one rule reports all native calls, whatever they wait for.
pub fn rule_of(effect: Effect, native: bool, context: Context) -> Option<&'static Rule> {
    match context {
        Context::EventLoop => RULES.iter().copied().find(|rule| rule.effect == Some(effect)),
        Context::Greenlet if native => Some(&native_call_blocks_hub::NATIVE_CALL_BLOCKS_HUB),
        Context::Greenlet | Context::Worker | Context::Unknown => None,
    }
}

/// The rule of a mistake that is no effect of a call.
pub fn rule_of_misuse(what: What<'_>) -> Option<&'static Rule> {
    match what {
        What::Holds => None,
        What::HoldsHub { .. } => Some(&native_call_blocks_hub::NATIVE_CALL_BLOCKS_HUB),
        What::LargeResponse(_) => Some(&large_response_on_loop::LARGE_RESPONSE_ON_LOOP),
        What::LatePatch { .. } => Some(&late_monkey_patch::LATE_MONKEY_PATCH),
        What::CalledInstead { .. } => Some(&called_instead_of_handed_over::CALLED_INSTEAD_OF_HANDED_OVER),
        What::LockOverAwait { .. } => Some(&lock_held_across_await::LOCK_HELD_ACROSS_AWAIT),
        What::Offloads { takes: Some(_), .. } | What::Starves(_) => Some(&pool_starvation::POOL_STARVATION),
        What::Offloads { takes: None, .. } => Some(&unbounded_offload::UNBOUNDED_OFFLOAD),
        What::MadeAnew { made: Made::Threads, .. } => Some(&per_instance_scheduler::PER_INSTANCE_SCHEDULER),
        What::MadeAnew { made: Made::Connections, .. } => Some(&pool_per_call::POOL_PER_CALL),
    }
}

/// The rule with this code.
pub fn rule(code: RuleCode) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code == code)
}

/// The rule that a user names by code (either case) or name.
pub fn rule_named(text: &str) -> Option<&'static Rule> {
    RuleCode::parse(text).and_then(rule).or_else(|| RULES.iter().copied().find(|rule| rule.name == text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_headed_by_its_rule_and_says_what_all_pages_say() {
        for rule in RULES {
            let heading = format!("# {} ({})", rule.name, rule.code);
            assert_eq!(rule.page.lines().next(), Some(heading.as_str()));
            for section in ["## Why", "## What it reports", "## How to fix it", "## When to suppress it", "## Options"]
            {
                assert!(rule.page.contains(section), "{} lacks `{section}`", rule.code);
            }
        }
    }

    /// The examples themselves run with the fixtures: a page cannot show what is not found, or what is.
    #[test]
    fn every_page_has_a_bad_and_a_good_example_and_says_how_safe_its_fix_is() {
        for rule in RULES {
            let says = |word: &str| {
                let is_bad = |level: &&str| rule.page.contains(&format!("{word} {level}: [{}]", rule.name));
                ["error", "warning", "note"].iter().any(is_bad)
            };
            assert!(says("#") || says("//"), "{} shows nothing that is found", rule.code);
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
    fn an_effect_is_reported_only_where_a_thread_must_not_block() {
        let code = |effect, context| rule_of(effect, false, context).map(|rule| rule.code);
        assert_eq!(code(Effect::Sleep, Context::EventLoop), Some(RuleCode(101)));
        assert_eq!(code(Effect::Wait, Context::EventLoop), Some(RuleCode(106)));
        for context in [Context::Worker, Context::Unknown, Context::Greenlet] {
            assert_eq!(code(Effect::Sleep, context), None);
        }
        assert_eq!(code(Effect::NestedLoop, Context::EventLoop), Some(RuleCode(107)));
        assert_eq!(code(Effect::Cpu, Context::EventLoop), Some(RuleCode(108)));
        assert_eq!(code(Effect::Input, Context::EventLoop), Some(RuleCode(109)));
    }
}
