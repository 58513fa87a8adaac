//! Questions that one file answers, without a linker: which regions lie around which, what a test shows about its
//! parts, what a form mentions. Never what a name means.

pub mod exception_handlers;
pub mod forms;
pub mod regions;
pub mod test_outcomes;
