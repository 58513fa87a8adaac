//! Integration tests of the analysis: its layers, languages, queries, memos and references.

mod implicit_calls;
mod languages;
mod layers;
mod memos;
mod queries;
mod references;
