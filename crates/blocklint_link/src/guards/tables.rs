//! The memo tables of queries about guards.

use std::rc::Rc;

use crate::guards::branch::GuardedReturn;
use crate::linker::query::{Plain, Table};
use crate::program::ids::BodyRef;

/// The memo tables of queries about guards.
#[derive(Default)]
pub(crate) struct GuardTables {
    /// The `return` statements of functions with the guards of their branches.
    pub(crate) guarded_returns: Table<BodyRef, Rc<[GuardedReturn]>, Plain>,
}
