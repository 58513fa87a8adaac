//! Code that nobody runs any more.

pub(crate) mod python;
