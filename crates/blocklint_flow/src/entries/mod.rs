//! Who runs a body, how often, and when; and which bodies are entered where nothing may block. Never whether a way through a body can be
//! taken, nor how bad it is.

pub(crate) mod answers_later;
pub mod assembly;
pub mod callers;
pub(crate) mod containers_of_calls;
pub mod first_time;
pub mod greenlets;
pub mod how_often;
pub mod lifetime;
mod memo;
pub(crate) mod no_loop;
pub(crate) mod objects;
pub mod purpose;
pub mod roots;
pub mod unawaited;
pub mod when;
