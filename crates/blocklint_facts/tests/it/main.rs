//! The document on facts, and facts as they are stored.

mod document;
mod stored;
