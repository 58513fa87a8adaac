//! How bad and how sure: the signals that make a finding less bad, less sure or worse, each under its name. Never whether a way can be
//! taken, nor who runs a body: those are asked of the layers below.

pub mod after_failure;
pub mod confidence;
pub mod doubts;
pub mod java_rare;
pub(crate) mod java_slight;
pub mod list;
mod memo;
pub mod once;
pub(crate) mod one_of_many;
pub(crate) mod pseudo_files;
pub(crate) mod rarely;
pub(crate) mod rust_rare;
pub mod signal;
pub(crate) mod terminals;
pub(crate) mod told_to_end;
