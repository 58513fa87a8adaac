//! Qualified names and source text for messages.

pub(crate) mod qualified_name;
pub(crate) mod source_text;
