//! Names of Java libraries, looked up in their class files.
//!
//! Only what a compiler of the library's users sees is read: classes, their bases, and the descriptors of their members.

mod check;
mod class_file;
mod classes;

pub(crate) use check::Checker;
pub(crate) use classes::Classes;
