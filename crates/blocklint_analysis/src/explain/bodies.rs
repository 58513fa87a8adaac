//! One function as a whole: why it must not block, who uses it, what it reaches that blocks.

use blocklint_core::{Confidence, Context, Effect, Severity, Span};
use blocklint_facts::{Flow, SiteFlags};
use blocklint_flow::callers::{CallerKind, Node};
use blocklint_flow::entries::root::Root;
use blocklint_flow::graph::LabelledBodyId;
use blocklint_flow::graph::raw_finding::RawStep;
use blocklint_flow::graph::trace::trace_step;
use blocklint_flow::judge::confidence::confidence_of;
use blocklint_flow::judge::signal::Signal;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use rustc_hash::FxHashSet;

use super::{CallerStep, Explainer, StopReason};

/// Everything that is known of a function as a whole.
#[derive(Debug)]
pub struct BodyExplanation {
    /// The function.
    pub body: BodyRef,
    /// Why it must not block, if it must not.
    pub root: Option<Root>,
    /// The library that runs it by this path, in a context that may be held.
    pub registered: Option<(PathId, Context)>,
    /// True if it is built or run for tests only.
    pub is_for_tests: bool,
    /// The signal by which findings below it are left aside: it delays no request that is served.
    pub aside_signal: Option<&'static Signal>,
    /// Its uses, those that count before those in tests.
    pub uses: Vec<BodyUse>,
    /// The calls at its end that block, the surest first; of a function that must not block its findings name them.
    pub reaches: Vec<BlockingPath>,
    /// Why what it reaches is no finding, where it is none.
    pub stops: Vec<StopReason>,
    /// Indices of the findings that stand in it, or in its content.
    pub findings: Vec<usize>,
    /// Indices of the findings elsewhere whose path leads through it.
    pub passing: Vec<usize>,
}

/// A place that uses a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyUse {
    /// It is called there.
    Called(SiteRef),
    /// Its result is awaited there.
    Awaited(SiteRef),
    /// It is made into a coroutine or generator there.
    Made(SiteRef),
    /// It is handed to this context.
    HandedOver(SiteRef, Context),
    /// It is passed to a call whose use of it is unknown.
    PassedOn(SiteRef),
    /// It is kept in a variable, field or container.
    Kept(FileId, Span),
}

/// A call that blocks, with the best path to it.
#[derive(Debug)]
pub struct BlockingPath {
    /// How it holds the thread.
    pub effect: Effect,
    /// How bad that is where the thread must not be held.
    pub severity: Severity,
    /// How sure the path is.
    pub confidence: Confidence,
    /// The steps from the function to the call.
    pub trace: Vec<RawStep>,
}

impl Explainer<'_, '_> {
    /// Returns everything that is known of a function as a whole.
    pub fn explain_body(&self, body: BodyRef) -> BodyExplanation {
        let linker = self.linker;
        let root = self.roots.of(body);
        let findings = self.findings_inside(body);
        let labelled_bodies = self.labelled_bodies.get(&body).map_or(&[][..], Vec::as_slice);
        let (mut passing, _) =
            self.reached(labelled_bodies.iter().map(|&labelled_body| CallerStep::LabelledBody(labelled_body)));
        let stops = match labelled_bodies.first() {
            Some(&labelled_body) if passing.is_empty() => self.stops(labelled_body),
            _ => Vec::new(),
        };
        passing.retain(|at| !findings.contains(at));
        let mut reaches = self.calls_reached(labelled_bodies);
        if !findings.is_empty() && root.is_some() {
            reaches.clear();
        }
        BodyExplanation {
            body,
            root,
            registered: self.registered(body),
            is_for_tests: linker.is_for_tests(body),
            aside_signal: self.judge.aside_signal(linker, body),
            uses: self.uses(body),
            reaches,
            stops,
            findings,
            passing,
        }
    }

    /// Returns the findings that stand in a function, or in a literal in it.
    fn findings_inside(&self, body: BodyRef) -> Vec<usize> {
        let found = self.solved.findings.iter().enumerate().filter(|(_, raw)| raw.file == body.file);
        let found = found
            .filter(|(_, raw)| raw.root == body || self.is_inside(body, self.linker.program.body_of_site(raw.site)));
        found.map(|(at, _)| at).collect()
    }

    /// Returns the calls that labels of a body come from, each once with its best path.
    fn calls_reached(&self, labelled_bodies: &[LabelledBodyId]) -> Vec<BlockingPath> {
        let mut seen: FxHashSet<(FileId, Span, String)> = FxHashSet::default();
        let mut found: Vec<BlockingPath> = Vec::new();
        for &labelled_body in labelled_bodies {
            let Some((first, steps)) = self.paths.best_from(labelled_body) else { continue };
            let label = self.graph.labels.get(self.graph.labelled_body(labelled_body).label);
            let edges = self.paths.best_path(first);
            let trace: Vec<RawStep> =
                edges.iter().map(|edge| trace_step(self.linker, &self.graph, edge, None)).collect();
            let Some(last) = trace.last() else { continue };
            if seen.insert((last.file, last.span, last.call.clone())) {
                found.push(BlockingPath {
                    effect: label.effect,
                    severity: label.severity,
                    confidence: confidence_of(steps),
                    trace,
                });
            }
        }
        found.sort_by_key(|one| std::cmp::Reverse((one.confidence, one.severity)));
        found
    }

    /// Returns the uses of a function, those that count before those in tests.
    fn uses(&self, body: BodyRef) -> Vec<BodyUse> {
        let linker = self.linker;
        let is_awaited = |site: SiteRef| linker.program.site(site).flags.has(SiteFlags::AWAITED);
        let mut found: Vec<BodyUse> = Vec::new();
        for caller in self.callers.of(Node::plain(body)).iter() {
            found.push(match caller.kind {
                CallerKind::HandsToLoop(_) => BodyUse::HandedOver(caller.site, Context::EventLoop),
                CallerKind::Runs | CallerKind::Consumes => BodyUse::Called(caller.site),
            });
        }
        let mut mentions = Vec::new();
        self.mentioned(body, &mut mentions);
        let is_coroutine = linker.program.body(body).flow == Flow::Coroutine;
        for mention in mentions {
            found.push(match mention {
                StopReason::Made(site) if is_coroutine && is_awaited(site) => BodyUse::Awaited(site),
                StopReason::Made(site) => BodyUse::Made(site),
                StopReason::HandedOver(site, context) => BodyUse::HandedOver(site, context),
                StopReason::PassedOn(site) => BodyUse::PassedOn(site),
                StopReason::Kept(file, span) => BodyUse::Kept(file, span),
                _ => continue,
            });
        }
        let mut seen: Vec<BodyUse> = Vec::with_capacity(found.len());
        found.retain(|one| {
            let is_new = !seen.contains(one);
            seen.push(*one);
            is_new
        });
        found.sort_by_key(|one| {
            let (file, at) = self.place_of_use(*one);
            (self.is_use_in_test(*one), file != body.file, file, at)
        });
        found
    }

    fn place_of_use(&self, one: BodyUse) -> (FileId, Span) {
        match one {
            BodyUse::Called(site)
            | BodyUse::Awaited(site)
            | BodyUse::Made(site)
            | BodyUse::HandedOver(site, _)
            | BodyUse::PassedOn(site) => (site.file, self.linker.program.site(site).span),
            BodyUse::Kept(file, span) => (file, span),
        }
    }

    /// True if a use stands in code that is there for tests only.
    pub fn is_use_in_test(&self, one: BodyUse) -> bool {
        match one {
            BodyUse::Called(site)
            | BodyUse::Awaited(site)
            | BodyUse::Made(site)
            | BodyUse::HandedOver(site, _)
            | BodyUse::PassedOn(site) => self.is_site_in_test(site),
            BodyUse::Kept(file, _) => self.linker.program.is_test(file),
        }
    }

    /// True if a site stands in code that is there for tests only.
    pub(super) fn is_site_in_test(&self, site: SiteRef) -> bool {
        self.linker.is_for_tests(self.linker.program.body_of_site(site))
    }
}
