//! Tests of the document on facts, and of stored facts.

mod document;
mod stored;
