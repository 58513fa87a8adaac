//! Names and source text for people.

pub(crate) mod qualified_name;
pub(crate) mod source_text;
