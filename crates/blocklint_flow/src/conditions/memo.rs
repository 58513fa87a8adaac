//! What this layer remembers of one program.

use std::cell::RefCell;
use std::rc::Rc;

use blocklint_link::link::memo::Remembers;
use blocklint_link::program::ids::FileId;
use rustc_hash::FxHashMap;

/// The conditions on parameters around a branch, from the inside out.
type GuardsOf = Rc<[blocklint_link::labels::label::Guard]>;

/// What this layer remembers of one program.
#[derive(Default)]
pub(crate) struct Memo {
    /// The conditions on parameters around the places of a branch.
    pub(crate) guards: RefCell<FxHashMap<(FileId, blocklint_facts::RegionId), GuardsOf>>,
    /// What the branches around the places of a branch say of the fields of an object.
    pub(crate) own_tests:
        RefCell<FxHashMap<(FileId, blocklint_facts::RegionId), crate::conditions::own_state::OwnTests>>,
    /// What calls would take along to another thread.
    pub(crate) carried: RefCell<crate::conditions::bound::Known>,
    /// Which objects find a label's implementation.
    pub(crate) found_by: RefCell<crate::conditions::receivers::FoundBy>,
}

impl Remembers for Memo {
    const PLACE: usize = 1;
}
