//! Finds the helpers between `async` code and blocking calls with an async twin, if all of them can become `async`
//! together (Rust).
//!
//! A helper that becomes `async` changes for all of its callers. So the set of helpers is closed: each caller of a
//! helper is a helper or can await, and each blocking call in a helper has an async twin or calls another helper.
//! Findings that share a helper get the same edits. The front end checks the source text for further reasons against an
//! edit.

use std::sync::Arc;

use blocklint_core::{Effect, Language, Place, Runtime, Severity, Span, last_name};
use blocklint_facts::{BodyFlags, BodyKind, Flow, SiteId, SiteKind};
use blocklint_flow::graph::trace::place_of;
use blocklint_flow::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId, SinkSite};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::linker::Linker;
use blocklint_link::models::availability::PathAvailability;
use blocklint_link::program::CrateLayout;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::value::EnvId;
use blocklint_models::FixKind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::async_chain::{Chain, ChainHelper, ChainSink, NoChain, Unchained};
use crate::row_advice::{AsyncTwin, async_twins, twin_returns_same};

/// The greatest number of helpers between `async` code and a blocking call.
const MAX_DEPTH: usize = 2;
/// The greatest number of helpers that change together.
const MAX_HELPERS: usize = 8;
/// The greatest number of calls of these helpers.
const MAX_CALLS: usize = 40;
/// The greatest number of bodies called by helpers that are searched for recursion.
const MAX_SEARCHED: usize = 100;

/// A chain, or the reason why there is none.
type ChainDecision = Result<Arc<Chain>, Unchained>;

/// Decides about helpers on the paths of findings, and keeps the decisions by helper and runtime.
#[derive(Default)]
pub struct Chains {
    /// The labelled bodies of each body, computed at the first use.
    labelled_bodies: Option<FxHashMap<BodyRef, Vec<LabelledBodyId>>>,
    decisions: FxHashMap<(BodyRef, Option<Runtime>), Option<ChainDecision>>,
}

impl Chains {
    /// Returns the decision about the helper that the first edge of a path calls; `None` if the edge calls no Rust
    /// helper, or if the helper's blocking calls are too short to matter.
    pub fn of(
        &mut self,
        linker: &Linker<'_>,
        graph: &Graph<'_>,
        first: &FlowEdge,
        runtime: Option<Runtime>,
    ) -> Option<ChainDecision> {
        let EdgeTarget::LabelledBody(labelled_body) = first.next else { return None };
        let helper = graph.labelled_body(labelled_body).node.body;
        if linker.program.language(helper.file) != Language::Rust || first.arg.is_some() {
            return None;
        }
        if let Some(known) = self.decisions.get(&(helper, runtime)) {
            return known.clone();
        }
        let labelled_bodies = self.labelled_bodies.get_or_insert_with(|| labelled_bodies_by_body(linker, graph));
        let mut closing = Closing {
            linker,
            graph,
            runtime,
            labelled_bodies,
            helpers: vec![helper],
            helper_calls: Vec::new(),
            calls: FxHashSet::default(),
            awaiting: Vec::new(),
            tests: Vec::new(),
            sinks: FxHashMap::default(),
            others: FxHashSet::default(),
            hops_in_loop: false,
        };
        let decision = closing.close().map(Arc::new);
        // Without a sink, all blocking calls are too short to matter.
        let decision = Some(decision).filter(|decision| decision.as_ref().is_err() || !closing.sinks.is_empty());
        for &of in &closing.helpers {
            self.decisions.insert((of, runtime), decision.clone());
        }
        decision
    }
}

fn labelled_bodies_by_body(linker: &Linker<'_>, graph: &Graph<'_>) -> FxHashMap<BodyRef, Vec<LabelledBodyId>> {
    let mut labelled_bodies: FxHashMap<BodyRef, Vec<LabelledBodyId>> = FxHashMap::default();
    for (at, labelled_body) in graph.labelled_bodies.iter().enumerate() {
        if linker.program.language(labelled_body.node.body.file) == Language::Rust {
            labelled_bodies.entry(labelled_body.node.body).or_default().push(LabelledBodyId(at as u32));
        }
    }
    labelled_bodies
}

/// The search for a chain: a set of helpers to which callers and callees are added until it is closed.
struct Closing<'c, 'l, 'a> {
    linker: &'c Linker<'l>,
    graph: &'c Graph<'a>,
    runtime: Option<Runtime>,
    labelled_bodies: &'c FxHashMap<BodyRef, Vec<LabelledBodyId>>,
    helpers: Vec<BodyRef>,
    /// The calls among helpers: caller and callee.
    helper_calls: Vec<(BodyRef, BodyRef)>,
    calls: FxHashSet<SiteRef>,
    /// The calls in code that is `async` already.
    awaiting: Vec<SiteRef>,
    /// Tests that call helpers, each with one of its calls.
    tests: Vec<(BodyRef, SiteRef)>,
    sinks: FxHashMap<SiteRef, String>,
    others: FxHashSet<SiteRef>,
    hops_in_loop: bool,
}

impl Closing<'_, '_, '_> {
    fn close(&mut self) -> Result<Chain, Unchained> {
        let mut index = 0;
        while let Some(&helper) = self.helpers.get(index) {
            index += 1;
            self.add_callees(helper)?;
            self.add_callers(helper)?;
            if self.helpers.len() > MAX_HELPERS || self.calls.len() > MAX_CALLS {
                return Err(self.refused_at_helper(NoChain::TooMany, helper));
            }
        }
        for &helper in &self.helpers {
            match self.depth(helper, MAX_DEPTH + 1) {
                None => return Err(self.refused_at_helper(NoChain::Recursive(self.name(helper)), helper)),
                Some(depth) if depth > MAX_DEPTH => return Err(self.refused_at_helper(NoChain::TooMany, helper)),
                Some(_) => {}
            }
        }
        self.check_twins_available()?;
        if let Some(site) = self.recursive_call() {
            return Err(
                self.refused_at_site(NoChain::Recursive(self.name(self.linker.program.body_of_site(site))), site)
            );
        }
        Ok(self.to_chain())
    }

    /// Returns the first call of a path on which a helper calls itself through other functions, also from a task that
    /// it starts. rustc rejects an `async fn` that awaits itself, because its future has infinite size (E0733).
    fn recursive_call(&self) -> Option<SiteRef> {
        let linker = self.linker;
        let is_in_helper = |body: BodyRef| self.helpers.iter().any(|&helper| is_inside(linker, body, helper));
        let mut open: Vec<(BodyRef, Option<SiteRef>)> = self.helpers.iter().map(|&helper| (helper, None)).collect();
        let mut visited: FxHashSet<BodyRef> = self.helpers.iter().copied().collect();
        let mut index = 0;
        while index < open.len() && index < MAX_SEARCHED {
            let (body, by) = open[index];
            index += 1;
            let facts = linker.program.facts(body.file);
            for site in (0..facts.sites.len() as u32).map(SiteId) {
                let caller = linker.program.body_of(body.file, facts.site(site).at);
                if !is_inside(linker, caller, body) {
                    continue;
                }
                let site = body.file.site_ref(site);
                let first = by.unwrap_or(site);
                // `depth` checks the calls in the bodies of the helpers themselves.
                if self.calls.contains(&site) && (by.is_some() || !self.helpers.contains(&caller)) {
                    return Some(first);
                }
                for target in linker.targets(site, EnvId::NONE).list.iter() {
                    if let Target::Body { body: next, .. } = *target
                        && !is_in_helper(next)
                        && visited.insert(next)
                    {
                        open.push((next, Some(first)));
                    }
                }
            }
        }
        None
    }

    /// Adds the blocking calls of a helper: calls of other helpers, and of libraries.
    fn add_callees(&mut self, helper: BodyRef) -> Result<(), Unchained> {
        let (linker, graph) = (self.linker, self.graph);
        let edges = self.labelled_bodies.get(&helper).into_iter().flatten();
        let mut edges: Vec<FlowEdge> =
            edges.flat_map(|labelled_body| graph.labelled_body(*labelled_body).edges.iter().copied()).collect();
        edges.sort_by_key(|edge| edge.site);
        for edge in edges {
            let is_short = match edge.next {
                EdgeTarget::LabelledBody(labelled_body) => {
                    graph.labels.get(graph.labelled_body(labelled_body).label).severity == Severity::Note
                }
                EdgeTarget::Sink(sink) => graph.labels.get(graph.sinks[sink as usize].label).severity == Severity::Note,
            };
            if edge.arg.is_some() || linker.program.body_of_site(edge.site) != helper {
                if is_short {
                    continue;
                }
                return Err(self.refused_at_site(NoChain::InClosure, edge.site));
            }
            match edge.next {
                EdgeTarget::LabelledBody(labelled_body) => {
                    let next = graph.labelled_body(labelled_body).node.body;
                    let row = linker.program.body(next);
                    if is_short && !self.helpers.contains(&next) {
                        continue;
                    }
                    if row.kind != BodyKind::Function || row.flow != Flow::Sync {
                        return Err(self.refused_at_site(NoChain::InClosure, edge.site));
                    }
                    self.add_helper(next);
                }
                EdgeTarget::Sink(sink) => match self.twin(&graph.sinks[sink as usize]) {
                    Some(twin) => {
                        self.hops_in_loop |=
                            linker.program.facts(edge.site.file).is_in_loop(linker.program.site(edge.site).at.region)
                                && !self.is_sleep(&graph.sinks[sink as usize]);
                        self.sinks.insert(edge.site, twin);
                    }
                    None if is_short => {}
                    None => {
                        let call = linker.library.text(graph.sinks[sink as usize].path).to_string();
                        return Err(self.refused_at_site(NoChain::NoTwin(call), edge.site));
                    }
                },
            }
        }
        Ok(())
    }

    fn is_sleep(&self, sink: &SinkSite<'_>) -> bool {
        self.graph.labels.get(sink.label).effect == Effect::Sleep
    }

    /// Returns the async twin of a library call; `None` if it cannot simply replace the call.
    fn twin(&self, sink: &SinkSite<'_>) -> Option<String> {
        let linker = self.linker;
        let calls = linker.library.calls(sink.path);
        let rewrites = sink.row.rewrite.is_some() || calls.advice().any(|row| row.row.rewrite.is_some());
        let is_call = linker.program.site(sink.site).kind == SiteKind::Call;
        if rewrites || !is_call || sink.row.lazy || matches!(sink.row.fix, Some(FixKind::Offload | FixKind::None)) {
            return None;
        }
        let AsyncTwin { path: twin, is_local } =
            async_twins(linker, sink, self.runtime, Language::Rust).into_iter().next()?;
        let parent = twin.rsplit_once("::").map_or("", |(parent, _)| parent);
        let is_type = last_name(parent).starts_with(char::is_uppercase);
        let is_sleep = self.is_sleep(sink);
        let is_named_so = last_name(&twin) == last_name(&linker.library.text(sink.path));
        (is_local && !is_type && (is_named_so || is_sleep) && twin_returns_same(linker, sink, &twin)).then_some(twin)
    }

    /// Adds the callers of a helper.
    fn add_callers(&mut self, helper: BodyRef) -> Result<(), Unchained> {
        let linker = self.linker;
        let row = linker.program.body(helper);
        let is_nested = row.class.is_none()
            && row
                .parent
                .get()
                .is_some_and(|parent| linker.program.facts(helper.file).body(parent).kind != BodyKind::Module);
        let mut called = false;
        for name in linker.body_names(helper).into_iter().filter(|_| !is_nested) {
            let bearers = linker.sites_by_name(name);
            if let Some(&(file, mention, _)) = bearers.mentions.get(&helper).and_then(|all| all.first()) {
                let place = match mention {
                    Mention::Arg(site, _) | Mention::Operand(site) => self.call_place(file.site_ref(site)),
                    _ => self.place(helper.file, row.name_span),
                };
                // An import only binds the name.
                let is_import = matches!(mention, Mention::Assign(_));
                if !is_import {
                    return Err(Unchained { why: NoChain::Value(self.name(helper)), place });
                }
            }
            for &site in bearers.calls.get(&helper).into_iter().flatten() {
                called = true;
                self.add_call(helper, site)?;
            }
            for &(file, sym) in linker.program.occurrences(name) {
                for &site in linker.program.index_of(file).sites_named(sym) {
                    let site = file.site_ref(site);
                    let targets = linker.targets(site, EnvId::NONE);
                    let is_own = targets.receiver_of(helper).is_some();
                    let is_known = !targets.unknown
                        && targets.list.iter().all(|target| !matches!(target, Target::Overrides { .. }));
                    if !is_own && is_known {
                        self.others.insert(site);
                    }
                }
            }
        }
        if called { Ok(()) } else { Err(self.refused_at_helper(NoChain::NoKnownCaller(self.name(helper)), helper)) }
    }

    /// Adds a call of a helper. Its caller can await, or becomes a helper too.
    fn add_call(&mut self, helper: BodyRef, site: SiteRef) -> Result<(), Unchained> {
        let linker = self.linker;
        let name = self.name(helper);
        let targets = linker.targets(site, EnvId::NONE);
        let is_plain = matches!(targets.list[..], [Target::Body { kind: TargetKind::Call, .. }]) && !targets.unknown;
        if !is_plain || linker.program.site(site).kind != SiteKind::Call {
            return Err(self.refused_at_site(NoChain::Ambiguous(name), site));
        }
        if !self.calls.insert(site) {
            return Ok(());
        }
        let caller = linker.program.body_of_site(site);
        let row = linker.program.body(caller);
        match (row.kind, row.flow) {
            (_, Flow::Coroutine) | (BodyKind::AsyncBlock, _) => self.awaiting.push(site),
            (BodyKind::Function, Flow::Sync) if self.is_test(caller) => {
                if self.starts_a_runtime(caller) {
                    return Err(self.refused_at_site(NoChain::CalledByTest(name), site));
                }
                if self.tests.iter().all(|(test_body, _)| *test_body != caller) {
                    self.tests.push((caller, site));
                }
            }
            (BodyKind::Function, Flow::Sync) => {
                self.helper_calls.push((caller, helper));
                self.add_helper(caller);
            }
            (BodyKind::Lambda | BodyKind::GeneratorExpression, _) => {
                return Err(self.refused_at_site(NoChain::CalledInClosure(name), site));
            }
            _ => return Err(self.refused_at_site(NoChain::InConstant(name), site)),
        }
        Ok(())
    }

    /// True if a body is a test, and not a function that tests call.
    fn is_test(&self, body: BodyRef) -> bool {
        let row = self.linker.program.body(body);
        let is_called = |name| self.linker.sites_by_name(name).calls.get(&body).is_some_and(|calls| !calls.is_empty());
        row.flags.has(BodyFlags::TEST) && !self.linker.body_names(body).into_iter().any(is_called)
    }

    /// True if a body runs a loop (`Runtime::block_on`), also indirectly. This panics in code that a loop runs.
    fn starts_a_runtime(&self, body: BodyRef) -> bool {
        let labelled_bodies = self.labelled_bodies.get(&body).into_iter().flatten();
        labelled_bodies
            .map(|&labelled_body| self.graph.labelled_body(labelled_body).label)
            .any(|label| self.graph.labels.get(label).effect == Effect::NestedLoop)
    }

    /// Returns the attribute for `async` tests of the twins' runtime: `tokio::test`.
    fn test_attribute(&self) -> String {
        let twin = self.sinks.values().min();
        twin.and_then(|twin| twin.split("::").next()).map(|library| format!("{library}::test")).unwrap_or_default()
    }

    fn add_helper(&mut self, helper: BodyRef) {
        if !self.helpers.contains(&helper) {
            self.helpers.push(helper);
        }
    }

    /// Returns the number of helpers on the longest path from a helper; `None` if it is greater than `most`.
    fn depth(&self, helper: BodyRef, limit: usize) -> Option<usize> {
        let limit = limit.checked_sub(1);
        let mut depth = 1;
        for &(_, next) in self.helper_calls.iter().filter(|(caller, _)| *caller == helper) {
            depth = depth.max(1 + self.depth(next, limit?)?);
        }
        Some(depth)
    }

    /// Returns an error if a twin is not available in the file of its call, or runs on another runtime than the
    /// callers.
    fn check_twins_available(&self) -> Result<(), Unchained> {
        let mut sinks: Vec<_> = self.sinks.iter().collect();
        sinks.sort_unstable();
        for (&site, twin) in sinks {
            let own = self.linker.crate_availability(site.file, twin);
            let of_callers = self.awaiting.iter().map(|&site| self.linker.availability_at(site, twin));
            let is_beside = |availability: &PathAvailability| matches!(availability, PathAvailability::OtherRuntime(_));
            let availabilities = [own].into_iter().chain(of_callers.filter(is_beside));
            for availability in availabilities {
                if !matches!(availability, PathAvailability::Yes | PathAvailability::Unknown) {
                    return Err(self.refused_at_site(NoChain::Unavailable(availability), site));
                }
            }
        }
        let attribute = format!("{}!", self.test_attribute());
        let path = self.linker.library.path(Language::Rust, &attribute);
        for &(test, site) in &self.tests {
            let availability = self.linker.crate_availability(test.file, &attribute);
            if !matches!(availability, PathAvailability::Yes | PathAvailability::Unknown)
                || self.linker.library.calls(path).is_empty()
            {
                return Err(self.refused_at_site(NoChain::NoAsyncTest(Box::new(availability)), site));
            }
        }
        Ok(())
    }

    fn to_chain(&self) -> Chain {
        let linker = self.linker;
        let helper = |body: &BodyRef| {
            let facts = linker.program.facts(body.file);
            let row = linker.program.body(*body);
            ChainHelper { place: self.place(body.file, row.name_span), name: facts.text(row.name).to_owned() }
        };
        let in_order = |mut found: Vec<ChainHelper>| {
            found.sort_by(|a, b| compare_places(&a.place, &b.place));
            found
        };
        let helpers = in_order(self.helpers.iter().map(helper).collect());
        let tests = in_order(self.tests.iter().map(|(test, _)| helper(test)).collect());
        let sorted = |mut places: Vec<Place>| {
            places.sort_by(compare_places);
            places
        };
        let sink = |(site, twin): (&SiteRef, &String)| ChainSink { place: self.call_place(*site), twin: twin.clone() };
        let mut sinks: Vec<ChainSink> = self.sinks.iter().map(sink).collect();
        sinks.sort_by(|a, b| compare_places(&a.place, &b.place));
        let name = |site: &SiteRef| self.place(site.file, linker.program.site(*site).name_span);
        let folder = |file: FileId| linker.crate_of(file).map(|package| &package.folder);
        let of_crates: Vec<_> = self.helpers.iter().map(|body| folder(body.file)).collect();
        let is_theirs =
            |&file: &FileId| linker.program.language(file) == Language::Rust && of_crates.contains(&folder(file));
        let files = (0..linker.program.files.len() as u32).map(FileId).filter(is_theirs);
        let exports = |body: &BodyRef| linker.crate_of(body.file).is_none_or(has_library);
        Chain {
            calls: sorted(self.calls.iter().map(|site| self.call_place(*site)).collect()),
            others: sorted(self.others.iter().map(name).collect()),
            files: files.map(|file| Arc::clone(&linker.program.files[file.index()].path)).collect(),
            exports: self.helpers.iter().any(exports),
            hops_in_loop: self.hops_in_loop,
            runs_tests: self.test_attribute(),
            helpers,
            tests,
            sinks,
        }
    }

    fn name(&self, body: BodyRef) -> String {
        last_name(&self.linker.qualified_name(body)).to_owned()
    }

    fn place(&self, file: FileId, span: Span) -> Place {
        Place::unlocated(Arc::clone(&self.linker.program.files[file.index()].path), span)
    }

    fn call_place(&self, site: SiteRef) -> Place {
        self.place(site.file, place_of(self.linker, site))
    }

    fn refused_at_helper(&self, why: NoChain, helper: BodyRef) -> Unchained {
        let name = self.linker.program.body(helper).name_span;
        Unchained { why, place: self.place(helper.file, name) }
    }

    fn refused_at_site(&self, why: NoChain, site: SiteRef) -> Unchained {
        Unchained { why, place: self.call_place(site) }
    }
}

/// True if other crates may call code of a package: its first crate root is no program, test or example, by its path.
fn has_library(package: &CrateLayout) -> bool {
    let Some(root) = package.roots.first() else { return true };
    let inside = root.strip_prefix(&package.folder).unwrap_or(root).trim_start_matches('/');
    !(inside == "src/main.rs"
        || ["src/bin/", "tests/", "examples/", "benches/"].iter().any(|folder_name| inside.starts_with(folder_name)))
}

/// True if a body is `outer` or is nested in it.
fn is_inside(linker: &Linker<'_>, body: BodyRef, outer: BodyRef) -> bool {
    let mut current = Some(body);
    while let Some(inner) = current.filter(|_| body.file == outer.file) {
        if inner == outer {
            return true;
        }
        current = linker.program.body(inner).parent.get().map(|parent| body.file.body_ref(parent));
    }
    false
}

fn compare_places(a: &Place, b: &Place) -> std::cmp::Ordering {
    (&a.path, a.span).cmp(&(&b.path, b.span))
}
