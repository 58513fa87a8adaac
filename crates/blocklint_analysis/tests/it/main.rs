//! Tests of the crate as a whole.

mod layers;
mod memos;
mod queries;
mod references;
