//! Tests of the Rust front end, in one program.

mod robust;
mod shapes;
