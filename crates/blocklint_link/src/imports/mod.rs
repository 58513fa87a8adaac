//! Imports: the libraries whose values can be in a file.

pub mod library_reach;
