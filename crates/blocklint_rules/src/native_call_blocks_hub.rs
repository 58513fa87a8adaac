//! BLT301 native-call-blocks-hub.

use blocklint_core::RuleCode;

use crate::Rule;

/// A native call that no patch makes cooperative, where greenlets run.
pub(crate) static NATIVE_CALL_BLOCKS_HUB: Rule = Rule {
    code: RuleCode(301),
    name: "native-call-blocks-hub",
    summary: "a native call holds the hub of gevent or eventlet, and with it every greenlet",
    page: include_str!("../../../rules/BLT301-native-call-blocks-hub.md"),
    effect: None,
    noun: "native call",
};
