//! What this layer remembers of one program.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_link::link::memo::Remembers;
use blocklint_link::program::ids::{BodyRef, FileId, Name, SiteRef};
use rustc_hash::{FxHashMap, FxHashSet};

/// What this layer remembers of one program.
#[derive(Default)]
pub(crate) struct Memo {
    /// The names of library calls that start tasks.
    pub(crate) starting: OnceCell<FxHashSet<String>>,
    pub(crate) begins_beside: RefCell<FxHashMap<BodyRef, Option<u32>>>,
    /// The evidence in each language's files of the project's purpose: of Python, Rust and Java.
    pub(crate) purposes: [OnceCell<crate::entries::purpose::Purposes>; 3],
    /// Packages of Rust that read arguments.
    pub(crate) parsers_of_arguments: OnceCell<FxHashSet<String>>,
    /// Rust: names of library calls that serve.
    pub(crate) serving_names: OnceCell<FxHashSet<String>>,
    /// True if the project is seen to serve others.
    pub(crate) project_serves: OnceCell<bool>,
    pub(crate) asking: RefCell<FxHashMap<FileId, Rc<crate::entries::no_loop::Asking>>>,
    pub(crate) ask_names: RefCell<FxHashMap<Language, Rc<[Name]>>>,
    pub(crate) answering: RefCell<FxHashMap<Language, Rc<FxHashSet<Name>>>>,
    /// What makes sites run the first time only.
    pub(crate) first_times: RefCell<FxHashMap<SiteRef, Option<crate::entries::first_time::FirstTime>>>,
    /// Java: where objects stand without the name of their class.
    pub(crate) objects: RefCell<FxHashMap<FileId, Rc<crate::entries::objects::InFile>>>,
}

impl Remembers for Memo {
    const PLACE: usize = 0;
}
