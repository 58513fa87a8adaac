//! BLT302 late-monkey-patch.

use blocklint_core::RuleCode;

use crate::Rule;

/// What was imported before patching keeps what blocks.
pub(crate) static LATE_MONKEY_PATCH: Rule = Rule {
    code: RuleCode(302),
    name: "late-monkey-patch",
    summary: "a name was imported before gevent or eventlet patched it, and still blocks the hub",
    page: include_str!("../../../rules/BLT302-late-monkey-patch.md"),
    effect: None,
    noun: "imported before patching",
};
