//! Calls: arguments, results, targets, implicit calls, summaries of parameters, sites by name.

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
pub mod protocols;
pub(crate) mod result;
pub(crate) mod sites_by_name;
pub mod targets;
