//! Rust: the helpers between `async` code and calls that have an async twin, if all of them can become `async` together.
//!
//! A helper changes for all its callers, so the helpers are taken together: each caller of a helper is a helper or can await, and each
//! blocking call in a helper has an async twin or calls another helper. Findings that share a helper therefore get the same edits.
//! Reasons in the source text against an edit are found by the front end.

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
use crate::row_advice::{AsyncTwin, twin_returns_same, twins};

/// The number of helpers between `async` code and the blocking call, on the longest path.
const DEEPEST: usize = 2;
/// Helpers that change at once.
const MOST_HELPERS: usize = 8;
/// Calls of them.
const MOST_CALLS: usize = 40;
/// The number of bodies called by helpers that are searched for calls of helpers.
const MOST_LOOKED_AT: usize = 100;

/// The code that changes together, or the reason why none does.
type Decided = Result<Arc<Chain>, Unchained>;

/// The decisions about the helpers that findings lead through, by helper and runtime.
#[derive(Default)]
pub struct Chains {
    /// The labelled bodies of each body; made when first asked for.
    labelled_bodies: Option<FxHashMap<BodyRef, Vec<LabelledBodyId>>>,
    known: FxHashMap<(BodyRef, Option<Runtime>), Option<Decided>>,
}

impl Chains {
    /// Returns the code that changes together so that the call of a helper at the beginning of a path can be awaited.
    pub fn of(
        &mut self,
        linker: &Linker<'_>,
        graph: &Graph<'_>,
        first: &FlowEdge,
        runtime: Option<Runtime>,
    ) -> Option<Decided> {
        let EdgeTarget::LabelledBody(labelled_body) = first.next else { return None };
        let helper = graph.labelled_body(labelled_body).node.body;
        if linker.program.language(helper.file) != Language::Rust || first.arg.is_some() {
            return None;
        }
        if let Some(known) = self.known.get(&(helper, runtime)) {
            return known.clone();
        }
        let labelled_bodies = self.labelled_bodies.get_or_insert_with(|| by_body(linker, graph));
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
        let made = closing.close().map(Arc::new);
        // Where all of it is too short to matter, nothing has to change.
        let made = Some(made).filter(|made| made.as_ref().is_err() || !closing.sinks.is_empty());
        for &of in &closing.helpers {
            self.known.insert((of, runtime), made.clone());
        }
        made
    }
}

fn by_body(linker: &Linker<'_>, graph: &Graph<'_>) -> FxHashMap<BodyRef, Vec<LabelledBodyId>> {
    let mut found: FxHashMap<BodyRef, Vec<LabelledBodyId>> = FxHashMap::default();
    for (at, labelled_body) in graph.labelled_bodies.iter().enumerate() {
        if linker.program.language(labelled_body.node.body.file) == Language::Rust {
            found.entry(labelled_body.node.body).or_default().push(LabelledBodyId(at as u32));
        }
    }
    found
}

/// A set of helpers that is being closed: callers and callees are still added.
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
        let mut at = 0;
        while let Some(&helper) = self.helpers.get(at) {
            at += 1;
            self.add_callees(helper)?;
            self.add_callers(helper)?;
            if self.helpers.len() > MOST_HELPERS || self.calls.len() > MOST_CALLS {
                return Err(self.refused_at_helper(NoChain::TooMany, helper));
            }
        }
        for &helper in &self.helpers {
            match self.depth(helper, DEEPEST + 1) {
                None => return Err(self.refused_at_helper(NoChain::Recursive(self.name(helper)), helper)),
                Some(depth) if depth > DEEPEST => return Err(self.refused_at_helper(NoChain::TooMany, helper)),
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

    /// Returns a call through which a helper calls itself by way of other functions, also from a task that it starts. An
    /// `async fn` that awaits itself has a future of infinite size, which rustc refuses (E0733).
    fn recursive_call(&self) -> Option<SiteRef> {
        let linker = self.linker;
        let of_helper = |body: BodyRef| self.helpers.iter().any(|&helper| is_inside(linker, body, helper));
        let mut open: Vec<(BodyRef, Option<SiteRef>)> = self.helpers.iter().map(|&helper| (helper, None)).collect();
        let mut seen: FxHashSet<BodyRef> = self.helpers.iter().copied().collect();
        let mut at = 0;
        while at < open.len() && at < MOST_LOOKED_AT {
            let (body, by) = open[at];
            at += 1;
            let facts = linker.program.facts(body.file);
            for site in (0..facts.sites.len() as u32).map(SiteId) {
                let of = linker.program.body_of(body.file, facts.site(site).at);
                if !is_inside(linker, of, body) {
                    continue;
                }
                let site = body.file.site_ref(site);
                let first = by.unwrap_or(site);
                // `depth` follows the calls in the text of the helpers themselves.
                if self.calls.contains(&site) && (by.is_some() || !self.helpers.contains(&of)) {
                    return Some(first);
                }
                for target in linker.targets(site, EnvId::NONE).list.iter() {
                    if let Target::Body { body: next, .. } = *target
                        && !of_helper(next)
                        && seen.insert(next)
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
            let stays = match edge.next {
                EdgeTarget::LabelledBody(labelled_body) => {
                    graph.labels.get(graph.labelled_body(labelled_body).label).severity == Severity::Note
                }
                EdgeTarget::Sink(sink) => graph.labels.get(graph.sinks[sink as usize].label).severity == Severity::Note,
            };
            if edge.arg.is_some() || linker.program.body_of_site(edge.site) != helper {
                if stays {
                    continue;
                }
                return Err(self.refused_at_site(NoChain::InClosure, edge.site));
            }
            match edge.next {
                EdgeTarget::LabelledBody(labelled_body) => {
                    let next = graph.labelled_body(labelled_body).node.body;
                    let row = linker.program.body(next);
                    if stays && !self.helpers.contains(&next) {
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
                    None if stays => {}
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

    /// Returns the async function that does the same as a library call.
    fn twin(&self, sink: &SinkSite<'_>) -> Option<String> {
        let linker = self.linker;
        let calls = linker.library.calls(sink.path);
        let rewrites = sink.row.rewrite.is_some() || calls.advice().any(|row| row.row.rewrite.is_some());
        let is_call = linker.program.site(sink.site).kind == SiteKind::Call;
        if rewrites || !is_call || sink.row.lazy || matches!(sink.row.fix, Some(FixKind::Offload | FixKind::None)) {
            return None;
        }
        let AsyncTwin { path: twin, is_local } =
            twins(linker, sink, self.runtime, Language::Rust).into_iter().next()?;
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
            && row.parent.get().is_some_and(|of| linker.program.facts(helper.file).body(of).kind != BodyKind::Module);
        let mut called = false;
        for name in linker.body_names(helper).into_iter().filter(|_| !is_nested) {
            let bearers = linker.sites_by_name(name);
            if let Some(&(file, mention, _)) = bearers.mentions.get(&helper).and_then(|all| all.first()) {
                let at = match mention {
                    Mention::Arg(site, _) | Mention::Operand(site) => self.at(file.site_ref(site)),
                    _ => self.place(helper.file, row.name_span),
                };
                // An import binds the name, and hands nothing over.
                let is_import = matches!(mention, Mention::Assign(_));
                if !is_import {
                    return Err(Unchained { why: NoChain::Value(self.name(helper)), at });
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
        match called {
            true => Ok(()),
            false => Err(self.refused_at_helper(NoChain::NoKnownCaller(self.name(helper)), helper)),
        }
    }

    /// Adds a call of a helper. The code around the call can await, or becomes `async` as well.
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
                if self.tests.iter().all(|(of, _)| *of != caller) {
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

    /// True if a body is a test itself, and no function that tests call.
    fn is_test(&self, body: BodyRef) -> bool {
        let row = self.linker.program.body(body);
        let is_called = |name| self.linker.sites_by_name(name).calls.get(&body).is_some_and(|calls| !calls.is_empty());
        row.flags.has(BodyFlags::TEST) && !self.linker.body_names(body).into_iter().any(is_called)
    }

    /// True if a body leads to a call that runs a loop (`Runtime::block_on`), which panics in code that a loop runs.
    fn starts_a_runtime(&self, body: BodyRef) -> bool {
        let labelled_bodies = self.labelled_bodies.get(&body).into_iter().flatten();
        labelled_bodies
            .map(|&labelled_body| self.graph.labelled_body(labelled_body).label)
            .any(|label| self.graph.labels.get(label).effect == Effect::NestedLoop)
    }

    /// Returns the attribute that runs `async` tests on the twins' runtime.
    fn runs_tests(&self) -> String {
        let twin = self.sinks.values().min();
        twin.and_then(|twin| twin.split("::").next()).map(|library| format!("{library}::test")).unwrap_or_default()
    }

    fn add_helper(&mut self, helper: BodyRef) {
        if !self.helpers.contains(&helper) {
            self.helpers.push(helper);
        }
    }

    /// Returns the number of helpers on the longest path from one; none if there are more than the limit.
    fn depth(&self, helper: BodyRef, most: usize) -> Option<usize> {
        let most = most.checked_sub(1);
        let mut depth = 1;
        for &(_, next) in self.helper_calls.iter().filter(|(of, _)| *of == helper) {
            depth = depth.max(1 + self.depth(next, most?)?);
        }
        Some(depth)
    }

    /// Refuses the chain if a twin cannot be called in the file of its call, or runs on another runtime than the callers.
    fn check_twins_available(&self) -> Result<(), Unchained> {
        let mut sinks: Vec<_> = self.sinks.iter().collect();
        sinks.sort_unstable();
        for (&site, twin) in sinks {
            let own = self.linker.crate_availability(site.file, twin);
            let of_callers = self.awaiting.iter().map(|&at| self.linker.availability_at(at, twin));
            let is_beside = |availability: &PathAvailability| matches!(availability, PathAvailability::OtherRuntime(_));
            let found = [own].into_iter().chain(of_callers.filter(is_beside));
            for availability in found {
                if !matches!(availability, PathAvailability::Yes | PathAvailability::Unknown) {
                    return Err(self.refused_at_site(NoChain::Unavailable(availability), site));
                }
            }
        }
        let attribute = format!("{}!", self.runs_tests());
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
        let helper = |of: &BodyRef| {
            let facts = linker.program.facts(of.file);
            let row = linker.program.body(*of);
            ChainHelper { at: self.place(of.file, row.name_span), name: facts.text(row.name).to_owned() }
        };
        let in_order = |mut found: Vec<ChainHelper>| {
            found.sort_by(|a, b| order(&a.at, &b.at));
            found
        };
        let helpers = in_order(self.helpers.iter().map(helper).collect());
        let tests = in_order(self.tests.iter().map(|(test, _)| helper(test)).collect());
        let sorted = |mut places: Vec<Place>| {
            places.sort_by(order);
            places
        };
        let sink = |(site, twin): (&SiteRef, &String)| ChainSink { at: self.at(*site), twin: twin.clone() };
        let mut sinks: Vec<ChainSink> = self.sinks.iter().map(sink).collect();
        sinks.sort_by(|a, b| order(&a.at, &b.at));
        let name = |site: &SiteRef| self.place(site.file, linker.program.site(*site).name_span);
        let folder = |file: FileId| linker.crate_of(file).map(|of| &of.folder);
        let of_crates: Vec<_> = self.helpers.iter().map(|of| folder(of.file)).collect();
        let is_theirs =
            |&file: &FileId| linker.program.language(file) == Language::Rust && of_crates.contains(&folder(file));
        let files = (0..linker.program.files.len() as u32).map(FileId).filter(is_theirs);
        let exports = |of: &BodyRef| linker.crate_of(of.file).is_none_or(has_library);
        Chain {
            calls: sorted(self.calls.iter().map(|site| self.at(*site)).collect()),
            others: sorted(self.others.iter().map(name).collect()),
            files: files.map(|file| Arc::clone(&linker.program.files[file.index()].path)).collect(),
            exports: self.helpers.iter().any(exports),
            hops_in_loop: self.hops_in_loop,
            runs_tests: self.runs_tests(),
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

    fn at(&self, site: SiteRef) -> Place {
        self.place(site.file, place_of(self.linker, site))
    }

    fn refused_at_helper(&self, why: NoChain, helper: BodyRef) -> Unchained {
        let name = self.linker.program.body(helper).name_span;
        Unchained { why, at: self.place(helper.file, name) }
    }

    fn refused_at_site(&self, why: NoChain, site: SiteRef) -> Unchained {
        Unchained { why, at: self.at(site) }
    }
}

/// True if a package has code that other crates may call: its first root is no program, as far as its place shows.
fn has_library(package: &CrateLayout) -> bool {
    let Some(root) = package.roots.first() else { return true };
    let inside = root.strip_prefix(&package.folder).unwrap_or(root).trim_start_matches('/');
    !(inside == "src/main.rs"
        || ["src/bin/", "tests/", "examples/", "benches/"].iter().any(|of| inside.starts_with(of)))
}

/// True if a body is another one or is nested in it.
fn is_inside(linker: &Linker<'_>, body: BodyRef, outer: BodyRef) -> bool {
    let mut at = Some(body);
    while let Some(own) = at.filter(|_| body.file == outer.file) {
        if own == outer {
            return true;
        }
        at = linker.program.body(own).parent.get().map(|parent| body.file.body_ref(parent));
    }
    false
}

fn order(a: &Place, b: &Place) -> std::cmp::Ordering {
    (&a.path, a.span).cmp(&(&b.path, b.span))
}
