//! Guards: the paths that tests, arguments and values rule out, and the conditions that remain for the callers to
//! decide. Severity and confidence are in `judge/`.

pub(crate) mod answers;
pub(crate) mod constant_branch;
pub(crate) mod decide;
pub(crate) mod enclosing;
pub(crate) mod filled_at_import;
pub(crate) mod filled_mapping;
pub(crate) mod java_setting;
pub(crate) mod optional_part;
pub(crate) mod receiver_class;
pub(crate) mod rust_getter;
pub(crate) mod self_state;
pub(crate) mod type_test;

use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{BodyRef, SiteRef};

use crate::callers::{Caller, Callers};
use crate::entries::root::Roots;
use crate::guards::answers::GuardAnswers;

/// Decides if calls meet the guards of the bodies that they run, and caches the answers.
pub(crate) struct Conditions<'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) callers: Callers<'l, 'a>,
    pub(crate) roots: Roots<'l, 'a>,
    pub(crate) answers: GuardAnswers,
    /// By call, callee and site of the callee: true if the call rules out that the site runs.
    pub(crate) ruled_out: Table<(Caller, BodyRef, SiteRef), bool, Plain>,
    /// By site: true if a branch around it depends on a parameter or on the object's own fields.
    pub(crate) conditional: Table<SiteRef, bool, Plain>,
}

impl<'l, 'a> Conditions<'l, 'a> {
    /// Returns empty tables for one program.
    pub(crate) fn new(linker: &'l Linker<'a>) -> Self {
        Conditions {
            linker,
            callers: Callers::new(linker),
            roots: Roots::new(linker),
            answers: GuardAnswers::default(),
            ruled_out: Table::default(),
            conditional: Table::default(),
        }
    }
}
