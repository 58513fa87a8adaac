//! Names of Python packages, looked up in their sources and stubs.
//!
//! Other than the analysis this reads sources and stubs of one module together, also Cython's, and takes every
//! alternative that a name may stand for: it asks whether a path exists, not what a program does.

mod awaits;
mod builtins;
mod check;
mod classes;
mod entity;
mod evaluate;
mod modules;
mod outline;
mod scope;
mod signature;
mod sources;
mod text;

pub(crate) use check::Checker;
pub(crate) use sources::Sources;
