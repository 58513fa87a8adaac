//! Tests of model files, in one program.

mod errors;
mod lookup;
