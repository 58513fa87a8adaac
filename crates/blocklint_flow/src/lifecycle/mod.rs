//! When and how often code runs, which entry points reach it, and which owner keeps the objects that it makes.

pub(crate) mod entry_points;
pub mod first_time;
pub mod first_time_java;
pub mod frequency;
pub mod loops;
pub mod maker;
pub(crate) mod never_loaded;
pub(crate) mod never_made;
pub mod one_shot_program;
pub mod owner;
pub mod phase;
pub(crate) mod phase_java;
pub mod reached_by;
pub(crate) mod route;
pub(crate) mod rust;
pub(crate) mod unused;
