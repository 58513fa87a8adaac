//! Sinks: the row of a model that matches at a call, and the call's effect on its thread.

use crate::models::row_condition::tests_type;
use blocklint_core::{Context, Effect, Fails, Hold, Runtime, Severity, WhereSet, WorkKind};
use blocklint_models::{Argument, CallRow, Condition, Match, Role, RowEffect, Subject, Test};

use crate::effect::constant::Constant;
use crate::effect::guard::{Guard, Question, Source};
use crate::effect::label::{Label, LabelHold};
use crate::linker::Linker;
use crate::models::timeout::{Timeout, unit_seconds};
use crate::program::ids::{PathId, SiteRef};
use crate::values::value::{BoundId, EnvId, Val};

/// How many variables and fields are followed to the constant of an argument.
const MAX_CONSTANT_DEPTH: u32 = 3;

/// Returns the source of the guard for a condition of `unless` that callers decide.
fn source_of_unless(condition: &Condition) -> Source {
    match condition.tests[..] {
        [Test::Contains(_)] => Source::Exempt,
        _ => Source::Unless,
    }
}

/// The result of a condition at a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConditionResult {
    /// The condition is known to hold.
    Yes,
    /// The condition is known not to hold.
    No,
    /// The condition is unknown.
    Unknown,
    /// The n-th parameter of the body around the call decides.
    Param(u32),
}

/// The effect of a row at a call.
#[derive(Clone, Debug)]
pub struct Sink<'m> {
    /// The effect on the thread.
    pub label: Label,
    /// The row.
    pub row: Match<'m, CallRow>,
    /// The path of the called function.
    pub path: PathId,
    /// True if an unknown condition was assumed not to exclude the row.
    pub undecided: bool,
}

/// The value of `ended-by` for a wait that ends after any call that tells the other side to end.
const ENDED_BY_ANY_CALL: &str = "*";

impl<'a> Linker<'a> {
    /// Returns the sink of a library call: its effect on its thread, if it has one.
    pub fn sink(&self, site: SiteRef, path: PathId, receiver: BoundId, property: bool, env: EnvId) -> Option<Sink<'a>> {
        self.sink_or_lock(site, path, receiver, property, env, false)
    }

    /// Returns the sinks of a call for callers that do not meet the condition of its first row: those of the next rows.
    /// If several rows test the type of the same argument, each of them has its own sink.
    pub fn effects_if_guard_fails(
        &self,
        site: SiteRef,
        matched_sink: &Sink<'a>,
        receiver: BoundId,
        env: EnvId,
    ) -> Vec<Sink<'a>> {
        let mut sinks = Vec::new();
        let Some(guard) =
            matched_sink.label.guard.as_ref().filter(|guard| guard.source == Source::When && guard.wanted)
        else {
            return sinks;
        };
        let rows = self.rows_for_call(matched_sink.path, site);
        for row in rows.effect().skip_while(|matched| !std::ptr::eq(matched.row, matched_sink.row.row)).skip(1) {
            let Some(RowEffect::Holds(effect)) = row.effect else { break };
            let mut sink = match self.match_row(site, matched_sink.path, receiver, row, effect, env, false) {
                None => continue,
                Some(None) => break,
                Some(Some(sink)) => sink,
            };
            match &sink.label.guard {
                Some(other) if other.param == guard.param && tests_type(other) && tests_type(guard) => sinks.push(sink),
                Some(_) => break,
                None => {
                    if sinks.is_empty() {
                        sink.label.guard = Some(Guard { source: Source::Unless, wanted: false, ..guard.clone() });
                        sinks.push(sink);
                    }
                    break;
                }
            }
        }
        sinks
    }

    /// Returns the sink of a call that acquires a lock which other code holds for long; `None` if the call has a
    /// timeout.
    pub fn lock_sink(&self, site: SiteRef, path: PathId, receiver: BoundId, property: bool) -> Option<Sink<'a>> {
        let sink = self.sink_or_lock(site, path, receiver, property, EnvId::NONE, true)?;
        let gives_up = sink.row.timeout.as_ref().is_some_and(|timeout| {
            let argument = self.argument(site, timeout);
            argument.is_some_and(|form| self.constant(site, form, EnvId::NONE, MAX_CONSTANT_DEPTH) != Constant::Null)
        });
        (!gives_up && sink.label.effect == Effect::Wait).then_some(sink)
    }

    /// Returns the sink of a library call. With `locks`, acquiring a lock is a sink as well.
    fn sink_or_lock(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: BoundId,
        property: bool,
        env: EnvId,
        locks: bool,
    ) -> Option<Sink<'a>> {
        let rows = if property { self.library.properties(path) } else { self.rows_for_call(path, site) };
        for row in rows.effect() {
            match row.effect {
                Some(RowEffect::Holds(effect)) => {
                    if let Some(sink) = self.match_row(site, path, receiver, row, effect, env, locks) {
                        return sink;
                    }
                }
                Some(RowEffect::Harmless) | None => {
                    if self.conditions_hold(&row.when, &row.unless, site, env) {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// Returns the sink of a row at a call. `None`: the row does not match, and callers try the next row. `Some(None)`:
    /// the row matches, and the call has no effect.
    #[expect(clippy::too_many_arguments, reason = "a call has that many sides")]
    pub fn match_row(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: BoundId,
        matched: Match<'a, CallRow>,
        effect: Effect,
        env: EnvId,
        locks: bool,
    ) -> Option<Option<Sink<'a>>> {
        let mut guard: Option<Guard> = None;
        let mut undecided = false;
        let mut place = WhereSet::EVENT_LOOP;
        if matched.native || matches!(effect, Effect::Cpu | Effect::Input | Effect::File) {
            place = WhereSet::ALL;
        }
        for condition in &matched.when {
            if let Some(limit) = context_limit(condition) {
                place = place.intersect(limit);
                continue;
            }
            match self.condition_result(condition, site, receiver, env) {
                ConditionResult::Yes => {}
                ConditionResult::No | ConditionResult::Unknown => return None,
                ConditionResult::Param(index) if guard.is_none() => {
                    guard = Some(Guard::new(index, Source::When, Question::Condition(condition.clone()), true));
                }
                ConditionResult::Param(_) => return None,
            }
        }
        for condition in &matched.unless {
            if let Some(limit) = context_limit(condition) {
                place = place.without(limit);
                continue;
            }
            match self.condition_result(condition, site, receiver, env) {
                ConditionResult::Yes => return None,
                ConditionResult::No if guard.is_none() && receiver.is_some() => {
                    guard = self.guard_of_receiver_state(site, condition, receiver);
                }
                ConditionResult::No => {}
                ConditionResult::Unknown => undecided |= self.is_given(condition, site),
                ConditionResult::Param(index) if guard.is_none() => {
                    guard = Some(Guard::new(
                        index,
                        source_of_unless(condition),
                        Question::Condition(condition.clone()),
                        false,
                    ));
                }
                ConditionResult::Param(_) => undecided = true,
            }
        }
        if place.is_empty() {
            return Some(None);
        }
        if effect == Effect::Wait && (!locks && self.is_lock(receiver) || self.is_checked_done(site)) {
            return Some(None);
        }
        let mut severity = self.library.severities().severity_of_row(&matched, effect);
        let mut hold = LabelHold::Fixed(Hold::Unbounded);
        if let Some(timeout) = &matched.timeout {
            match self.timeout(site, timeout, matched.unit, env) {
                Timeout::Zero => return Some(None),
                Timeout::Seconds(seconds) => {
                    hold = LabelHold::Fixed(Hold::Seconds(seconds));
                    if effect == Effect::Wait {
                        severity = severity.min(Severity::Warning);
                    }
                }
                // The library has a default timeout, but the object may have another one.
                Timeout::Unbounded if matched.default.is_some() && self.argument(site, timeout).is_none() => {
                    let seconds =
                        matched.default.unwrap_or(0.0) * unit_seconds(matched.unit, self.program.language(site.file));
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
        if is_local(matched.row, effect) {
            hold = LabelHold::Fixed(Hold::Unstated);
        }
        // The size is unbounded but unknown. In a loop each piece may be small.
        let is_sized = matched.when.iter().any(|condition| condition.tests.contains(&Test::Unbounded));
        // The source of a stream is unknown.
        let is_unseen = matched.requires_unseen_source();
        if is_sized || is_unseen {
            undecided = true;
            severity = Severity::Note;
        }
        let is_for_end = matched.ended_by.as_deref() == Some(ENDED_BY_ANY_CALL);
        if let Some(method) = &matched.ended_by
            && !is_for_end
            && (self.is_handshake(site, method) || self.is_ended_before(site, method))
        {
            severity = Severity::Note;
        }
        if severity == Severity::Note {
            hold = LabelHold::Fixed(Hold::Brief);
        }
        let waits_elsewhere = || matched.fails == Some(Fails::Deadlocks) && self.waits_for_loop_of_another_thread(site);
        let fails = matched.fails.filter(|_| !waits_elsewhere());
        if fails.is_some() {
            severity = Severity::Error;
        }
        // A loop around a brief call multiplies its hold.
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
            native: matched.native,
            severity,
            fails: fails.is_some(),
            once: false,
            for_end: is_for_end,
            place,
            guard,
            outer: None,
            own: None,
            hold,
        };
        Some(Some(Sink { label, row: matched, path, undecided }))
    }

    /// Returns the label of a row for a call with unknown arguments.
    pub fn effect_without_arguments(&self, row: &CallRow) -> Option<Label> {
        let effect = row.held_effect()?;
        let blocks_any_thread = matches!(effect, Effect::Cpu | Effect::Input | Effect::File);
        let mut place = if row.native || blocks_any_thread { WhereSet::ALL } else { WhereSet::EVENT_LOOP };
        for condition in &row.unless {
            if let Some(limit) = context_limit(condition) {
                place = place.without(limit);
            }
        }
        let mut severity = self.library.severities().severity_of_row(row, effect);
        let mut hold = if is_local(row, effect) || row.timeout.is_some() { Hold::Unstated } else { Hold::Unbounded };
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

    /// True if the type of a receiver has the role of a lock.
    pub fn is_lock(&self, receiver: BoundId) -> bool {
        receiver.is_some()
            && self
                .types_through(self.values.single(receiver))
                .iter()
                .any(|&ty| self.library.role(ty).is_some_and(Role::is_lock))
    }

    /// True if all conditions are states of the receiver, and the call that created the receiver sets them.
    pub fn receiver_passes(&self, conditions: &[Condition], receiver: Val) -> bool {
        conditions.iter().all(|condition| {
            let is_about_receiver = matches!(&condition.subject, Subject::Argument(Argument::Receiver));
            is_about_receiver
                && condition.tests.iter().all(|test| match (test, receiver) {
                    (Test::State(state), Val::Library { made: Some(made), .. }) => self.call_sets_state(made, state),
                    _ => false,
                })
        })
    }
}

/// Returns `Yes` if the condition holds, else `No`.
pub(crate) fn yes_if(condition: bool) -> ConditionResult {
    if condition { ConditionResult::Yes } else { ConditionResult::No }
}

/// Returns the contexts or runtimes to which a condition limits its row; `None` for other conditions.
fn context_limit(condition: &Condition) -> Option<WhereSet> {
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

/// Returns the way in which a call of a row fails instead of blocking, for messages.
pub fn fails(row: &CallRow) -> Option<Fails> {
    row.fails
}

/// True if the duration of a call depends on the local machine alone: a file, a computation, an embedded database.
fn is_local(row: &CallRow, effect: Effect) -> bool {
    matches!(effect, Effect::File | Effect::Cpu) || row.kind == Some(WorkKind::Embedded)
}
