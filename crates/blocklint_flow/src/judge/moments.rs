//! Signals about when and how often a path runs: in tests, in commands, at start-up, once, on each request. The phases
//! and frequencies themselves are computed in `lifecycle/`.

use blocklint_core::{Fails, Language};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::BodyRef;
use rustc_hash::FxHashMap;

use crate::callers::Callers;
use crate::entries::purpose::{project_serves, project_takes_arguments};
use crate::graph::marks::QuestionId;
use crate::judge::Judge;
use crate::judge::signal::PathSubject;
use crate::lifecycle::frequency::Frequencies;
use crate::lifecycle::loops::is_looped;
use crate::lifecycle::phase::{Phases, When};
use crate::lifecycle::phase_java::find_chain_source;
use crate::lifecycle::reached_by::ReachedBy;

/// Cached answers about when and how often the paths of candidates run.
pub struct Moments<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    phases: Phases<'s, 'l, 'a>,
    times: Frequencies<'s, 'l, 'a>,
    reached_by: &'s ReachedBy<'s, 'l, 'a>,
    roots: FxHashMap<BodyRef, Option<QuestionId>>,
    /// When the current candidate runs; `None` until a signal asks.
    of_candidate: Option<When>,
}

impl<'s, 'l, 'a> Moments<'s, 'l, 'a> {
    /// Returns an empty cache.
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

    /// Begins another candidate: clears the answer about the candidate before it.
    pub(crate) fn begin_candidate(&mut self) {
        self.of_candidate = None;
    }

    /// Returns the first question with the answer "yes" about a root that delays no served request.
    pub(crate) fn aside_question(&mut self, judge: &Judge, root: BodyRef) -> Option<QuestionId> {
        *self.roots.entry(root).or_insert_with(|| judge.aside_question(self.linker, root))
    }

    /// Returns the phase of the program in which a candidate runs.
    pub(crate) fn when(&mut self, subject: &PathSubject<'_, '_>) -> When {
        if let Some(cached_when) = self.of_candidate {
            return cached_when;
        }
        let when = self.find_when(subject);
        self.of_candidate = Some(when);
        when
    }

    /// Computes [`Moments::when`].
    fn find_when(&mut self, subject: &PathSubject<'_, '_>) -> When {
        let (linker, Some(first)) = (self.linker, subject.path.first()) else { return When::Unknown };
        // In Java a handler that start-up code registers runs later. A handler that a test registers ends with the
        // test.
        let is_later =
            subject.handed && subject.language() == Language::Java && !linker.program.is_test(subject.root.file);
        // A chain that looks something up, or continues a future, runs its handler at once.
        let runs_at_once = || {
            find_chain_source(linker, first.site).is_some_and(lang::java::names::is_lookup)
                || linker.continues_future(first.site)
        };
        if is_later {
            return if runs_at_once() {
                self.phases.time_of_body(linker.program.body_of_site(first.site))
            } else {
                When::Unknown
            };
        }
        match self.phases.time_of_site(subject.root, first.site) {
            // `reached_by` follows callers without a limit of depth.
            When::Unknown if !subject.handed => {
                self.reached_by.time_outside_serving(subject.root).unwrap_or(When::Unknown)
            }
            when => when,
        }
    }

    /// True if a path runs once: all callers of its first function begin at the start of a program, without concurrent
    /// tasks, and no call of the path is in a loop without a known end.
    fn runs_once(&mut self, subject: &PathSubject<'_, '_>) -> bool {
        // Loops are checked first, because following all callers is expensive.
        !subject.path.iter().any(|edge| is_looped(self.linker, edge.site))
            && subject.path.first().is_some_and(|first| self.times.frequency_of_site(first.site).is_once())
    }
}

/// True if a path runs once in a program that serves requests, before it serves any.
pub(crate) fn is_alone(subject: &PathSubject<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> bool {
    moments.when(subject) == When::Unknown
        && !subject.handed
        && project_serves(subject.linker)
        && moments.runs_once(subject)
}

/// True if each chain of callers above a path's first function begins at a private function without a use in the
/// project (Python).
pub(crate) fn is_never_reached(subject: &PathSubject<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> bool {
    moments.reached_by.is_never_reached(subject.root)
}

/// True if a path runs once in a command line program.
pub(crate) fn is_once_in_command(subject: &PathSubject<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> bool {
    moments.when(subject) == When::Unknown
        && !subject.handed
        && !project_serves(subject.linker)
        && project_takes_arguments(subject.linker)
        && moments.runs_once(subject)
}

/// True if a call that fails on a thread of the runtime evidently does not fail here. In a test it would fail the test,
/// and a deadlock needs other work that waits for the thread, which start-up code and commands do not have.
pub(crate) fn cannot_fail_here(subject: &PathSubject<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> bool {
    let Some(first) = subject.path.first() else { return false };
    match moments.phases.time_of_site(subject.root, first.site) {
        When::Test => true,
        when if when.delays_no_request() => {
            subject.sink().is_some_and(|sink| subject.graph.sinks[sink as usize].row.fails == Some(Fails::Deadlocks))
        }
        _ => false,
    }
}

/// True if each request constructs an object of a library type at the end of the path, without a branch or a cached
/// function that avoids the call.
pub(crate) fn makes_on_each_request(subject: &PathSubject<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> bool {
    let linker = subject.linker;
    let constructs = subject.sink().is_some_and(|sink| linker.library.is_type(subject.graph.sinks[sink as usize].path));
    let is_avoidable = |site| {
        let body = linker.program.body_of_site(site);
        linker.is_in_branch(site) || linker.method_kind(body).cached
    };
    constructs
        && !subject.path.iter().any(|edge| is_avoidable(edge.site))
        && moments.phases.time_of_body(subject.root) == When::Serving
}
