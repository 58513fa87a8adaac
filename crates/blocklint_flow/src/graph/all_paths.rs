//! All paths from findings to blocking calls, and the places on them that a person could change. `blocklint plan` reads off it which few
//! changes free the most functions. Plain data: no path is searched here.

use blocklint_core::{RuleCode, Span};
use blocklint_link::program::ids::{BodyRef, FileId};
use rustc_hash::FxHashMap;

use crate::graph::causes::Causes;
use crate::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};

/// A place at which one change ends paths of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangePoint {
    /// A function as a whole: it no longer blocks its callers' thread.
    Body(BodyRef),
    /// The line that calls the library: the cause of this number.
    Cause(u32),
}

/// A body with one of its labels, or the end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathNetworkNode {
    /// The change point of this node: an index into `change_points`.
    pub change_point: u32,
    /// The nodes that its calls lead to; none from an end.
    pub next: Vec<u32>,
}

/// All paths of some findings.
#[derive(Clone, Debug, Default)]
pub struct PathNetwork {
    /// The change points, each once.
    pub change_points: Vec<ChangePoint>,
    /// The nodes.
    pub nodes: Vec<PathNetworkNode>,
    /// The nodes at which the paths of each finding begin.
    pub begins: FxHashMap<(FileId, Span, RuleCode), Vec<u32>>,
    of_change_point: FxHashMap<ChangePoint, u32>,
    of_labelled_body: FxHashMap<LabelledBodyId, u32>,
    of_cause: FxHashMap<u32, u32>,
}

impl PathNetwork {
    /// Adds all paths that begin with an edge. Returns the node that the edge leads to.
    pub fn take(&mut self, graph: &Graph<'_>, causes: &Causes, edge: &FlowEdge) -> u32 {
        let mut open = Vec::new();
        let begin = self.node(causes, edge.next, &mut open);
        while let Some((labelled_body, at)) = open.pop() {
            let edges = &graph.labelled_body(labelled_body).edges;
            let mut next: Vec<u32> = edges.iter().map(|edge| self.node(causes, edge.next, &mut open)).collect();
            next.sort_unstable();
            next.dedup();
            let change_point = self.change_point(ChangePoint::Body(graph.labelled_body(labelled_body).node.body));
            self.nodes[at as usize] = PathNetworkNode { change_point, next };
        }
        begin
    }

    /// Returns the node of an edge's target. A labelled body that is new is added to `open`.
    fn node(&mut self, causes: &Causes, next: EdgeTarget, open: &mut Vec<(LabelledBodyId, u32)>) -> u32 {
        let new = self.nodes.len() as u32;
        let at = match next {
            EdgeTarget::LabelledBody(labelled_body) => *self.of_labelled_body.entry(labelled_body).or_insert(new),
            EdgeTarget::Sink(sink) => *self.of_cause.entry(causes.of_sink[sink as usize]).or_insert(new),
        };
        if at < new {
            return at;
        }
        let change_point = match next {
            // Its change point is set when its edges are followed.
            EdgeTarget::LabelledBody(labelled_body) => {
                open.push((labelled_body, at));
                0
            }
            EdgeTarget::Sink(sink) => self.change_point(ChangePoint::Cause(causes.of_sink[sink as usize])),
        };
        self.nodes.push(PathNetworkNode { change_point, next: Vec::new() });
        at
    }

    fn change_point(&mut self, change_point: ChangePoint) -> u32 {
        let new = self.change_points.len() as u32;
        let at = *self.of_change_point.entry(change_point).or_insert(new);
        if at == new {
            self.change_points.push(change_point);
        }
        at
    }
}
