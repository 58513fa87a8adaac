//! Questions that one file answers, without a linker.

pub(crate) mod forms;
pub(crate) mod regions;
pub(crate) mod tests;
