//! Rows against libraries, in one program.

mod java;
mod python;
