//! Labels and what they are made of: how a body holds its thread, under which condition, for how long. Plain data, which decides nothing.

pub mod constant;
pub mod guard;
pub mod label;
