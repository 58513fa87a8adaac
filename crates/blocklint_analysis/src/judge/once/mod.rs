//! What runs the first time only, or once for each key.

pub(crate) mod first_time;
pub(crate) mod java;
