//! Tables of the answers about guards that the linker keeps.

use std::rc::Rc;

use crate::guards::branch::End;
use crate::linker::query::{Plain, Table};
use crate::program::ids::BodyRef;

/// The answers about guards.
#[derive(Default)]
pub(crate) struct GuardTables {
    /// The ends of functions with the branches that they stand under.
    pub(crate) ends: Table<BodyRef, Rc<[End]>, Plain>,
}
