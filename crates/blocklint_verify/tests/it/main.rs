//! Tests of `blocklint models verify`, in one program.

mod java;
mod python;
