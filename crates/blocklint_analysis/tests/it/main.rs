//! Tests of the crate as a whole.

mod implicit_calls;
mod layers;
mod memos;
mod queries;
mod references;
