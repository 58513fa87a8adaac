//! The document on facts.

mod document;
