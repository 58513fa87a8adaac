//! What is tested beside the documents, in one program.

mod java_compile;
mod rows;
mod signals;
mod why;
