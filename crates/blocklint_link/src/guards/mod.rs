//! Guards of branches: conditions on parameters under which code runs. Also loops that multiply a hold, and waits that
//! end at once.

pub mod branch;
mod ended_wait;
pub(crate) mod loop_multiplier;
pub(crate) mod tables;
pub(crate) mod tested_param;
