//! The notation for an argument of a call in a row: `0`, `"name@0"`, `"receiver"`.

use serde::{Deserialize, Serialize};

/// An argument of a call, in the notation of all keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Argument {
    /// The argument at this position, from 0 and without the receiver; negative from the end (`-1` is the last).
    Position(i32),
    /// The argument with this keyword.
    Keyword(String),
    /// The argument with this keyword or at this position (`"name@0"`).
    Either(String, u32),
    /// Every positional argument (`"*"`).
    AllPositional,
    /// The receiver.
    Receiver,
}

impl Argument {
    /// The spellings of an argument, for messages.
    pub const EXPECTED_FORMS: &'static str = r#"0, -1, "name", "name@0", "*" or "receiver""#;

    /// Parses the string forms: `name`, `name@0`, `*`, `receiver`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "*" => return Some(Argument::AllPositional),
            "receiver" => return Some(Argument::Receiver),
            _ => {}
        }
        match text.split_once('@') {
            None if is_identifier(text) => Some(Argument::Keyword(text.to_owned())),
            Some((name, position)) if is_identifier(name) && position.bytes().all(|b| b.is_ascii_digit()) => {
                Some(Argument::Either(name.to_owned(), position.parse().ok()?))
            }
            _ => None,
        }
    }
}

/// True if the text is an identifier of one of the languages.
pub(super) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
}
