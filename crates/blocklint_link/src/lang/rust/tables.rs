//! Rust: the linker's memo tables: modules, imported trait methods, glob imports, impl blocks.

use std::cell::OnceCell;
use std::rc::Rc;

use blocklint_facts::BodyId;

use crate::lang::rust::modules::{GlobItems, Parents, WholeGlobs};
use crate::linker::query::{Plain, Table};
use crate::program::ids::{BodyRef, FileId, Name, PathId};

/// The memoized answers of queries about Rust.
#[derive(Default)]
pub(crate) struct RustTables {
    /// The module that declares each file.
    pub(crate) parents: OnceCell<Parents>,
    /// The methods of library traits that a file imports, by name.
    pub(crate) trait_methods: Table<(FileId, Name), Option<PathId>, Plain>,
    /// The items that glob imports bind to a name in a body.
    pub(crate) glob_items: Table<(FileId, BodyId, Name), GlobItems, WholeGlobs>,
    /// The methods of one name in all impl blocks of one trait for one type.
    pub(crate) same_methods: Table<BodyRef, Rc<[BodyRef]>, Plain>,
}
