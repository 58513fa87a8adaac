//! Tests of the Python front end, in one program.

mod bytes;
mod depth;
mod shapes;
