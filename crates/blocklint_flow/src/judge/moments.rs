//! Signals about when and how often a path runs: in tests, in commands, at start-up, once, on each request.

use blocklint_core::{Fails, Language};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::BodyRef;
use rustc_hash::FxHashMap;

use crate::callers::Callers;
use crate::entries::purpose::{project_serves, project_takes_arguments};
use crate::graph::marks::AskId;
use crate::judge::Judge;
use crate::judge::signal::Traced;
use crate::lifecycle::frequency::Frequencies;
use crate::lifecycle::loops::is_looped;
use crate::lifecycle::phase::{Phases, When};
use crate::lifecycle::phase_java::find_chain_source;
use crate::lifecycle::reached_by::ReachedBy;

/// When and how often code runs, as far as that was asked for the candidates of a run.
pub struct Moments<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    phases: Phases<'s, 'l, 'a>,
    times: Frequencies<'s, 'l, 'a>,
    reached_by: &'s ReachedBy<'s, 'l, 'a>,
    roots: FxHashMap<BodyRef, Option<AskId>>,
    /// When the candidate at hand runs, once a signal asked.
    of_candidate: Option<When>,
}

impl<'s, 'l, 'a> Moments<'s, 'l, 'a> {
    /// Returns the answers, of which none was asked yet.
    pub fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>, reached_by: &'s ReachedBy<'s, 'l, 'a>) -> Self {
        Moments {
            linker,
            reached_by,
            phases: Phases::new(linker, callers),
            times: Frequencies::sure_of_once(linker, callers),
            roots: FxHashMap::default(),
            of_candidate: None,
        }
    }

    /// Forgets when the candidate before ran.
    pub(crate) fn begin_candidate(&mut self) {
        self.of_candidate = None;
    }

    /// Returns the question that leaves a root aside, because it delays no request that is served.
    pub(crate) fn of_root(&mut self, judge: &Judge, root: BodyRef) -> Option<AskId> {
        *self.roots.entry(root).or_insert_with(|| judge.of_root(self.linker, root))
    }

    /// Returns when a candidate runs.
    pub(crate) fn when(&mut self, on: &Traced<'_, '_>) -> When {
        if let Some(known) = self.of_candidate {
            return known;
        }
        let when = self.find_when(on);
        self.of_candidate = Some(when);
        when
    }

    fn find_when(&mut self, on: &Traced<'_, '_>) -> When {
        let (linker, Some(first)) = (self.linker, on.path.first()) else { return When::Unknown };
        // In Java a handler that start-up code hands over runs later, but one of a test does not outlive the test.
        let is_later = on.handed && on.language() == Language::Java && !linker.program.is_test(on.root.file);
        // It runs at once if its chain looks something up, and ends with that.
        let ends = || {
            find_chain_source(linker, first.site).is_some_and(lang::java::names::is_lookup)
                || linker.continues_future(first.site)
        };
        match is_later {
            true if ends() => self.phases.time_of_body(linker.program.body_of_site(first.site)),
            true => When::Unknown,
            false => match self.phases.time_of_site(on.root, first.site) {
                // All callers, however far, tell more than the nearest ones.
                When::Unknown if !on.handed => self.reached_by.time_outside_serving(on.root).unwrap_or(When::Unknown),
                when => when,
            },
        }
    }

    /// True if a path runs once, before anything is served or in a program that serves nothing: all callers of its first function come
    /// from where a program begins, with no tasks beside it, and no loop on the path goes round as long as something holds.
    fn runs_once(&mut self, on: &Traced<'_, '_>) -> bool {
        // The loops first: callers are followed up to where the program begins.
        !on.path.iter().any(|edge| is_looped(self.linker, edge.site))
            && on.path.first().is_some_and(|first| self.times.frequency_of_site(first.site).is_once())
    }
}

/// True if a path runs in a program that serves, alone on its loop.
pub(crate) fn is_alone(on: &Traced<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> bool {
    moments.when(on) == When::Unknown && !on.handed && project_serves(on.linker) && moments.runs_once(on)
}

/// True if all callers of a path's first function, however far up, begin at private functions that the project names
/// nowhere (Python).
pub(crate) fn is_never_reached(on: &Traced<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> bool {
    moments.reached_by.is_never_reached(on.root)
}

/// True if a path runs once in a command line program.
pub(crate) fn is_once_in_command(on: &Traced<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> bool {
    moments.when(on) == When::Unknown
        && !on.handed
        && !project_serves(on.linker)
        && project_takes_arguments(on.linker)
        && moments.runs_once(on)
}

/// True if a call that would fail on a thread of the runtime evidently does not: a test that fails would not be there, and a call
/// that deadlocks only where others wait for the thread does not where nothing is served.
pub(crate) fn fails_elsewhere(on: &Traced<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> bool {
    let Some(first) = on.path.first() else { return false };
    match moments.phases.time_of_site(on.root, first.site) {
        When::Test => true,
        when if when.delays_no_request() => {
            on.sink().is_some_and(|sink| on.graph.sinks[sink as usize].row.fails == Some(Fails::Deadlocks))
        }
        _ => false,
    }
}

/// True if each request makes an object of a library's type at the end of a path: no branch or cached function may spare the call.
pub(crate) fn makes_on_each_request(on: &Traced<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> bool {
    let linker = on.linker;
    let constructs = on.sink().is_some_and(|sink| linker.library.is_type(on.graph.sinks[sink as usize].path));
    let may_be_spared = |site| {
        let body = linker.program.body_of_site(site);
        linker.is_in_branch(site) || linker.method_kind(body).cached
    };
    constructs
        && !on.path.iter().any(|edge| may_be_spared(edge.site))
        && moments.phases.time_of_body(on.root) == When::Serving
}
