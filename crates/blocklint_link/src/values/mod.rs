//! Values: the possible values of expressions, variables, fields, parameters and results. [`value::Val`] is one member
//! of a value, and [`expr`] evaluates forms.

pub(crate) mod attribute;
pub(crate) mod constant;
pub(crate) mod constant_field;
pub(crate) mod container_elements;
pub(crate) mod declared_type;
pub(crate) mod element;
pub mod expr;
pub(crate) mod field;
pub(crate) mod narrowing;
pub(crate) mod parameter;
pub(crate) mod reaching_constants;
pub(crate) mod returned;
pub(crate) mod subclass_member;
pub(crate) mod table_entry;
pub(crate) mod tables;
pub mod value;
