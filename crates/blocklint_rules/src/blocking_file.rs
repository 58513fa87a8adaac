//! BLT104 blocking-file.

use blocklint_core::{Effect, RuleCode};

use crate::Rule;

/// Reports file access: reading, writing, listing or changing files.
pub(crate) static BLOCKING_FILE: Rule = Rule {
    code: RuleCode::BLOCKING_FILE,
    name: "blocking-file",
    summary: "file system access holds a thread that must not block",
    page: include_str!("../../../rules/BLT104-blocking-file.md"),
    effect: Some(Effect::File),
    noun: "blocking file access",
    mistake_words: None,
};
