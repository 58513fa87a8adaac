//! The search from calls that block up to functions that must not: who calls a body (`callers`), which bodies must not block
//! (`entries`), when and how often code runs (`lifecycle`), whether a path is possible (`guards`), how bad and how sure it is
//! (`judge`), and the search that asks them (`search`) and keeps what it found (`graph`).
//!
//! The folders are layers, each of which names only those below it: `callers`, `entries`, `lifecycle`, `guards`, `graph`,
//! `judge`, `search`; below them lies all of `blocklint_link`.

pub mod callers;
pub mod entries;
pub mod graph;
pub mod guards;
pub mod judge;
pub mod lifecycle;
pub mod search;
