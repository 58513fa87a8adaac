//! Who runs a body, how often, and when; and which bodies are entered where nothing may block. Never whether a way through a body can be
//! taken, nor how bad it is.

pub(crate) mod assembly;
pub(crate) mod callers;
pub(crate) mod containers_of_calls;
pub(crate) mod first_time;
pub(crate) mod greenlets;
pub(crate) mod how_often;
pub(crate) mod lifetime;
mod memo;
pub(crate) mod no_loop;
pub(crate) mod roots;
pub(crate) mod unawaited;
pub(crate) mod when;
