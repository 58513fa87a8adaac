//! Tests of model rows, signals and fixtures as a whole, besides the fixture documents.

mod java_compile;
mod rows;
mod signals;
mod specified;
mod why;
