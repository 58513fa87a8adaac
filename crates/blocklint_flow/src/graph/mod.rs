//! Labelled bodies, the edges between them, and what is read off the graph: best paths, causes, steps of a trace. Plain data: names are
//! resolved in the linker, and severities are lowered in `judge/`.

pub mod all_paths;
pub mod best_path;
pub mod causes;
pub(crate) mod distance;
pub mod marks;
pub mod raw_finding;
pub mod trace;

use blocklint_core::{Effect, Severity};
use blocklint_link::effect::label::{Label, LabelId, Labels};
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{BodyRef, PathId, SiteRef};
use blocklint_models::{CallRow, Match};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::Node;
use crate::entries::root::Root;
use crate::graph::best_path::ShareKey;
use crate::graph::distance::Distances;
use crate::graph::marks::{MarkLists, Marks};

/// A body with one of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelledBodyId(pub u32);

/// The target of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeTarget {
    /// A called body with its label.
    LabelledBody(LabelledBodyId),
    /// A model row: the cause of this number.
    Sink(u32),
}

/// One step of a path: a call in a labelled body or root, and what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowEdge {
    /// The call.
    pub site: SiteRef,
    /// The argument that is handed over at the call, if the call does not run the next body itself.
    pub arg: Option<u32>,
    /// The labelled body or sink that it leads to.
    pub next: EdgeTarget,
    /// Inferred steps of this edge, unions apart.
    pub steps: u8,
    /// True if the site has other targets.
    pub shared: bool,
    /// The signals that decided when a label passed this edge, if the run records them.
    pub marks: Marks,
}

impl FlowEdge {
    /// True if another edge differs in its signals only.
    pub(crate) fn is_like(&self, other: &FlowEdge) -> bool {
        *self == FlowEdge { marks: self.marks, ..*other }
    }

    /// Returns a number of the target, to order edges.
    pub fn number(&self) -> (u32, u32) {
        match self.next {
            EdgeTarget::LabelledBody(labelled_body) => (0, labelled_body.0),
            EdgeTarget::Sink(sink) => (1, sink),
        }
    }
}

/// A body or parameter with one label that reached it, and the calls by which it did.
#[derive(Debug)]
pub struct LabelledBody {
    /// The body or parameter.
    pub node: Node,
    /// The label.
    pub label: LabelId,
    /// The calls, the best first.
    pub edges: Vec<FlowEdge>,
}

/// A label at a site of a root.
#[derive(Debug)]
pub struct Hit {
    /// The body that must not block.
    pub root: BodyRef,
    /// The kind of root, or the context a function is handed to.
    pub kind: Root,
    /// True if the site hands a function over instead of running it.
    pub handed: bool,
    /// True if a comment at the site suppresses it.
    pub cut: bool,
    /// As it arrived.
    pub label: Label,
    /// The last call before the root.
    pub edge: FlowEdge,
}

/// How a label meets the site of a root.
#[derive(Clone, Copy)]
pub(crate) struct HitKind {
    /// True if the site hands a function over instead of running it.
    pub(crate) handed: bool,
    /// True if a comment at the site suppresses the label.
    pub(crate) cut: bool,
}

/// A call that enters a model row.
#[derive(Debug)]
pub struct SinkSite<'m> {
    /// The call.
    pub site: SiteRef,
    /// The row that it enters.
    pub row: Match<'m, CallRow>,
    /// The path that the row was found by.
    pub path: PathId,
    /// Silenced for some rules.
    pub label: LabelId,
    /// It takes a lock that is held over this call.
    pub held_by: Option<SiteRef>,
    /// The body that the row's decorator wraps, where the site is that decorator's.
    pub(crate) wraps: Option<BodyRef>,
}

impl SinkSite<'_> {
    /// Returns the body that enters the row.
    pub fn body(&self, linker: &Linker<'_>) -> BodyRef {
        self.wraps.unwrap_or_else(|| linker.program.body_of_site(self.site))
    }
}

/// The graph that the search builds.
pub struct Graph<'m> {
    /// All labels, each once.
    pub labels: Labels,
    /// The labelled bodies, by number.
    pub labelled_bodies: Vec<LabelledBody>,
    /// The calls at which labels begin.
    pub sinks: Vec<SinkSite<'m>>,
    /// The roots that labels reached.
    pub hits: Vec<Hit>,
    /// Bodies that carry a label.
    pub labelled: FxHashSet<BodyRef>,
    /// Bodies with the effects of their labels, and how bad these are at worst.
    pub(crate) effects: FxHashMap<(BodyRef, Effect), Severity>,
    /// The shortest paths from labelled bodies, found when first asked for.
    pub(crate) shortest: Distances,
    /// Sites at which a model row holds the thread, with how many rows do.
    pub(crate) sink_rows_at: FxHashMap<SiteRef, u32>,
    /// The lists of signals that spoke of edges.
    pub marks: MarkLists,
    /// The steps of unions, once all labels are there.
    pub(crate) shares: Table<ShareKey, u8, Plain>,
}

impl Graph<'_> {
    /// Returns a labelled body by its number.
    pub fn labelled_body(&self, id: LabelledBodyId) -> &LabelledBody {
        &self.labelled_bodies[id.0 as usize]
    }
}
