//! Names, values and calls of Python.

pub mod conventions;
pub(crate) mod coroutine_check;
pub(crate) mod data_class;
pub(crate) mod empty_container;
pub(crate) mod enum_member;
pub(crate) mod kwargs;
pub mod monkey_patch;
pub mod names;
pub(crate) mod none_check;
pub(crate) mod overloads;
pub mod protocols;
pub(crate) mod request_models;
pub(crate) mod tables;
