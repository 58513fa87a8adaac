//! The linker: resolves names to definitions, receivers to types, and calls to targets and rows of models. It computes
//! each answer on demand and remembers it.
//!
//! The linker reads facts and models only. It knows no syntax, no library by name and no wording of messages, and it
//! does not decide who runs a body or if an effect matters. The modules `syntax`, `program` and `effect` are the lowest
//! layers, and each of them uses only the layers below it. The other modules form one component, because values, calls,
//! classes, models and languages query each other recursively.

pub mod calls;
pub mod classes;
pub mod display;
pub mod effect;
pub mod guards;
pub mod imports;
pub mod lang;
pub mod linker;
pub mod models;
pub mod program;
pub mod reactive;
pub mod syntax;
pub mod values;
