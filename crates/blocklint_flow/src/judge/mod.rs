//! How bad and how sure: the signals that make a finding less bad, less sure or worse, each under its name. Never whether a way can be
//! taken, nor who runs a body: those are asked of the layers below.

pub mod after_failure;
pub mod confidence;
pub(crate) mod create_if_missing;
pub mod doubts;
pub mod java_rare;
pub(crate) mod java_slight;
pub(crate) mod kernel_files;
pub(crate) mod rare_choice;
pub(crate) mod rust;
pub mod signal;
pub mod signals;
pub(crate) mod stop_then_join;
pub(crate) mod terminal;
