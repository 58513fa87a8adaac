//! Tests beside the documents, in one program.

mod java_compile;
mod rows;
mod signals;
mod specified;
mod why;
