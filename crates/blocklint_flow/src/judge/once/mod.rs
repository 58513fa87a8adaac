//! What runs the first time only, or once for each key.

pub mod java;
