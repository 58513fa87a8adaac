//! What this layer remembers of one program.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use blocklint_core::Language;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::link::memo::Remembers;
use crate::program::ids::{ClassRef, FileId, Name};

/// What this layer remembers of one program.
#[derive(Default)]
pub(crate) struct Memo {
    /// Classes of which libraries make instances of requests, on an event loop.
    pub(crate) parsed: OnceCell<FxHashSet<ClassRef>>,
    /// The names of library calls that start tasks.
    pub(crate) starting: OnceCell<FxHashSet<String>>,
    pub(crate) asking: RefCell<FxHashMap<FileId, Rc<crate::entries::no_loop::Asking>>>,
    pub(crate) ask_names: RefCell<FxHashMap<Language, Rc<[Name]>>>,
    pub(crate) answering: RefCell<FxHashMap<Language, Rc<FxHashSet<Name>>>>,
    /// Java: where the project's classes are deployed.
    pub(crate) deployments: OnceCell<crate::entries::deployed::Deployments>,
    /// Java: whether a module answers requests on a servlet container's threads, by its path.
    pub(crate) servlets: RefCell<FxHashMap<String, bool>>,
    /// Python: whether files that import no runtime run on Twisted's reactor.
    pub(crate) on_twisted: OnceCell<bool>,
    /// The runtimes of files of which no row says more.
    pub(crate) runtimes: RefCell<FxHashMap<FileId, Option<blocklint_core::Runtime>>>,
}

impl Remembers for Memo {
    const PLACE: usize = 0;
}
