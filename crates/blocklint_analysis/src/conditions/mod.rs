//! Which ways can be taken: no opinions, only what tests, arguments and values rule out.

pub(crate) mod always;
pub(crate) mod at_call;
pub(crate) mod branches;
pub(crate) mod filled_mapping;
pub(crate) mod outer;
pub(crate) mod own_state;
pub(crate) mod parts;
pub(crate) mod presence;
pub(crate) mod state_by_param;
