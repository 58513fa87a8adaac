//! Labels and what they are made of: plain data.

pub(crate) mod constant;
pub(crate) mod label;
