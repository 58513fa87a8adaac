//! Guards: the paths that tests, arguments and values rule out, and the conditions that stay open. Never how bad it is to take a path,
//! nor who does.

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

/// Answers whether calls meet the conditions under which a body does something, and caches the answers.
pub(crate) struct Conditions<'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) callers: Callers<'l, 'a>,
    pub(crate) roots: Roots<'l, 'a>,
    pub(crate) answers: GuardAnswers,
    /// True for a call which rules out that a site of its callee is reached.
    pub(crate) ruled_out: Table<(Caller, BodyRef, SiteRef), bool, Plain>,
    /// True for a site that stands under some condition.
    pub(crate) conditional: Table<SiteRef, bool, Plain>,
}

impl<'l, 'a> Conditions<'l, 'a> {
    /// Returns the tables without any answer.
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
