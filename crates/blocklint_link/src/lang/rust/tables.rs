//! Tables of the answers about Rust that the linker keeps.

use std::cell::OnceCell;
use std::rc::Rc;

use blocklint_facts::BodyId;

use crate::lang::rust::modules::{Brought, Parents, WholeGlobs};
use crate::linker::query::{Plain, Table};
use crate::program::ids::{BodyRef, FileId, Name, PathId};

/// The answers about Rust.
#[derive(Default)]
pub(crate) struct RustTables {
    /// The module that declares each file.
    pub(crate) parents: OnceCell<Parents>,
    /// The methods of library traits that files import, by name.
    pub(crate) trait_methods: Table<(FileId, Name), Option<PathId>, Plain>,
    /// Values that glob imports bring to a body under a name.
    pub(crate) globs: Table<(FileId, BodyId, Name), Brought, WholeGlobs>,
    /// The methods of one name in all impl blocks of one trait for one type.
    pub(crate) same_in_impls: Table<BodyRef, Rc<[BodyRef]>, Plain>,
}
