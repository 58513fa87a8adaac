//! Python: locks that a project makes of a condition: `while self._taken: self._free.wait()`, then `self._taken = True`. They are
//! taken as a library's are: critical sections are short, and nobody can tell from the lock alone that this one is not.

use blocklint_core::Language;
use blocklint_facts::{
    AltKind, Assign, AssignKind, BodyId, BodyKind, FileFacts, Form, FormId, RegionKind, Site, SiteKind, Sym,
};

use crate::code::regions::around;
use crate::idioms;
use crate::link::Link;
use crate::program::ids::SiteRef;
use crate::program::index::is_own_receiver;

/// How deep a test is read.
const DEPTH: u32 = 4;

impl Link<'_> {
    /// Whether a site waits for a lock of the project's own: in a loop that asks for flags and counters of the object, of which
    /// the method then changes one, and another method changes it back and wakes who waits.
    pub(crate) fn waits_for_own_lock(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Python {
            return false;
        }
        let row = facts.site(site.site);
        let Some(condition) = own_field_called(facts, &row) else { return false };
        let asks = |test: FormId| test.is_some() && asks_for_state(facts, test, DEPTH);
        let mut regions = around(facts, row.at.region).map(|id| facts.region(id));
        if !regions.any(|region| region.kind == RegionKind::Loop && asks(region.test)) {
            return false;
        }
        let body = facts.body_of(row.at);
        let Some(taken) = state_changed_alone(facts, body, condition) else { return false };
        let class = facts.body(body).class;
        let wakes = |row: &Site| {
            row.kind == SiteKind::Call
                && idioms::python::wakes(facts.text(row.name))
                && own_field_called(facts, row) == Some(condition)
        };
        class.is_some()
            && facts.bodies.iter().enumerate().any(|(nth, other)| {
                let id = BodyId(nth as u32);
                id != body
                    && other.kind == BodyKind::Function
                    && other.class == class
                    && state_changed_alone(facts, id, condition) == Some(taken)
                    && facts.sites.iter().any(|row| facts.body_of(row.at) == id && wakes(&row))
            })
    }
}

/// The field of the own object that a call is a method of: `self._free.wait()`.
fn own_field_called(facts: &FileFacts, row: &Site) -> Option<Sym> {
    let Form::Attr(base, _) = facts.form(row.callee) else { return None };
    own_field(facts, base)
}

fn own_field(facts: &FileFacts, form: FormId) -> Option<Sym> {
    match facts.form(form) {
        Form::Attr(base, field) if is_own_receiver(facts, base) => Some(field),
        _ => None,
    }
}

/// Whether a test asks for nothing but fields of the own object: `self._taken`, `self._readers > 0`, one or the other.
fn asks_for_state(facts: &FileFacts, test: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match facts.form(test) {
        Form::Not(inner) => asks_for_state(facts, inner, depth),
        Form::Compare(_, left, right) => {
            own_field(facts, left).is_some() && matches!(facts.form(right), Form::Int(_) | Form::Bool(_) | Form::None)
        }
        Form::Alt(AltKind::And | AltKind::Or, list) => {
            facts.list(list).iter().all(|&part| asks_for_state(facts, part, depth))
        }
        _ => own_field(facts, test).is_some(),
    }
}

/// The flag or counter that a body changes, if it does nothing but that and call methods of a condition. Who takes something
/// out, or computes, keeps more than a lock.
fn state_changed_alone(facts: &FileFacts, body: BodyId, condition: Sym) -> Option<Sym> {
    let calls_others = |row: Site| {
        row.kind == SiteKind::Call && facts.body_of(row.at) == body && own_field_called(facts, &row) != Some(condition)
    };
    if facts.sites.iter().any(calls_others) {
        return None;
    }
    let is_plain = |row: &Assign| {
        row.kind == AssignKind::Augmented || matches!(facts.form(row.value), Form::Bool(_) | Form::Int(_))
    };
    let mut changed = None;
    for row in facts.assigns.iter().filter(|row| facts.body_of(row.at) == body && row.value.is_some()) {
        let field = own_field(facts, row.target)?;
        if !is_plain(&row) || changed.is_some_and(|other| other != field) {
            return None;
        }
        changed = Some(field);
    }
    changed
}
