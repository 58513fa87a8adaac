//! Syntactic helpers over the facts of one file, without the linker: regions, exception handlers, forms and the
//! outcomes of nested tests. They resolve no names.

pub mod exception_handlers;
pub mod forms;
pub mod regions;
pub mod test_outcomes;
