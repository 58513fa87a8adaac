//! What this layer remembers of one program.

use std::cell::RefCell;

use blocklint_link::link::memo::Remembers;
use blocklint_link::program::ids::FileId;
use rustc_hash::FxHashMap;

/// What this layer remembers of one program.
#[derive(Default)]
pub(crate) struct Memo {
    /// With how many values a body compares a form.
    pub(crate) alternatives: RefCell<FxHashMap<(FileId, blocklint_facts::BodyId, blocklint_facts::FormId), usize>>,
    /// With how many texts the functions of a file compare what they call by one name.
    pub(crate) told_apart: RefCell<FxHashMap<(FileId, blocklint_facts::Sym), usize>>,
}

impl Remembers for Memo {
    const PLACE: usize = 2;
}
