//! The row of a model that matches at a call, and its effect there.

use crate::models::row_condition::asks_type;
use blocklint_core::{Context, Effect, Fails, Hold, Runtime, Severity, WhereSet, WorkKind};
use blocklint_models::{Argument, CallRow, Condition, Match, Role, RowEffect, Subject, Test};

use crate::effect::constant::Constant;
use crate::effect::guard::{Guard, Question, Source};
use crate::effect::label::{Label, LabelHold};
use crate::linker::Linker;
use crate::models::timeout::{Timeout, unit_seconds};
use crate::program::ids::{PathId, SiteRef};
use crate::values::value::{BoundId, EnvId, Val};

/// Returns how a condition of `unless` counts that cannot be decided.
fn exempts(condition: &Condition) -> Source {
    match condition.tests[..] {
        [Test::Contains(_)] => Source::Exempt,
        _ => Source::Unless,
    }
}

/// The result of a condition at a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConditionResult {
    /// The code shows that it holds.
    Yes,
    /// The code shows that it does not hold.
    No,
    /// The code shows neither.
    Unknown,
    /// The n-th parameter of the body around decides.
    Param(u32),
}

/// The effect of a row at a call.
#[derive(Clone, Debug)]
pub struct Sink<'m> {
    /// The effect on the thread.
    pub label: Label,
    /// The row.
    pub row: Match<'m, CallRow>,
    /// The path called.
    pub path: PathId,
    /// A condition that could not be seen was taken to hold.
    pub undecided: bool,
}

/// `ended-by` of a wait for something that was asked to end, by any call.
const WHEN_TOLD: &str = "*";

impl<'a> Linker<'a> {
    /// Returns the effect of a library call on its thread, if it has one.
    pub fn sink(&self, site: SiteRef, path: PathId, receiver: BoundId, property: bool, env: EnvId) -> Option<Sink<'a>> {
        self.sink_or_lock(site, path, receiver, property, env, false)
    }

    /// Returns the effects of a call for callers that do not meet the condition of its first row: those of the next
    /// row. If several rows ask for the type of the same argument, each of them has its own effect.
    pub fn effects_if_guard_fails(
        &self,
        site: SiteRef,
        first: &Sink<'a>,
        receiver: BoundId,
        env: EnvId,
    ) -> Vec<Sink<'a>> {
        let mut found = Vec::new();
        let Some(guard) = first.label.guard.as_ref().filter(|guard| guard.source == Source::When && guard.wanted)
        else {
            return found;
        };
        let rows = self.rows_at(first.path, site);
        for row in rows.effect().skip_while(|row| !std::ptr::eq(row.row, first.row.row)).skip(1) {
            let Some(RowEffect::Holds(effect)) = row.effect else { break };
            let mut sink = match self.match_row(site, first.path, receiver, row, effect, env, false) {
                None => continue,
                Some(None) => break,
                Some(Some(sink)) => sink,
            };
            match &sink.label.guard {
                Some(other) if other.param == guard.param && asks_type(other) && asks_type(guard) => found.push(sink),
                Some(_) => break,
                None => {
                    if found.is_empty() {
                        sink.label.guard = Some(Guard { source: Source::Unless, wanted: false, ..guard.clone() });
                        found.push(sink);
                    }
                    break;
                }
            }
        }
        found
    }

    /// Returns the effect of a call that takes a lock which other code holds for long; none if the call gives up after
    /// some time.
    pub fn lock_sink(&self, site: SiteRef, path: PathId, receiver: BoundId, property: bool) -> Option<Sink<'a>> {
        let sink = self.sink_or_lock(site, path, receiver, property, EnvId::NONE, true)?;
        let gives_up = sink.row.timeout.as_ref().is_some_and(|timeout| {
            let given = self.argument(site, timeout);
            given.is_some_and(|form| self.constant(site, form, EnvId::NONE, 3) != Constant::Null)
        });
        (!gives_up && sink.label.effect == Effect::Wait).then_some(sink)
    }

    fn sink_or_lock(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: BoundId,
        property: bool,
        env: EnvId,
        locks: bool,
    ) -> Option<Sink<'a>> {
        let rows = if property { self.library.properties(path) } else { self.rows_at(path, site) };
        for row in rows.effect() {
            match row.effect {
                Some(RowEffect::Holds(effect)) => {
                    if let Some(found) = self.match_row(site, path, receiver, row, effect, env, locks) {
                        return found;
                    }
                }
                Some(RowEffect::Harmless) | None => {
                    if self.conditions_shown(&row.when, &row.unless, site, env) {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// Returns the effect of a row at a call. `None`: the row does not match, and the next one is tried. `Some(None)`:
    /// the row matches, and there is no effect.
    #[expect(clippy::too_many_arguments, reason = "a call has that many sides")]
    pub fn match_row(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: BoundId,
        row: Match<'a, CallRow>,
        effect: Effect,
        env: EnvId,
        locks: bool,
    ) -> Option<Option<Sink<'a>>> {
        let mut guard: Option<Guard> = None;
        let mut undecided = false;
        let mut place = WhereSet::EVENT_LOOP;
        if row.native || matches!(effect, Effect::Cpu | Effect::Input | Effect::File) {
            place = WhereSet::ALL;
        }
        for condition in &row.when {
            if let Some(limit) = place_of(condition) {
                place = place.intersect(limit);
                continue;
            }
            match self.shown(condition, site, receiver, env) {
                ConditionResult::Yes => {}
                ConditionResult::No | ConditionResult::Unknown => return None,
                ConditionResult::Param(index) if guard.is_none() => {
                    guard = Some(Guard::new(index, Source::When, Question::Condition(condition.clone()), true));
                }
                ConditionResult::Param(_) => return None,
            }
        }
        for condition in &row.unless {
            if let Some(limit) = place_of(condition) {
                place = place.without(limit);
                continue;
            }
            match self.shown(condition, site, receiver, env) {
                ConditionResult::Yes => return None,
                ConditionResult::No if guard.is_none() && receiver.is_some() => {
                    guard = self.state_by_param(site, condition, receiver);
                }
                ConditionResult::No => {}
                ConditionResult::Unknown => undecided |= self.is_given(condition, site),
                ConditionResult::Param(index) if guard.is_none() => {
                    guard = Some(Guard::new(index, exempts(condition), Question::Condition(condition.clone()), false));
                }
                ConditionResult::Param(_) => undecided = true,
            }
        }
        if place.is_empty() {
            return Some(None);
        }
        if effect == Effect::Wait && (!locks && self.is_lock(receiver) || self.was_checked_done(site)) {
            return Some(None);
        }
        let mut severity = self.library.severities().of_row(&row, effect);
        let mut hold = LabelHold::Fixed(Hold::Unbounded);
        if let Some(timeout) = &row.timeout {
            match self.timeout(site, timeout, row.unit, env) {
                Timeout::Zero => return Some(None),
                Timeout::Seconds(seconds) => {
                    hold = LabelHold::Fixed(Hold::Seconds(seconds));
                    if effect == Effect::Wait {
                        severity = severity.min(Severity::Warning);
                    }
                }
                // The library has a bound of its own; an object may have been made with another.
                Timeout::Unbounded if row.default.is_some() && self.argument(site, timeout).is_none() => {
                    let seconds = row.default.unwrap_or(0.0) * unit_seconds(row.unit, self.program.language(site.file));
                    let own = if receiver.is_some() { Hold::Unstated } else { Hold::Seconds(seconds) };
                    hold = LabelHold::Fixed(own);
                }
                Timeout::Unbounded => {}
                Timeout::Hidden => {
                    hold = LabelHold::Fixed(Hold::Unstated);
                    if effect == Effect::Wait {
                        severity = severity.min(Severity::Warning);
                    }
                }
                Timeout::Param(index, unit) => {
                    hold = LabelHold::Param { index, unit };
                    if guard.is_none() {
                        guard = Some(Guard::new(index, Source::Timeout, Question::Zero, false));
                    }
                }
            }
        }
        if is_local(row.row, effect) {
            hold = LabelHold::Fixed(Hold::Unstated);
        }
        // The size is not known, only that nothing bounds it. In a loop each piece may be small.
        let is_sized = row.when.iter().any(|condition| condition.tests.contains(&Test::Unbounded));
        // Nor what is behind a stream of which no caller shows.
        let is_unseen = row.rests_on_unseen();
        if is_sized || is_unseen {
            undecided = true;
            severity = Severity::Note;
        }
        let for_end = row.ended_by.as_deref() == Some(WHEN_TOLD);
        if let Some(method) = &row.ended_by
            && !for_end
            && (self.is_handshake(site, method) || self.is_ended_before(site, method))
        {
            severity = Severity::Note;
        }
        if severity == Severity::Note {
            hold = LabelHold::Fixed(Hold::Brief);
        }
        let waits_elsewhere = || row.fails == Some(Fails::Deadlocks) && self.waits_for_loop_of_another_thread(site);
        let fails = row.fails.filter(|_| !waits_elsewhere());
        if fails.is_some() {
            severity = Severity::Error;
        }
        // One call of many that iterate is one call; the loop around it is the caller's to see.
        if severity == Severity::Note
            && !is_sized
            && !is_unseen
            && !self.stays_short(site)
            && self.multiplies_hold(site)
        {
            severity = Severity::Warning;
        }
        let label = Label {
            effect,
            native: row.native,
            severity,
            fails: fails.is_some(),
            once: false,
            for_end,
            place,
            guard,
            outer: None,
            own: None,
            hold,
        };
        Some(Some(Sink { label, row, path, undecided }))
    }

    /// Returns the effect of a row if its arguments are not known.
    pub fn effect_without_arguments(&self, row: &CallRow) -> Option<Label> {
        let effect = row.held()?;
        let own = matches!(effect, Effect::Cpu | Effect::Input | Effect::File);
        let mut place = if row.native || own { WhereSet::ALL } else { WhereSet::EVENT_LOOP };
        for condition in &row.unless {
            if let Some(limit) = place_of(condition) {
                place = place.without(limit);
            }
        }
        let mut severity = self.library.severities().of_row(row, effect);
        let mut hold = match is_local(row, effect) || row.timeout.is_some() {
            true => Hold::Unstated,
            false => Hold::Unbounded,
        };
        if effect == Effect::Wait && row.timeout.is_some() {
            severity = severity.min(Severity::Warning);
        }
        if severity == Severity::Note {
            hold = Hold::Brief;
        }
        if row.fails.is_some() {
            severity = Severity::Error;
        }
        Some(Label {
            effect,
            native: row.native,
            severity,
            fails: row.fails.is_some(),
            once: false,
            for_end: false,
            place,
            guard: None,
            outer: None,
            own: None,
            hold: LabelHold::Fixed(hold),
        })
    }

    /// True if a receiver is a lock by its type's role.
    pub fn is_lock(&self, receiver: BoundId) -> bool {
        receiver.is_some()
            && self
                .types_through(self.values.single(receiver))
                .iter()
                .any(|&ty| self.library.role(ty).is_some_and(Role::is_lock))
    }

    /// True if conditions on the receiver alone are shown by the value it has.
    pub fn receiver_passes(&self, conditions: &[Condition], receiver: Val) -> bool {
        conditions.iter().all(|condition| {
            let about = matches!(&condition.subject, Subject::Argument(Argument::Receiver));
            about
                && condition.tests.iter().all(|test| match (test, receiver) {
                    (Test::State(state), Val::Library { made: Some(made), .. }) => self.call_sets_state(made, state),
                    _ => false,
                })
        })
    }
}

pub(crate) fn yes_if(condition: bool) -> ConditionResult {
    if condition { ConditionResult::Yes } else { ConditionResult::No }
}

impl ConditionResult {
    /// Returns an argument that is not given is neither null nor visibly something else.
    pub(crate) fn filter_absent(self) -> ConditionResult {
        ConditionResult::No
    }
}

/// Returns the contexts or runtimes that a condition limits its row to, if it is about those.
fn place_of(condition: &Condition) -> Option<WhereSet> {
    match &condition.subject {
        Subject::Context(contexts) => Some(
            contexts.iter().fold(WhereSet::EMPTY, |set, context: &Context| set.union(WhereSet::of_context(*context))),
        ),
        Subject::Runtime(runtimes) => Some(
            runtimes.iter().fold(WhereSet::EMPTY, |set, runtime: &Runtime| set.union(WhereSet::of_runtime(*runtime))),
        ),
        _ => None,
    }
}

/// Returns how a call of a row may fail besides holding the thread, for messages.
pub fn fails(row: &CallRow) -> Option<Fails> {
    row.fails
}

/// True if nothing outside of the process decides how long a call takes: a file, a calculation, a database in the process.
fn is_local(row: &CallRow, effect: Effect) -> bool {
    matches!(effect, Effect::File | Effect::Cpu) || row.kind == Some(WorkKind::Embedded)
}
