//! The memo tables of all queries, grouped by the folder whose queries they answer.

use crate::calls::tables::CallTables;
use crate::classes::tables::ClassTables;
use crate::guards::tables::GuardTables;
use crate::lang::java::tables::JavaTables;
use crate::lang::python::tables::PythonTables;
use crate::lang::rust::tables::RustTables;
use crate::models::tables::ModelTables;
use crate::program::Program;
use crate::reactive::ChainTables;
use crate::values::tables::ValueTables;

/// The memo tables of all queries.
pub(crate) struct Tables<'a> {
    pub(crate) values: ValueTables,
    pub(crate) calls: CallTables,
    pub(crate) classes: ClassTables,
    pub(crate) guards: GuardTables,
    pub(crate) models: ModelTables,
    pub(crate) chains: ChainTables,
    pub(crate) python: PythonTables<'a>,
    pub(crate) rust: RustTables,
    pub(crate) java: JavaTables<'a>,
}

impl Tables<'_> {
    /// Returns empty tables.
    pub(crate) fn new(program: &Program<'_>) -> Self {
        Tables {
            values: ValueTables::default(),
            calls: CallTables::new(program),
            classes: ClassTables::default(),
            guards: GuardTables::default(),
            models: ModelTables::default(),
            chains: ChainTables::default(),
            python: PythonTables::default(),
            rust: RustTables::default(),
            java: JavaTables::default(),
        }
    }
}
