//! The check of Java models: paths are looked up in the class files of the library.
//!
//! Class files are read as the compiler of a user reads them: classes, their bases, and the descriptors of their
//! members.

mod check;
mod class_file;
mod classes;

pub(crate) use check::Checker;
pub(crate) use classes::Classes;
