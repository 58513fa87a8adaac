//! Library models at a call: the matching row, its conditions, timeouts and states, and the entry points that a library
//! registers.

pub mod availability;
pub(crate) mod candidate_sites;
pub(crate) mod data_origin;
pub mod entry_registration;
pub mod library;
pub(crate) mod loop_of_thread;
pub(crate) mod receiver_state;
pub mod row_condition;
pub mod row_match;
pub mod runtime_of;
pub(crate) mod sql;
pub(crate) mod stored_callbacks;
pub(crate) mod tables;
pub(crate) mod timeout;
pub mod unit_facts;
pub(crate) mod unknown_stream;
