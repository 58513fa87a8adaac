//! The linker: names to definitions, receivers to types, calls to targets and to the rows of models, each on demand and remembered.
//!
//! Resolves values and calls from facts and models. It knows no syntax, no library by name and no wording, and it does
//! not decide who runs a body or if an effect matters. At the bottom lie `syntax`, `program` and `effect`, each of
//! which names only those below it. The other folders are subjects of one component: values, calls, classes, models and
//! languages ask each other in circles.

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
