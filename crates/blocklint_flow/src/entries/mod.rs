//! Entry points (roots): bodies that a library or the language runs on a thread that must not block. The paths that
//! guards rule out are in `guards/`, severity is in `judge/`.

pub(crate) mod async_result_methods;
pub mod greenlet;
pub mod publisher_factory;
pub mod purpose;
pub mod root;
