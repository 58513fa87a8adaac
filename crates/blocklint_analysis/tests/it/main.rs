//! Integration tests of the analysis: its layers, queries, memos and references.

mod implicit_calls;
mod layers;
mod memos;
mod queries;
mod references;
