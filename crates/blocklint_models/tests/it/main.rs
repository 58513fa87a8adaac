//! Model files, in one program.

mod errors;
mod lookup;
