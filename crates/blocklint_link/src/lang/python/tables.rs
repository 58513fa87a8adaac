//! Tables of the answers about Python that the linker keeps.

use std::cell::OnceCell;
use std::rc::Rc;

use blocklint_facts::{FormId, Sym, VarId};
use rustc_hash::FxHashSet;

use crate::linker::query::{Plain, Table};
use crate::program::ids::{ClassRef, FileId, SiteRef};
use crate::values::value::Val;

/// The answers about Python.
#[derive(Default)]
pub(crate) struct PythonTables<'a> {
    /// Values of absolute imports, by the import root of the file and the dotted path.
    pub(crate) modules: Table<(&'a str, String), Val, Plain>,
    /// The import root that the files of a folder lie under.
    pub(crate) own_roots: Table<&'a str, &'a str, Plain>,
    /// The modules whose names a file imports with `*`.
    pub(crate) stars: Table<FileId, Rc<[Val]>, Plain>,
    /// True if a key of a body's `**kwargs` is changed before a call reads it.
    pub(crate) changed_keys: Table<(SiteRef, VarId), bool, Plain>,
    /// Arguments that calls take from dictionaries which they unpack, by their keys.
    pub(crate) unpacked: Table<SiteRef, Rc<[(Sym, FormId)]>, Plain>,
    /// Classes of which libraries make instances of requests, on an event loop.
    pub(crate) parsed: OnceCell<FxHashSet<ClassRef>>,
    /// True if files that import no runtime run on Twisted's reactor.
    pub(crate) on_twisted: OnceCell<bool>,
}
