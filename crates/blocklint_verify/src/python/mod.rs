//! Names of Python packages, looked up in their sources and stubs.
//!
//! A package is read as a program, with sources and stubs of one module together, also Cython's, and the linker is asked what its
//! expressions and types are. Other than the analysis this takes every alternative that a name may stand for: it asks whether a path
//! exists, not what a program does.

mod awaits;
mod builtins;
mod check;
mod entity;
mod outline;
mod package;
mod signature;
mod sources;
mod text;

pub(crate) use check::Checker;
pub(crate) use package::Package;
pub(crate) use sources::Sources;
