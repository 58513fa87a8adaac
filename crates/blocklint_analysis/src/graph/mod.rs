//! Labels, states and ways: plain data, and what is read off it.

pub(crate) mod label;
pub(crate) mod paths;
pub(crate) mod shortest;
