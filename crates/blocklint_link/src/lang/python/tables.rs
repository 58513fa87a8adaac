//! Python: the linker's memo tables: modules of imports, star imports, changed keys of `**kwargs`, request models.

use std::cell::OnceCell;
use std::rc::Rc;

use blocklint_facts::{FormId, Sym, VarId};
use rustc_hash::FxHashSet;

use crate::linker::query::{Plain, Table};
use crate::program::ids::{ClassRef, FileId, SiteRef};
use crate::values::value::Val;

/// The memoized answers of queries about Python.
#[derive(Default)]
pub(crate) struct PythonTables<'a> {
    /// Values of absolute imports, by the import root of the file and the dotted path.
    pub(crate) import_modules: Table<(&'a str, String), Val, Plain>,
    /// The import root of the files of a folder.
    pub(crate) import_roots: Table<&'a str, &'a str, Plain>,
    /// The modules whose names a file imports with `*`.
    pub(crate) star_modules: Table<FileId, Rc<[Val]>, Plain>,
    /// True if a key of a body's `**kwargs` is changed before a call reads it.
    pub(crate) changed_keys: Table<(SiteRef, VarId), bool, Plain>,
    /// The keyword arguments that a call unpacks from dictionaries: `f(**options)`.
    pub(crate) unpacked_arguments: Table<SiteRef, Rc<[(Sym, FormId)]>, Plain>,
    /// The classes of request models (`request_models.rs`).
    pub(crate) request_models: OnceCell<FxHashSet<ClassRef>>,
    /// True if files that import no async runtime run on Twisted's reactor.
    pub(crate) on_twisted: OnceCell<bool>,
}
