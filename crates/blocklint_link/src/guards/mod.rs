//! Conditions over parameters that decide whether a branch runs, and loops that multiply a hold.

pub mod branch;
mod ended_wait;
pub(crate) mod loop_multiplier;
pub(crate) mod tables;
pub(crate) mod tested_param;
