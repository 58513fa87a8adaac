//! The class hierarchy: bases, subclasses, overrides, kinds of methods.

pub mod descendants;
pub mod hierarchy;
pub(crate) mod method_kind;
pub mod overrides;
pub(crate) mod tables;
