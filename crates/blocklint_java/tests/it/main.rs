//! Tests of the Java front end, in one program.

mod robust;
mod shapes;
