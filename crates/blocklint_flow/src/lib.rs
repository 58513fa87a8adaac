//! From the calls that block up to what must not: who runs a body and when (`entries`), whether a way can be taken (`conditions`), how
//! bad and how sure that is (`judge`), and the search that asks them (`search`) for the ways of its `graph`.
//!
//! The folders are layers, each of which names only those below it: `entries`, `conditions`, `graph`, `judge`, `search`; below them
//! lies all of `blocklint_link`. Entries, conditions and judge never answer for each other.

pub mod conditions;
pub mod entries;
pub mod graph;
pub mod judge;
pub mod search;
