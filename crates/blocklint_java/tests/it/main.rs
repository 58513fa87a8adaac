//! What the front end reads, in one program.

mod robust;
mod shapes;
