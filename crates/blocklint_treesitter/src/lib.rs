//! Common parts of the front ends on tree-sitter: the numbers of a grammar, the walk's state, the comments, the start.

mod comments;
mod kinds;
mod start;
mod walk;

pub use comments::{comments, meant};
pub use kinds::{Children, all, child, first, named, test_tables};
pub use start::{Repair, Started, start};
pub use walk::{Left, Walk, Walking, span};

#[doc(hidden)]
pub use tree_sitter;
