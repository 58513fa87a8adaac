//! The class hierarchy: bases, subclasses, overrides, kinds of methods.

pub mod hierarchy;
pub(crate) mod method_kind;
pub mod overrides;
