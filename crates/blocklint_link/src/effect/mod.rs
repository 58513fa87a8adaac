//! Labels, guards and constants: plain data that describes how a body holds its thread.

pub mod constant;
pub mod guard;
pub mod label;
