//! How bad and how sure: what makes a finding less of either.

pub(crate) mod after_failure;
pub(crate) mod confidence;
pub(crate) mod java_addresses;
pub(crate) mod java_installed;
pub(crate) mod java_kinds;
pub(crate) mod java_made;
pub(crate) mod java_options;
pub(crate) mod java_rare;
pub(crate) mod java_shows;
pub(crate) mod java_slight;
pub(crate) mod list;
pub(crate) mod made_at_import;
mod memo;
pub(crate) mod not_asked;
pub(crate) mod once;
pub(crate) mod one_of_many;
pub(crate) mod own_locks;
pub(crate) mod platforms;
pub(crate) mod pseudo_files;
pub(crate) mod rarely;
pub(crate) mod rust_conditions;
pub(crate) mod rust_rare;
pub(crate) mod signal;
pub(crate) mod terminals;
pub(crate) mod told_to_end;
pub(crate) mod undone;
