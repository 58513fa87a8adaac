//! The memo tables of queries about model rows.

use std::cell::OnceCell;

use blocklint_core::Runtime;

use crate::linker::budget::Depth;
use crate::linker::query::{Plain, Table};
use crate::models::stored_callbacks::StoredCallbacks;
use crate::program::ids::FileId;

/// The memo tables of queries about model rows.
#[derive(Default)]
pub(crate) struct ModelTables {
    /// The rules for callables that a library object stores and runs during later calls.
    pub(crate) stored_callbacks: OnceCell<StoredCallbacks>,
    /// The default runtimes of files.
    pub(crate) runtimes: Table<FileId, Option<Runtime>, Plain>,
    /// The recursion limit of queries for an object's state, because conditions of rows may make the states of two
    /// objects depend on each other.
    pub(crate) state_depth: Depth<8>,
}
