//! Explanation of a function for `blocklint why`: the reason why it must not block, its uses, and the blocking calls
//! that it reaches.

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

/// The explanation of a function.
#[derive(Debug)]
pub struct BodyExplanation {
    /// The function.
    pub body: BodyRef,
    /// The reason why it must not block, if it is a root.
    pub root: Option<Root>,
    /// The path of the decorator that registers it, with the context in which its library runs it.
    pub registered: Option<(PathId, Context)>,
    /// True if only tests build or run it.
    pub is_for_tests: bool,
    /// The signal that lowers its findings to notes, because the body delays no served request.
    pub aside_signal: Option<&'static Signal>,
    /// Its uses, those in tests last.
    pub uses: Vec<BodyUse>,
    /// The blocking calls that it reaches, the most certain first. Empty for a root with findings, which show the
    /// calls.
    pub blocking_paths: Vec<BlockingPath>,
    /// The reasons why the blocking calls are no findings, if there are no findings.
    pub stop_reasons: Vec<StopReason>,
    /// The indices of the findings in it, or in a lambda inside of it.
    pub findings: Vec<usize>,
    /// The indices of findings elsewhere whose path leads through it.
    pub findings_through: Vec<usize>,
}

/// A use of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyUse {
    /// A call.
    Called(SiteRef),
    /// A call whose result is awaited.
    Awaited(SiteRef),
    /// A call that only makes a coroutine or generator.
    Made(SiteRef),
    /// A call that hands it over to this context.
    HandedOver(SiteRef, Context),
    /// A call that gets it as an argument, with unknown use.
    PassedOn(SiteRef),
    /// A variable, field or container that stores it.
    Kept(FileId, Span),
}

/// A blocking call, with the best path to it.
#[derive(Debug)]
pub struct BlockingPath {
    /// The effect of the call.
    pub effect: Effect,
    /// The severity on a thread that must not block.
    pub severity: Severity,
    /// The confidence of the path.
    pub confidence: Confidence,
    /// The steps from the function to the call.
    pub trace: Vec<RawStep>,
}

impl Explainer<'_, '_> {
    /// Returns the explanation of a function.
    pub fn explain_body(&self, body: BodyRef) -> BodyExplanation {
        let linker = self.linker;
        let root = self.roots.find_root(body);
        let findings = self.findings_inside(body);
        let labelled_bodies = self.labelled_bodies.get(&body).map_or(&[][..], Vec::as_slice);
        let (mut findings_through, _) =
            self.follow_labels(labelled_bodies.iter().map(|&labelled_body| CallerStep::LabelledBody(labelled_body)));
        let stop_reasons = match labelled_bodies.first() {
            Some(&labelled_body) if findings_through.is_empty() => self.stop_reasons(labelled_body),
            _ => Vec::new(),
        };
        findings_through.retain(|index| !findings.contains(index));
        let mut blocking_paths = self.blocking_paths(labelled_bodies);
        if !findings.is_empty() && root.is_some() {
            blocking_paths.clear();
        }
        BodyExplanation {
            body,
            root,
            registered: self.registered(body),
            is_for_tests: linker.is_for_tests(body),
            aside_signal: self.judge.aside_signal(linker, body),
            uses: self.uses(body),
            blocking_paths,
            stop_reasons,
            findings,
            findings_through,
        }
    }

    /// Returns the findings in a function, or in a lambda inside of it.
    fn findings_inside(&self, body: BodyRef) -> Vec<usize> {
        let in_file = self.solved.findings.iter().enumerate().filter(|(_, raw)| raw.file == body.file);
        let in_body = in_file
            .filter(|(_, raw)| raw.root == body || self.is_inside(body, self.linker.program.body_of_site(raw.site)));
        in_body.map(|(index, _)| index).collect()
    }

    /// Returns the blocking calls that the labels of a body come from, each once with its best path.
    fn blocking_paths(&self, labelled_bodies: &[LabelledBodyId]) -> Vec<BlockingPath> {
        let mut visited: FxHashSet<(FileId, Span, String)> = FxHashSet::default();
        let mut paths: Vec<BlockingPath> = Vec::new();
        for &labelled_body in labelled_bodies {
            let Some((first, steps)) = self.paths.best_from(labelled_body) else { continue };
            let label = self.graph.labels.get(self.graph.labelled_body(labelled_body).label);
            let edges = self.paths.best_path(first);
            let trace: Vec<RawStep> =
                edges.iter().map(|edge| trace_step(self.linker, &self.graph, edge, None)).collect();
            let Some(last) = trace.last() else { continue };
            if visited.insert((last.file, last.span, last.call.clone())) {
                paths.push(BlockingPath {
                    effect: label.effect,
                    severity: label.severity,
                    confidence: confidence_of(steps),
                    trace,
                });
            }
        }
        paths.sort_by_key(|path| std::cmp::Reverse((path.confidence, path.severity)));
        paths
    }

    /// Returns the uses of a function, those in tests last.
    fn uses(&self, body: BodyRef) -> Vec<BodyUse> {
        let linker = self.linker;
        let is_awaited = |site: SiteRef| linker.program.site(site).flags.has(SiteFlags::AWAITED);
        let mut uses: Vec<BodyUse> = Vec::new();
        for caller in self.callers.find_callers(Node::plain(body)).iter() {
            uses.push(match caller.kind {
                CallerKind::PassesToLoop(_) => BodyUse::HandedOver(caller.site, Context::EventLoop),
                CallerKind::Runs | CallerKind::Consumes => BodyUse::Called(caller.site),
            });
        }
        let mut mentions = Vec::new();
        self.add_mentions(body, &mut mentions);
        let is_coroutine = linker.program.body(body).flow == Flow::Coroutine;
        for mention in mentions {
            uses.push(match mention {
                StopReason::Made(site) if is_coroutine && is_awaited(site) => BodyUse::Awaited(site),
                StopReason::Made(site) => BodyUse::Made(site),
                StopReason::HandedOver(site, context) => BodyUse::HandedOver(site, context),
                StopReason::PassedOn(site) => BodyUse::PassedOn(site),
                StopReason::Kept(file, span) => BodyUse::Kept(file, span),
                _ => continue,
            });
        }
        let mut visited: Vec<BodyUse> = Vec::with_capacity(uses.len());
        uses.retain(|body_use| {
            let is_new = !visited.contains(body_use);
            visited.push(*body_use);
            is_new
        });
        uses.sort_by_key(|body_use| {
            let (file, span) = self.place_of_use(*body_use);
            (self.is_use_in_test(*body_use), file != body.file, file, span)
        });
        uses
    }

    /// Returns the file and span of a use.
    fn place_of_use(&self, body_use: BodyUse) -> (FileId, Span) {
        match body_use {
            BodyUse::Called(site)
            | BodyUse::Awaited(site)
            | BodyUse::Made(site)
            | BodyUse::HandedOver(site, _)
            | BodyUse::PassedOn(site) => (site.file, self.linker.program.site(site).span),
            BodyUse::Kept(file, span) => (file, span),
        }
    }

    /// True if a use is in test code.
    pub fn is_use_in_test(&self, body_use: BodyUse) -> bool {
        match body_use {
            BodyUse::Called(site)
            | BodyUse::Awaited(site)
            | BodyUse::Made(site)
            | BodyUse::HandedOver(site, _)
            | BodyUse::PassedOn(site) => self.is_site_in_test(site),
            BodyUse::Kept(file, _) => self.linker.program.is_test(file),
        }
    }

    /// True if a site is in test code.
    pub(super) fn is_site_in_test(&self, site: SiteRef) -> bool {
        self.linker.is_for_tests(self.linker.program.body_of_site(site))
    }
}
