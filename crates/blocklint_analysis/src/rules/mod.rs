//! Mistakes that no blocking call at the end of a way makes: one file or folder for each rule. Never their words, which `blocklint_rules`
//! has.

pub(crate) mod called_instead;
pub(crate) mod large_response;
pub(crate) mod late_patch;
pub(crate) mod lock_over_await;
pub(crate) mod made_anew;
pub(crate) mod misuses;
pub(crate) mod native_hub;
pub(crate) mod own_job;
pub(crate) mod pool_starvation;
pub(crate) mod unbounded_offload;
