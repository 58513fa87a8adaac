//! Labels: the effect by which a body holds its thread, with its severity, guards and duration.

use crate::effect::guard::{Guard, Guards, OwnImplementation};
use std::hash::Hash;

use blocklint_core::{Effect, Hold, Severity, WhereSet};
use rustc_hash::FxHashMap;

/// The duration for which one call can hold its thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LabelHold {
    /// A duration that does not depend on the caller.
    Fixed(Hold),
    /// The value of a parameter.
    Param {
        /// The index of the parameter.
        index: u32,
        /// The seconds of one unit of the parameter.
        unit: f64,
    },
}

/// True if a prefix is a rare scheme or namespace: `s3://`, `oidc/`. Common schemes (`http://`, `data:`) and prefixes
/// of paths are not rare.
pub(crate) fn is_rare_scheme(part: &str) -> bool {
    let Some(scheme) = part.strip_suffix("://").or_else(|| part.strip_suffix([':', '/'])) else { return false };
    // Images are often sent as `data:`.
    !scheme.starts_with(['/', '.', '~']) && !matches!(scheme, "" | "http" | "https" | "file" | "ws" | "wss" | "data")
}

/// An effect by which a body holds its thread, as the search carries it from callee to caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The effect.
    pub effect: Effect,
    /// True if gevent does not make the call cooperative.
    pub native: bool,
    /// The severity.
    pub severity: Severity,
    /// True if the call raises an error on the thread of an event loop; the severity is never lowered then.
    pub fails: bool,
    /// The contexts and runtimes in which the label holds.
    pub place: WhereSet,
    /// True if the label came through a function that runs once, so that no loop multiplies its hold.
    pub once: bool,
    /// True if the call waits for something that was told to end.
    pub for_end: bool,
    /// The guard under which the label holds.
    pub guard: Option<Guard>,
    /// A second guard of a branch further out.
    pub outer: Option<Guard>,
    /// The implementation that the label is limited to.
    pub own: Option<OwnImplementation>,
    /// The duration of one call.
    pub hold: LabelHold,
}

/// An interned label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

/// The interned labels of one run.
#[derive(Debug, Default)]
pub struct Labels {
    rows: Vec<Label>,
    guards: Guards,
    ids: FxHashMap<Key, LabelId>,
}

/// The hash key of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    effect: Effect,
    native: bool,
    severity: Severity,
    fails: bool,
    once: bool,
    for_end: bool,
    place: WhereSet,
    guards: [u32; 2],
    own: Option<OwnImplementation>,
    hold: HoldKey,
}

/// The hash key of a hold; floating-point numbers as their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum HoldKey {
    /// The rank of a hold, and its seconds.
    Fixed(u8, u64),
    /// The index of a parameter, and the seconds of one unit of it.
    Param(u32, u64),
}

impl Labels {
    /// Returns the number of a label.
    pub fn id(&mut self, label: Label) -> LabelId {
        let guards = [self.guard_id(label.guard.as_ref()), self.guard_id(label.outer.as_ref())];
        let hold = match label.hold {
            LabelHold::Fixed(hold) => {
                let (rank, seconds) = hold.rank();
                HoldKey::Fixed(rank, seconds.to_bits())
            }
            LabelHold::Param { index, unit } => HoldKey::Param(index, unit.to_bits()),
        };
        let key = Key {
            effect: label.effect,
            native: label.native,
            severity: label.severity,
            fails: label.fails,
            once: label.once,
            for_end: label.for_end,
            place: label.place,
            guards,
            own: label.own,
            hold,
        };
        let next = LabelId(self.rows.len() as u32);
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.rows.push(label);
        }
        id
    }

    fn guard_id(&mut self, guard: Option<&Guard>) -> u32 {
        guard.map_or(u32::MAX, |guard| self.guards.id(guard))
    }

    /// Returns the label with a number.
    pub fn get(&self, id: LabelId) -> &Label {
        &self.rows[id.0 as usize]
    }
}

/// Lowers the severity of a wait with a timeout, known or unknown, to a warning.
pub fn cap_wait(label: &mut Label) {
    let is_bounded = matches!(label.hold, LabelHold::Fixed(Hold::Seconds(_) | Hold::Unstated));
    if is_bounded && label.effect == Effect::Wait && !label.fails {
        label.severity = label.severity.min(Severity::Warning);
    }
}
