//! Tables of the answers about the rows of models in a program that the linker keeps.

use std::cell::OnceCell;

use blocklint_core::Runtime;

use crate::linker::budget::Depth;
use crate::linker::query::{Plain, Table};
use crate::models::stored_callbacks::During;
use crate::program::ids::FileId;

/// The answers about rows.
#[derive(Default)]
pub(crate) struct ModelTables {
    /// Callables that are kept and run during later calls.
    pub(crate) during: OnceCell<During>,
    /// The runtimes of files that no row describes further.
    pub(crate) runtimes: Table<FileId, Option<Runtime>, Plain>,
    /// The questions for an object's state that wait for each other: rows may make one depend on another's, and two on each other.
    pub(crate) states_asked: Depth<8>,
}
