//! When and how often code runs, and who owns the objects that it makes.

pub mod first_time;
pub mod first_time_java;
pub mod frequency;
pub mod loops;
pub mod maker;
pub mod one_shot_program;
pub mod owner;
pub mod phase;
pub(crate) mod phase_java;
pub(crate) mod rust;
