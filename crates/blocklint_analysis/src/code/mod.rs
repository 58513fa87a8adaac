//! Questions that one file answers, without a linker: which regions lie around which, what a test says of its parts, what a form
//! mentions. Never what a name means.

pub(crate) mod forms;
pub(crate) mod handlers;
pub(crate) mod regions;
pub(crate) mod tests;
