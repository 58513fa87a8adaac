//! The graph of a search: labelled bodies, the edges between them, and the best paths, causes and trace steps that are
//! computed from it. The linker resolves names, and `judge/` lowers severities.

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

/// The callee of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeTarget {
    /// A called body with its label.
    LabelledBody(LabelledBodyId),
    /// A sink: an index into `Graph::sinks`.
    Sink(u32),
}

/// One step of a path: a call in a labelled body or root, and its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowEdge {
    /// The call.
    pub site: SiteRef,
    /// The index of the argument that the call hands over, if the call does not run the next body itself.
    pub arg: Option<u32>,
    /// The labelled body or sink that it leads to.
    pub next: EdgeTarget,
    /// The inferred steps of this edge, without those of a union of targets (`edge_steps` adds them).
    pub steps: u8,
    /// True if the site has other targets.
    pub shared: bool,
    /// The signals that changed the label at this edge, if the run records them.
    pub marks: Marks,
}

impl FlowEdge {
    /// True if the edges are equal apart from their marks.
    pub(crate) fn is_like(&self, other: &FlowEdge) -> bool {
        *self == FlowEdge { marks: self.marks, ..*other }
    }

    /// Returns a sort key of the edge's target.
    pub fn target_key(&self) -> (u32, u32) {
        match self.next {
            EdgeTarget::LabelledBody(labelled_body) => (0, labelled_body.0),
            EdgeTarget::Sink(sink) => (1, sink),
        }
    }
}

/// A body with one label that reached it, and the calls through which the label came.
#[derive(Debug)]
pub struct LabelledBody {
    /// The body.
    pub node: Node,
    /// The label.
    pub label: LabelId,
    /// The calls through which the label came.
    pub edges: Vec<FlowEdge>,
}

/// A label at a site of a root.
#[derive(Debug)]
pub struct Hit {
    /// The body that must not block.
    pub root: BodyRef,
    /// The kind of root, or the context that a function is handed over to.
    pub entry_point: Root,
    /// True if the site hands a function over instead of running it.
    pub handed: bool,
    /// True if a comment at the site suppresses it.
    pub suppressed: bool,
    /// The label, as it arrived at the root.
    pub label: Label,
    /// The last call before the root.
    pub edge: FlowEdge,
}

/// The two ways in which a hit differs from a plain call.
#[derive(Clone, Copy)]
pub(crate) struct HitKind {
    /// True if the site hands a function over instead of running it.
    pub(crate) handed: bool,
    /// True if a comment at the site suppresses the label.
    pub(crate) suppressed: bool,
}

/// A call that matches a blocking model row.
#[derive(Debug)]
pub struct SinkSite<'m> {
    /// The call.
    pub site: SiteRef,
    /// The row that it matches.
    pub row: Match<'m, CallRow>,
    /// The library path under which the row was found.
    pub path: PathId,
    /// The label, without the contexts that comments suppressed.
    pub label: LabelId,
    /// The blocking call during which other code holds the lock, if the sink is a wait for that lock.
    pub held_by: Option<SiteRef>,
    /// The body that the decorator wraps, if the site is a decorator (`@retry(wait=…)`).
    pub(crate) wraps: Option<BodyRef>,
}

impl SinkSite<'_> {
    /// Returns the body that contains the call of the row.
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
    /// The worst severity of the labels of a body and an effect.
    pub(crate) effects: FxHashMap<(BodyRef, Effect), Severity>,
    /// The shortest paths from labelled bodies, computed on first use.
    pub(crate) shortest: Distances,
    /// The number of model rows that hold the thread at a site.
    pub(crate) sink_rows_at: FxHashMap<SiteRef, u32>,
    /// The lists of marks that edges refer to.
    pub marks: MarkLists,
    /// The inferred steps of unions of targets, valid after the search.
    pub(crate) shares: Table<ShareKey, u8, Plain>,
}

impl Graph<'_> {
    /// Returns a labelled body by its number.
    pub fn labelled_body(&self, id: LabelledBodyId) -> &LabelledBody {
        &self.labelled_bodies[id.0 as usize]
    }
}
