//! What the front end reads, in one program.

mod bytes;
mod depth;
mod shapes;
