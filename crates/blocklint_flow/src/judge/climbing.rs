//! Signals that decide while labels are propagated to callers: code that runs the first time only, cached functions and
//! factories, conditions that every call rules out.

use blocklint_core::Language;
use blocklint_link::effect::guard::Guard;
use blocklint_link::effect::label::Label;
use blocklint_link::lang;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::callers::Callers;
use crate::entries::root::{Root, RootKind};
use crate::graph::marks::QuestionId;
use crate::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};
use crate::guards::Conditions;
use crate::judge::signal::SignalSet;
use crate::lifecycle::first_time::{FirstTime, find_first_time};
use crate::lifecycle::first_time_java::find_first_time_in_java;
use crate::lifecycle::frequency::Frequencies;
use crate::lifecycle::owner::Owner;

/// How many callers above a coroutine are searched for a call that meets its guard.
const MAX_GUARD_DEPTH: u32 = 3;

/// A label that reaches a site through an edge, as signals see it.
pub(crate) struct Arrival<'s, 'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) graph: &'s Graph<'a>,
    pub(crate) callers: &'s Callers<'l, 'a>,
    pub(crate) first_times: &'s mut FirstTimes,
    pub(crate) signals: &'s mut SiteSignals,
    pub(crate) site: SiteRef,
    pub(crate) label: &'s Label,
    /// The edge through which the label comes.
    pub(crate) edge: FlowEdge,
}

/// The cached answers of signals about one site, which many labels reach.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteSignals {
    answered: SignalSet,
    applied: SignalSet,
    /// The inferred steps that doubts add; `None` until they are computed.
    pub(crate) steps: Option<u8>,
    /// The doubts that add steps.
    pub(crate) doubts: SmallVec<[QuestionId; 1]>,
}

impl SiteSignals {
    /// Returns the answer of a signal about the site. The predicate runs only at the first call for a signal.
    pub(crate) fn answer_of(&mut self, signal: usize, predicate: impl FnOnce() -> bool) -> bool {
        if !self.answered.has(signal) {
            self.answered.add(signal);
            if predicate() {
                self.applied.add(signal);
            }
        }
        self.applied.has(signal)
    }
}

/// Cached answers about sites that run only once in the life of a program or of a key.
#[derive(Default)]
pub(crate) struct FirstTimes {
    sites: FxHashMap<SiteRef, Option<FirstTime>>,
    /// True for owners that live as long as the program.
    program_wide_owners: FxHashMap<Owner, bool>,
}

impl FirstTimes {
    /// Returns the check that lets a site run the first time only, if its owner lives as long as the program.
    fn first_time_at<'l, 'a>(
        &mut self,
        linker: &'l Linker<'a>,
        callers: &Callers<'l, 'a>,
        site: SiteRef,
    ) -> Option<FirstTime> {
        let FirstTimes { sites, program_wide_owners } = self;
        *sites.entry(site).or_insert_with(|| {
            if let Some(first_time) = find_first_time_in_java(linker, site) {
                return Some(first_time);
            }
            let lives_as_long_as_program = |keeper| Frequencies::new(linker, callers).is_program_wide(keeper);
            find_first_time(linker, site).filter(|first_time| {
                *program_wide_owners
                    .entry(first_time.keeper)
                    .or_insert_with(|| lives_as_long_as_program(first_time.keeper))
            })
        })
    }
}

/// True if a site runs once in the life of a program.
pub(crate) fn is_first_time(arrival: &mut Arrival<'_, '_, '_>) -> bool {
    arrival
        .first_times
        .first_time_at(arrival.linker, arrival.callers, arrival.site)
        .is_some_and(|first_time| !first_time.per_key)
}

/// True if a site runs once for each key of a collection.
pub(crate) fn is_once_per_key(arrival: &mut Arrival<'_, '_, '_>) -> bool {
    arrival
        .first_times
        .first_time_at(arrival.linker, arrival.callers, arrival.site)
        .is_some_and(|first_time| first_time.per_key)
}

/// True if a function that is cached until the program ends makes an object: it has no parameters, or it calls a
/// constructor. The object is made once for each set of arguments (Python).
pub(crate) fn makes_cached_object(arrival: &mut Arrival<'_, '_, '_>) -> bool {
    let program = arrival.linker.program;
    let body = program.body_of_site(arrival.site);
    let is_constructor = |next: LabelledBodyId| {
        let callee = arrival.graph.labelled_body(next).node.body;
        let facts = program.facts(callee.file);
        let body_facts = program.body(callee);
        body_facts.class.is_some() && lang::words_of(facts.language).is_constructor(facts.text(body_facts.name))
    };
    program.language(body.file) == Language::Python
        && program.body(body).class.is_none()
        && arrival.linker.method_kind(body).kept
        && (program.params_of(body).is_empty()
            || matches!(arrival.edge.next, EdgeTarget::LabelledBody(next) if is_constructor(next)))
}

/// True if a function caches its results.
pub(crate) fn is_cached(linker: &Linker<'_>, body: BodyRef) -> bool {
    linker.method_kind(body).cached
}

/// Returns inferred steps if every call in the project rules out the open condition of a coroutine. They only lower the
/// confidence, because code outside of the project may call the coroutine.
pub(crate) fn steps_if_no_call_meets_guard(
    conditions: &Conditions<'_, '_>,
    root: BodyRef,
    entry_point: Root,
    guard: &Guard,
) -> u8 {
    let is_ruled_out =
        entry_point.kind == RootKind::Coroutine && conditions.no_call_meets_guard(root, guard, MAX_GUARD_DEPTH);
    if is_ruled_out { LOW_STEPS } else { 0 }
}
