//! The linker: names to definitions, receivers to types, calls to targets and to the rows of models, each on demand and remembered.
//!
//! Knows facts and models; knows no syntax, no library by name and no words, nor who runs a body or whether what it does matters.
//! The folders are layers, each of which names only those below it: `code`, `idioms`, `program`, `labels`, `link`.

pub mod code;
pub mod idioms;
pub mod labels;
pub mod link;
pub mod program;
