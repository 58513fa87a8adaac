//! What this layer remembers of one program.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::link::memo::Remembers;
use crate::program::ids::{BodyRef, FileId, VarRef};

/// The conditions on parameters around a branch, from the inside out.
type GuardsOf = Rc<[crate::labels::label::Guard]>;

/// What this layer remembers of one program.
#[derive(Default)]
pub(crate) struct Memo {
    /// The ends of functions with the branches that they stand under.
    pub(crate) ends: RefCell<FxHashMap<BodyRef, Rc<[crate::conditions::branches::End]>>>,
    /// The conditions on parameters around the places of a branch.
    pub(crate) guards: RefCell<FxHashMap<(FileId, blocklint_facts::RegionId), GuardsOf>>,
    /// What the branches around the places of a branch say of the fields of an object.
    pub(crate) own_tests:
        RefCell<FxHashMap<(FileId, blocklint_facts::RegionId), crate::conditions::own_state::OwnTests>>,
    /// Java: the literals that fields always hold.
    pub(crate) literal_fields: RefCell<FxHashMap<VarRef, Option<crate::labels::constant::Constant>>>,
    /// Which objects find a label's implementation.
    pub(crate) found_by: RefCell<crate::conditions::receivers::FoundBy>,
}

impl Remembers for Memo {
    const PLACE: usize = 1;
}
