//! Code that an edit would move, and what binds it to its thread.

pub mod async_chain;
pub mod thread_bound;
pub mod with_blocks;
