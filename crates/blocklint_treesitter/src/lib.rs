//! Common parts of the front ends on tree-sitter (Rust, Java): the numbers of a grammar's node kinds, the parse of a
//! file, the state of the walk over its tree, and blocklint's comments.

mod comments;
mod kinds;
mod start;
mod walk;

pub use comments::{record_directives, record_intent_comments};
pub use kinds::{Children, all, child, first, named, test_tables};
pub use start::{Repair, StartedWalk, start_walk};
pub use walk::{OuterState, Walk, Walking, span};

#[doc(hidden)]
pub use tree_sitter;
