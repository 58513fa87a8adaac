//! What names say by convention, one file for each language.

pub(crate) mod java;
pub(crate) mod python;
pub(crate) mod rust;
