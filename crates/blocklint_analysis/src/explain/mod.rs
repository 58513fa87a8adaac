//! Explanations for `blocklint why`: the receiver, call targets, rows and conditions of a site, its findings, or the
//! reasons why it has none. This module decides nothing itself, and the output of `check` does not depend on it.

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
    /// For each labelled body the labelled bodies and hits to which its label was propagated.
    callers_of_labels: Vec<Vec<CallerStep>>,
    /// For each site the edges that begin at it, or end at a lazy call there.
    edges_by_site: FxHashMap<SiteRef, Vec<(CallerStep, FlowEdge)>>,
    /// The labelled bodies of each body.
    labelled_bodies: FxHashMap<BodyRef, Vec<LabelledBodyId>>,
    /// The roots that a label reached by a call, not only by a handover.
    reached_roots: FxHashSet<BodyRef>,
    /// The indices of findings by the site at which they are reported.
    by_site: FxHashMap<SiteRef, Vec<usize>>,
    /// The indices of findings by the body that must not block.
    by_root: FxHashMap<BodyRef, Vec<usize>>,
    /// For each file the places that belong to findings, in order.
    finding_places: FxHashMap<FileId, Vec<lines::FindingPlace>>,
}

/// The next step of a label on its way to the callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallerStep {
    /// A calling body.
    LabelledBody(LabelledBodyId),
    /// A root: the index of the hit.
    Hit(usize),
}

/// The explanation of one site.
#[derive(Debug)]
pub struct Explanation<'a> {
    /// The site.
    pub site: SiteRef,
    /// The span at which findings at the site are reported.
    pub span: Span,
    /// The body that contains the site.
    pub owner: BodyRef,
    /// The root of that body, if it must not block.
    pub root: Option<Root>,
    /// The value of the receiver; `None` for a bare name.
    pub receiver: Option<ValueId>,
    /// The arguments that conditions and timeouts of rows refer to.
    pub arguments: Vec<(Argument, ArgumentValue)>,
    /// The targets that the site runs.
    pub targets: Vec<RunTarget>,
    /// The rows for its targets, in the order in which they are tested.
    pub rows: Vec<TestedRow<'a>>,
    /// The indices of the findings to which the site belongs.
    pub findings: Vec<usize>,
    /// The reasons why its effects reach no root. Empty if the site belongs to a finding.
    pub ends: Vec<EndReason>,
}

/// The value of an argument, as far as the code shows.
#[derive(Clone, Debug)]
pub enum ArgumentValue {
    /// The call does not pass it.
    Absent,
    /// It is possibly among unpacked arguments (`*args`, `**kwargs`).
    Unpacked,
    /// A literal or named constant.
    Literal(Constant),
    /// The parameter with this name of the body around the call, with its default if that is a literal.
    Parameter(String, Option<Constant>),
    /// Another expression: its source text and its value.
    Value(String, ValueId),
}

/// A target of a site.
#[derive(Clone, Debug)]
pub enum RunTarget {
    /// A body of the project.
    Body {
        /// The body.
        body: BodyRef,
        /// The way in which the site runs it.
        kind: TargetKind,
        /// True if the site awaits its result.
        awaited: bool,
        /// The source text of the argument that is this body; `None` if the body is the callee.
        by_argument: Option<String>,
        /// The confidence that the site runs it.
        confidence: Confidence,
    },
    /// A function or property of a library.
    Library {
        /// Its path.
        path: PathId,
        /// True for a property.
        property: bool,
        /// The confidence that the site runs it.
        confidence: Confidence,
    },
}

/// A row with the results of its conditions at a site.
#[derive(Clone, Debug)]
pub struct TestedRow<'a> {
    /// The row.
    pub row: RowMatch<'a>,
    /// Its conditions.
    pub conditions: Vec<TestedCondition>,
    /// True for the row that decides about the site.
    pub decides: bool,
    /// The time for which the call holds its thread, if the row decides.
    pub hold: Option<LabelHold>,
    /// The name of the parameter that decides the time, for [`LabelHold::Param`].
    pub hold_parameter: Option<String>,
}

/// A row of a model, of one of two kinds.
#[derive(Clone, Copy, Debug)]
pub enum RowMatch<'a> {
    /// A row for the effect of a call.
    Call(Match<'a, CallRow>),
    /// A row for the place where a callable runs.
    Handover(Match<'a, HandoverRow>),
}

/// One condition of a row, with its result at a site.
#[derive(Clone, Debug)]
pub struct TestedCondition {
    /// The condition itself.
    pub condition: Condition,
    /// True for a condition in `unless`, false for one in `when`.
    pub is_unless: bool,
    /// The result.
    pub shown: ConditionResult,
    /// The name of the parameter that decides, for [`ConditionResult::Param`].
    pub parameter: Option<String>,
}

/// A callable that a site receives, and the thread on which it runs.
#[derive(Clone, Debug)]
pub struct PassedCallable {
    /// The source text of the callable.
    pub written: String,
    /// The context in which it will run.
    pub context: Context,
    /// The runtime of that context, if it is known.
    pub runtime: Option<Runtime>,
}

/// A reason why the effects of a site reach no root.
#[derive(Clone, Debug)]
pub enum EndReason {
    /// The callee is unknown.
    UnknownCallee(Why),
    /// No model describes the path.
    NoModel(PathId),
    /// A model describes the path without an effect.
    NoEffect(PathId),
    /// The deciding row states that the call is harmless.
    Harmless(PathId),
    /// The call returns an awaitable, and the loop runs on while the awaitable is pending.
    Asynchronous(PathId),
    /// The conditions of no blocking row hold.
    ConditionsNotMet(PathId),
    /// Its timeout is zero, so it does not wait.
    ZeroTimeout(PathId),
    /// It takes a lock of this process. It counts only if other code holds the lock over a blocking call.
    Lock(PathId),
    /// It registers this body, and the library runs the body in this context.
    Registers(BodyRef, Context),
    /// It returns a lazy result that no known code consumes.
    Unconsumed(PathId),
    /// It makes a coroutine or generator and does not run it.
    Makes(BodyRef, Flow),
    /// It awaits a body that is a root itself, with these findings.
    Awaits(BodyRef, Vec<usize>),
    /// A comment in the called body suppresses its effects.
    SuppressedInCallee(BodyRef, Span),
    /// The called body runs no known blocking call.
    NothingBlocking(BodyRef),
    /// It hands a callable over to another thread or task.
    HandsOver(PassedCallable),
    /// It runs no code: an attribute, an import, an operator of built-in types.
    RunsNoCode,
    /// The arguments of the site rule out the effect of the called body.
    RuledOut(BodyRef),
    /// A comment at this place suppresses it.
    Suppressed(FileId, Span),
    /// The root is allowed to hold its thread in this way: a command that waits for its own input.
    Allowed(BodyRef),
    /// The label reached a body whose callers it does not reach.
    StopsAtBody(BodyRef, StopReason),
}

/// A reason why a label does not reach the callers of a body.
#[derive(Clone, Debug)]
pub enum StopReason {
    /// The body has no known caller.
    NoCaller,
    /// The body is the top level of a file.
    TopLevel,
    /// These sites call the body, but their callers reach no root either.
    Called(Vec<SiteRef>),
    /// The site makes a coroutine or generator of the body and does not run it.
    Made(SiteRef),
    /// The site hands the body over to this context.
    HandedOver(SiteRef, Context),
    /// The site passes the body to a call whose use of it is unknown.
    PassedOn(SiteRef),
    /// A variable, field or container stores the body, and no call through it is known.
    Kept(FileId, Span),
    /// A library function with this path registers the body to run in this context.
    Registered(PathId, Context),
    /// A comment at this place suppresses it.
    Suppressed(FileId, Span),
    /// The arguments of this call rule the label out.
    RuledOut(SiteRef),
    /// This root is allowed to hold its thread in this way.
    Allowed(BodyRef),
}

impl<'l, 'a> Explainer<'l, 'a> {
    /// Solves the program and records what the explanations need.
    pub fn new(linker: &'l Linker<'a>, options: Options) -> Self {
        let suppressions = Suppressions::new(linker.program);
        let judge = Judge::new(options.without, true);
        let graph = Search::new(linker, &suppressions, &judge).run();
        let options = Options { records_reasons: true, ..options };
        let solved_graph = SolvedGraph::new(linker, &suppressions, &judge, &graph, options);
        let (findings, causes) = crate::findings::findings(&solved_graph, None);
        let paths = solved_graph.paths;
        let (callers, roots) = (Callers::new(linker), Roots::new(linker));
        let solved = Solved {
            findings,
            causes,
            used_comments: suppressions.used(),
            path_network: None,
            with_aside: options.include_aside,
        };
        // Explanations use another copy, so that they mark no comment as used.
        let suppressions = Suppressions::new(linker.program);
        let mut labelled_bodies: FxHashMap<BodyRef, Vec<LabelledBodyId>> = FxHashMap::default();
        for (index, labelled_body) in graph.labelled_bodies.iter().enumerate() {
            labelled_bodies.entry(labelled_body.node.body).or_default().push(LabelledBodyId(index as u32));
        }
        let (mut by_site, mut by_root) = (FxHashMap::default(), FxHashMap::default());
        for (index, raw) in solved.findings.iter().enumerate() {
            by_site.entry(raw.site).or_insert_with(Vec::new).push(index);
            by_root.entry(raw.root).or_insert_with(Vec::new).push(index);
        }
        Explainer {
            paths,
            callers_of_labels: above::caller_steps(&graph),
            edges_by_site: above::edges_by_site(&graph),
            reached_roots: graph.hits.iter().filter(|hit| !hit.handed).map(|hit| hit.root).collect(),
            finding_places: lines::finding_places(&solved),
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

    /// Returns the findings and causes.
    pub fn solved(&self) -> &Solved {
        &self.solved
    }

    /// Returns the root of a body, if the body must not block.
    pub fn root(&self, body: BodyRef) -> Option<Root> {
        self.roots.find_root(body)
    }
}
