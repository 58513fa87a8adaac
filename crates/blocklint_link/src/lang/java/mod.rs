//! Names, values and calls of Java.

pub(crate) mod beans;
pub(crate) mod build_modules;
pub(crate) mod class_annotations;
pub mod completed_future;
pub(crate) mod constructor_callbacks;
pub mod conventions;
pub(crate) mod deployment;
pub(crate) mod element_calls;
pub(crate) mod event_listeners;
pub(crate) mod generated_code;
pub(crate) mod glob_sites;
pub(crate) mod injection;
pub(crate) mod lambda_count;
pub mod library_roots;
pub(crate) mod method_refs;
pub mod names;
pub(crate) mod overloads;
pub(crate) mod own_library;
pub(crate) mod servlet_modules;
pub(crate) mod tables;
pub(crate) mod time_unit;
pub(crate) mod words;
