//! The explanation of single sites: everything that decided about one, for people who ask why. This module decides
//! nothing itself, and the output of `check` does not depend on it.

mod above;
mod bodies;
mod lines;
pub(crate) mod missing;
mod no_finding;
mod sites;

use blocklint_core::{Confidence, Context, Runtime, Span};
use blocklint_facts::Flow;
use blocklint_flow::callers::Callers;
use blocklint_flow::entries::root::{Root, Roots};
use blocklint_flow::graph::best_path::Paths;
use blocklint_flow::graph::{FlowEdge, Graph, LabelledBodyId};
use blocklint_flow::judge::Judge;
use blocklint_flow::search::Search;
use blocklint_flow::search::suppressions::Suppressions;
use blocklint_link::calls::targets::TargetKind;
use blocklint_link::effect::label::LabelHold;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::values::value::{ValueId, Why};
use blocklint_models::{Argument, CallRow, Condition, HandoverRow, Match};
use rustc_hash::{FxHashMap, FxHashSet};

pub use blocklint_link::effect::constant::Constant;
pub use blocklint_link::models::row_match::ConditionResult;
pub use bodies::{BlockingPath, BodyExplanation, BodyUse};
pub use lines::{LineContext, PlaceRole};

use crate::Options;
use crate::Solved;
use crate::findings::SolvedGraph;

/// A solved program, with tables by site and by body.
pub struct Explainer<'l, 'a> {
    linker: &'l Linker<'a>,
    suppressions: Suppressions,
    graph: Graph<'a>,
    callers: Callers<'l, 'a>,
    roots: Roots<'l, 'a>,
    solved: Solved,
    judge: Judge,
    paths: Paths,
    /// For each labelled body, the labelled bodies and hits that its label was passed on to.
    above: Vec<Vec<CallerStep>>,
    /// For each site the edges that begin at it, or end at a lazy call there.
    edges: FxHashMap<SiteRef, Vec<(CallerStep, FlowEdge)>>,
    /// For each body its labelled bodies.
    labelled_bodies: FxHashMap<BodyRef, Vec<LabelledBodyId>>,
    /// The bodies that a label reached by a call. A label that reached a body only by handing it a callable does not count.
    reached_roots: FxHashSet<BodyRef>,
    /// Findings by the site at which they stand.
    by_site: FxHashMap<SiteRef, Vec<usize>>,
    /// Findings by the body that must not block.
    by_root: FxHashMap<BodyRef, Vec<usize>>,
    /// For each file the places that findings name, in order.
    touched: FxHashMap<FileId, Vec<lines::Touched>>,
}

/// The next step of a label, upward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallerStep {
    /// A calling body.
    LabelledBody(LabelledBodyId),
    /// A root: the index of the hit.
    Hit(usize),
}

/// Everything that decided about one site.
#[derive(Debug)]
pub struct Explanation<'a> {
    /// The site.
    pub site: SiteRef,
    /// Where findings at it are placed.
    pub span: Span,
    /// The body it stands in.
    pub owner: BodyRef,
    /// The root that body is, if it is one.
    pub root: Option<Root>,
    /// The receiver it is called on; none for a bare name.
    pub receiver: Option<ValueId>,
    /// The arguments that conditions and timeouts of rows ask for.
    pub arguments: Vec<(Argument, ArgumentValue)>,
    /// The code it runs.
    pub targets: Vec<RunTarget>,
    /// The rows that describe it, in the order in which they are tried.
    pub rows: Vec<TestedRow<'a>>,
    /// Indices of the findings it belongs to.
    pub findings: Vec<usize>,
    /// The places where its effects end. Not empty if no finding belongs to the site.
    pub ends: Vec<EndReason>,
}

/// An argument as far as it is seen.
#[derive(Clone, Debug)]
pub enum ArgumentValue {
    /// The call does not pass it.
    Absent,
    /// It may be among unpacked arguments.
    Unpacked,
    /// A literal or named constant.
    Literal(Constant),
    /// The parameter of this name of the body around, with its default if that is a literal.
    Parameter(String, Option<Constant>),
    /// Something else: as it is written, and what it may be.
    Value(String, ValueId),
}

/// Something a site runs.
#[derive(Clone, Debug)]
pub enum RunTarget {
    /// A body of the project.
    Body {
        /// The body.
        body: BodyRef,
        /// How it is run.
        kind: TargetKind,
        /// True if its result is awaited where it stands.
        awaited: bool,
        /// The argument by which it is given, as it is written; none if it is the callee.
        by_argument: Option<String>,
        /// How sure.
        confidence: Confidence,
    },
    /// A name of a library.
    Library {
        /// Its path.
        path: PathId,
        /// True if a property is read instead of a call made.
        property: bool,
        /// How sure.
        confidence: Confidence,
    },
}

/// A row with its conditions at a site.
#[derive(Clone, Debug)]
pub struct TestedRow<'a> {
    /// The row.
    pub row: RowMatch<'a>,
    /// Its conditions.
    pub conditions: Vec<TestedCondition>,
    /// True if it is the row that decides.
    pub decides: bool,
    /// How long it holds its thread there, if it does.
    pub hold: Option<LabelHold>,
    /// The parameter that decides how long, for [`LabelHold::Param`].
    pub hold_parameter: Option<String>,
}

/// A row of either kind.
#[derive(Clone, Copy, Debug)]
pub enum RowMatch<'a> {
    /// A row for the effect of a call.
    Call(Match<'a, CallRow>),
    /// A row for the place where a callable runs.
    Handover(Match<'a, HandoverRow>),
}

/// One condition at a site.
#[derive(Clone, Debug)]
pub struct TestedCondition {
    /// The condition itself.
    pub condition: Condition,
    /// True if it excuses (`unless`) instead of being required (`when`).
    pub excuses: bool,
    /// The result of the test.
    pub shown: ConditionResult,
    /// The parameter that decides, for [`ConditionResult::Param`].
    pub parameter: Option<String>,
}

/// A callable that a site receives, and the thread on which it runs.
#[derive(Clone, Debug)]
pub struct PassedOn {
    /// The callable as it is written.
    pub written: String,
    /// The context it will run in.
    pub context: Context,
    /// Its machinery, where known.
    pub runtime: Option<Runtime>,
}

/// A reason why a site delays no code that must not block.
#[derive(Clone, Debug)]
pub enum EndReason {
    /// The callee is not known.
    UnknownCallee(Why),
    /// No model describes the path.
    NoModel(PathId),
    /// A model describes the path without an effect.
    NoEffect(PathId),
    /// The row that decides states that it is harmless.
    Harmless(PathId),
    /// It returns an awaitable, and the loop runs on while the awaitable is pending.
    Asynchronous(PathId),
    /// No row's conditions hold, or the one that does has no effect there.
    Excused(PathId),
    /// It is given no time to wait.
    NoTime(PathId),
    /// It takes a lock of this process, which is judged by what is done under that lock.
    Lock(PathId),
    /// It registers this body, which the library runs in this context.
    Registers(BodyRef, Context),
    /// Its effect happens where its result is consumed, and nothing known does.
    Unconsumed(PathId),
    /// A coroutine or generator is made and not run there.
    Makes(BodyRef, Flow),
    /// It is awaited: that body is judged by itself, with these findings.
    Awaits(BodyRef, Vec<usize>),
    /// A comment in the body silences its effects.
    Silenced(BodyRef, Span),
    /// Nothing that the body runs is known to hold its thread.
    Quiet(BodyRef),
    /// It hands a callable over, and the effects of that do not come back.
    HandsOver(PassedOn),
    /// It only forms a value: an attribute, an import, an operator that no code stands behind.
    Plain,
    /// The arguments of the site rule the effect of the body out.
    RuledOut(BodyRef),
    /// A comment at this place suppresses it.
    Suppressed(FileId, Span),
    /// The root may hold its thread in this way: a command that waits for its own input.
    Allowed(BodyRef),
    /// The label went up to a body and no further.
    Stops(BodyRef, StopReason),
}

/// A reason why a label goes no further than one body.
#[derive(Clone, Debug)]
pub enum StopReason {
    /// Nothing in the project is known to call it.
    NoCaller,
    /// It is the top level of a file.
    TopLevel,
    /// It is called, by these sites, from code whose callers were looked at too.
    Called(Vec<SiteRef>),
    /// It is made into a coroutine or generator there, and not run.
    Made(SiteRef),
    /// It is handed to this context.
    HandedOver(SiteRef, Context),
    /// It is passed to a call whose use of it is unknown.
    PassedOn(SiteRef),
    /// It is kept in a variable, field or container, and no call through that is known.
    Kept(FileId, Span),
    /// A library registers it under this path to run in this context.
    Registered(PathId, Context),
    /// A comment at this place suppresses it.
    Suppressed(FileId, Span),
    /// The arguments there rule it out.
    RuledOut(SiteRef),
    /// The thread of that root may be held in this way.
    Allowed(BodyRef),
}

impl<'l, 'a> Explainer<'l, 'a> {
    /// Solves the program.
    pub fn new(linker: &'l Linker<'a>, options: Options) -> Self {
        let suppressions = Suppressions::new(linker.program);
        let judge = Judge::new(options.without, true);
        let graph = Search::new(linker, &suppressions, &judge).run();
        let options = Options { account: true, ..options };
        let read = SolvedGraph::new(linker, &suppressions, &judge, &graph, options);
        let (findings, causes) = crate::findings::findings(&read, None);
        let paths = read.paths;
        let (callers, roots) = (Callers::new(linker), Roots::new(linker));
        let solved =
            Solved { findings, causes, used: suppressions.used(), net: None, with_aside: options.include_aside };
        // The explanation asks a copy of its own, so that it marks no comment as used.
        let suppressions = Suppressions::new(linker.program);
        let mut labelled_bodies: FxHashMap<BodyRef, Vec<LabelledBodyId>> = FxHashMap::default();
        for (at, labelled_body) in graph.labelled_bodies.iter().enumerate() {
            labelled_bodies.entry(labelled_body.node.body).or_default().push(LabelledBodyId(at as u32));
        }
        let (mut by_site, mut by_root) = (FxHashMap::default(), FxHashMap::default());
        for (at, raw) in solved.findings.iter().enumerate() {
            by_site.entry(raw.site).or_insert_with(Vec::new).push(at);
            by_root.entry(raw.root).or_insert_with(Vec::new).push(at);
        }
        Explainer {
            paths,
            above: above::of(&graph),
            edges: above::edges_by_site(&graph),
            reached_roots: graph.hits.iter().filter(|hit| !hit.handed).map(|hit| hit.root).collect(),
            touched: lines::touched(&solved),
            labelled_bodies,
            by_site,
            by_root,
            linker,
            suppressions,
            graph,
            callers,
            roots,
            solved,
            judge,
        }
    }

    /// Returns the linked program.
    pub fn linker(&self) -> &'l Linker<'a> {
        self.linker
    }

    /// Returns what was found.
    pub fn solved(&self) -> &Solved {
        &self.solved
    }

    /// Returns the root that a body is, if it is one.
    pub fn root(&self, body: BodyRef) -> Option<Root> {
        self.roots.of(body)
    }
}
