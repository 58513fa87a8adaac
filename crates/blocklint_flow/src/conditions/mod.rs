//! Which ways can be taken: what tests, arguments and values rule out, and what nobody shows. Never how bad it is to take one,
//! nor who does.

pub(crate) mod always;
pub(crate) mod at_call;
pub mod bound;
pub(crate) mod by_type;
pub mod entered;
pub(crate) mod filled_mapping;
pub(crate) mod java_settings;
mod memo;
pub(crate) mod outer;
pub(crate) mod own_state;
pub(crate) mod parts;
pub(crate) mod receivers;
pub(crate) mod rust_getters;
pub(crate) mod told;

use std::cell::RefCell;

use blocklint_link::link::Link;

use self::told::{Conditional, Outs, Told};
use crate::entries::callers::Callers;
use crate::entries::roots::Roots;

/// Asks calls what they say of the conditions under which a body does something, and remembers the answers.
pub(crate) struct Conditions<'l, 'a> {
    pub(crate) link: &'l Link<'a>,
    pub(crate) callers: Callers<'l, 'a>,
    pub(crate) roots: Roots<'l, 'a>,
    pub(super) told: RefCell<Told>,
    pub(super) outs: RefCell<Outs>,
    pub(super) conditional: Conditional,
}

impl<'l, 'a> Conditions<'l, 'a> {
    /// Nothing asked yet.
    pub(crate) fn new(link: &'l Link<'a>) -> Self {
        Conditions {
            link,
            callers: Callers::new(link),
            roots: Roots::new(link),
            told: RefCell::default(),
            outs: RefCell::default(),
            conditional: RefCell::default(),
        }
    }
}
