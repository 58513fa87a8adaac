//! BLT107 nested-event-loop.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// Reports an event loop that is run inside of another one: the call raises, or the outer loop stops meanwhile.
pub(crate) static NESTED_EVENT_LOOP: Rule = Rule {
    code: RuleCode::NESTED_EVENT_LOOP,
    name: "nested-event-loop",
    summary: "a second event loop is run on a thread whose loop already runs",
    page: include_str!("../../../rules/BLT107-nested-event-loop.md"),
    effect: Some(Effect::NestedLoop),
    noun: "nested event loop",
    mistake_words: None,
};
