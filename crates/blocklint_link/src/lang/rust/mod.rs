//! Names, values and calls of Rust.

pub(crate) mod closure_args;
pub(crate) mod collect;
pub(crate) mod constant_field;
pub mod conventions;
pub(crate) mod data_origin;
pub(crate) mod derived_builder;
pub(crate) mod derived_members;
pub(crate) mod fn_paths;
pub(crate) mod generics;
pub(crate) mod impl_selection;
pub(crate) mod macros;
pub mod modules;
pub mod names;
pub(crate) mod stored_closures;
pub(crate) mod trait_methods;
