//! Entry points: bodies that a library or the language runs where nothing may block. Never whether a way through a body can be
//! taken, nor how bad it is.

pub(crate) mod async_result_methods;
pub mod greenlet;
pub mod publisher_factory;
pub mod purpose;
pub mod root;
