//! Signals that decide while labels climb: first times, cached functions and factories, conditions that every call rules out.

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
use crate::graph::marks::AskId;
use crate::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};
use crate::guards::Conditions;
use crate::judge::signal::SignalSet;
use crate::lifecycle::first_time::{FirstTime, find_first_time};
use crate::lifecycle::first_time_java::find_first_time_in_java;
use crate::lifecycle::frequency::Frequencies;
use crate::lifecycle::owner::Owner;

/// A label that reaches a site, as signals see it.
pub(crate) struct Arrival<'s, 'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) graph: &'s Graph<'a>,
    pub(crate) callers: &'s Callers<'l, 'a>,
    pub(crate) first_times: &'s mut FirstTimes,
    pub(crate) heard: &'s mut SiteSignals,
    pub(crate) site: SiteRef,
    pub(crate) label: &'s Label,
    /// The edge by which the label comes.
    pub(crate) edge: FlowEdge,
}

/// Answers about one site, which many labels reach.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteSignals {
    asked: SignalSet,
    decided: SignalSet,
    /// The inferred steps of all doubts, once they were asked.
    pub(crate) steps: Option<u8>,
    /// The doubts that add some of them.
    pub(crate) doubts: SmallVec<[AskId; 1]>,
}

impl SiteSignals {
    /// True if a signal about the site decided; each is asked once.
    pub(crate) fn decides(&mut self, signal: usize, asks: impl FnOnce() -> bool) -> bool {
        if !self.asked.has(signal) {
            self.asked.add(signal);
            if asks() {
                self.decided.add(signal);
            }
        }
        self.decided.has(signal)
    }
}

/// Sites by whether they run once in the life of a program or of a key, as far as that was asked.
#[derive(Default)]
pub(crate) struct FirstTimes {
    sites: FxHashMap<SiteRef, Option<FirstTime>>,
    /// Owners by whether they live as long as the program.
    keepers: FxHashMap<Owner, bool>,
}

impl FirstTimes {
    fn of<'l, 'a>(&mut self, linker: &'l Linker<'a>, callers: &Callers<'l, 'a>, site: SiteRef) -> Option<FirstTime> {
        let FirstTimes { sites, keepers } = self;
        *sites.entry(site).or_insert_with(|| {
            if let Some(found) = find_first_time_in_java(linker, site) {
                return Some(found);
            }
            let lives_on = |keeper| Frequencies::new(linker, callers).is_program_wide(keeper);
            find_first_time(linker, site)
                .filter(|found| *keepers.entry(found.keeper).or_insert_with(|| lives_on(found.keeper)))
        })
    }
}

/// True if a site runs once in the life of a program.
pub(crate) fn is_first_time(on: &mut Arrival<'_, '_, '_>) -> bool {
    on.first_times.of(on.linker, on.callers, on.site).is_some_and(|found| !found.per_key)
}

/// True if a site runs once for each key of a collection.
pub(crate) fn is_once_per_key(on: &mut Arrival<'_, '_, '_>) -> bool {
    on.first_times.of(on.linker, on.callers, on.site).is_some_and(|found| found.per_key)
}

/// True if an edge leads from a cached function without parameters, or to the constructor of the object that it makes:
/// a cached factory makes an object once for its settings (Python).
pub(crate) fn makes_kept_object(on: &mut Arrival<'_, '_, '_>) -> bool {
    let program = on.linker.program;
    let body = program.body_of_site(on.site);
    let makes = |next: LabelledBodyId| {
        let callee = on.graph.labelled_body(next).node.body;
        let made = program.facts(callee.file);
        let row = program.body(callee);
        row.class.is_some() && lang::words_of(made.language).is_constructor(made.text(row.name))
    };
    program.language(body.file) == Language::Python
        && program.body(body).class.is_none()
        && on.linker.method_kind(body).kept
        && (program.params_of(body).is_empty() || matches!(on.edge.next, EdgeTarget::LabelledBody(next) if makes(next)))
}

/// True if a function caches its results.
pub(crate) fn is_cached(linker: &Linker<'_>, body: BodyRef) -> bool {
    linker.method_kind(body).cached
}

/// Returns the steps of a coroutine's own condition that every call in the project rules out: others may call it so.
pub(crate) fn steps_if_none_calls_it_so(
    conditions: &Conditions<'_, '_>,
    root: BodyRef,
    kind: Root,
    guard: &Guard,
) -> u8 {
    let is_ruled_out = kind.kind == RootKind::Coroutine && conditions.no_call_meets_guard(root, guard, 3);
    if is_ruled_out { LOW_STEPS } else { 0 }
}
