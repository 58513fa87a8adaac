//! The check of Python models: paths are looked up in the sources and stubs of the library.
//!
//! A package is read as a program. The source, the stub and the Cython source of a module are read as one file, and the
//! linker evaluates expressions and types. In contrast to the analysis, a lookup returns every definition that a name
//! can have, because it must only show that a path exists.

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
