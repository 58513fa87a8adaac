//! Classes: bases, lookup order, subclasses, overrides and kinds of methods.

pub mod descendants;
pub mod hierarchy;
pub(crate) mod method_kind;
pub mod overrides;
pub(crate) mod tables;
pub(crate) mod test_doubles;
