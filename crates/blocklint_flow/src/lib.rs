//! The search from blocking calls up to functions that must not block. `callers` finds the callers of a body, `entries`
//! the bodies that must not block, `lifecycle` when and how often code runs, `guards` the paths that are impossible,
//! and `judge` severity and confidence. `search` propagates the labels, and `graph` stores the result.
//!
//! The folders are layers, and each layer imports only from the layers before it: `callers`, `entries`, `lifecycle`,
//! `guards`, `graph`, `judge`, `search`. All of `blocklint_link` is below them.

pub mod callers;
pub mod entries;
pub mod graph;
pub mod guards;
pub mod judge;
pub mod lifecycle;
pub mod search;
