//! Labels: how a body holds its thread, under which condition, for how long.

use crate::effect::guard::{Guard, Guards, Own};
use std::hash::Hash;

use blocklint_core::{Effect, Hold, Severity, WhereSet};
use rustc_hash::FxHashMap;

/// How long one call can block its thread, as far as the body itself decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LabelHold {
    /// Decided.
    Fixed(Hold),
    /// The value of the n-th parameter, in units of so many seconds.
    Param {
        /// Which parameter.
        index: u32,
        /// Seconds of one unit.
        unit: f64,
    },
}

/// True if a text is the scheme or the name space of a few values among many: `s3://`, `oidc/`. Schemes of most
/// addresses (`http://`), `data:` and beginnings of paths are none.
pub(crate) fn is_rare_scheme(part: &str) -> bool {
    let Some(scheme) = part.strip_suffix("://").or_else(|| part.strip_suffix([':', '/'])) else { return false };
    // Pictures and the like are often sent as `data:`.
    !scheme.starts_with(['/', '.', '~']) && !matches!(scheme, "" | "http" | "https" | "file" | "ws" | "wss" | "data")
}

/// One way in which a body holds its thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The way.
    pub effect: Effect,
    /// Not made cooperative by gevent.
    pub native: bool,
    /// How bad.
    pub severity: Severity,
    /// The call fails on a loop's thread besides; never lowered.
    pub fails: bool,
    /// Where it holds.
    pub place: WhereSet,
    /// It came through a function that runs once: no loop makes it long.
    pub once: bool,
    /// It waits for something that ends when it is asked to.
    pub for_end: bool,
    /// Under which condition.
    pub guard: Option<Guard>,
    /// And under which other one that a branch further out put on it.
    pub outer: Option<Guard>,
    /// Only on objects whose class finds this method under its name.
    pub own: Option<Own>,
    /// How long.
    pub hold: LabelHold,
}

/// A number for a label, equal for labels that are settled together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

/// The labels of one run.
#[derive(Debug, Default)]
pub struct Labels {
    rows: Vec<Label>,
    guards: Guards,
    ids: FxHashMap<Key, LabelId>,
}

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
    own: Option<Own>,
    hold: HoldKey,
}

/// A hold that can be looked up; numbers by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum HoldKey {
    /// The rank of a hold, and its seconds.
    Fixed(u8, u64),
    /// A parameter, and the seconds of one unit of it: a label in minutes is another than one in seconds.
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

    /// Returns the label.
    pub fn get(&self, id: LabelId) -> &Label {
        &self.rows[id.0 as usize]
    }
}

/// A wait with a time is bounded, even if the code does not show how long it is.
pub fn cap_wait(label: &mut Label) {
    let bounded = matches!(label.hold, LabelHold::Fixed(Hold::Seconds(_) | Hold::Unstated));
    if bounded && label.effect == blocklint_core::Effect::Wait && !label.fails {
        label.severity = label.severity.min(Severity::Warning);
    }
}
