//! Calls: call targets, arguments, results, implicit calls, parameter summaries and call sites by name.

pub(crate) mod argument_use;
pub(crate) mod arguments;
pub mod call_names;
pub(crate) mod callable_objects;
pub(crate) mod callable_values;
pub(crate) mod calls_in_body;
pub(crate) mod function_uses;
pub(crate) mod implicit;
pub mod param_summary;
pub(crate) mod passed_as_argument;
pub(crate) mod result;
pub(crate) mod sites_by_name;
pub(crate) mod tables;
pub mod targets;
