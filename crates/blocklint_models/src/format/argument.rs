//! How a row names one argument of the call it describes.

use serde::{Deserialize, Serialize};

/// One argument of a call, in the one notation that all keys share.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Argument {
    /// By position, from 0, the receiver not counted; negative from the end (`-1` is the last).
    Position(i32),
    /// Only by keyword.
    Keyword(String),
    /// By keyword or at this position.
    Either(String, u32),
    /// Every positional argument (`"*"`).
    AllPositional,
    /// The receiver.
    Receiver,
}

impl Argument {
    /// The spellings of an argument, for messages.
    pub const FORMS: &'static str = r#"0, -1, "name", "name@0", "*" or "receiver""#;

    /// Reads the string forms: `name`, `name@0`, `*`, `receiver`.
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

/// True if the text is one identifier of any of the languages.
pub(super) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
}
