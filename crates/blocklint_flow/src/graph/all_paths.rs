//! The network of all paths from findings to blocking calls, with the change points on them. `blocklint plan` chooses
//! from it the few changes that free the most functions. The paths themselves are found by the search.

use blocklint_core::{RuleCode, Span};
use blocklint_link::program::ids::{BodyRef, FileId};
use rustc_hash::FxHashMap;

use crate::graph::causes::Causes;
use crate::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};

/// A function or library call whose change ends paths of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangePoint {
    /// A function, changed so that it no longer blocks the thread of its callers.
    Body(BodyRef),
    /// A call of the library: the index of the cause.
    Cause(u32),
}

/// A labelled body, or the cause at the end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathNetworkNode {
    /// The change point of this node: an index into `change_points`.
    pub change_point: u32,
    /// The nodes that its calls lead to. Empty at the end of a path.
    pub next: Vec<u32>,
}

/// The paths of all added findings.
#[derive(Clone, Debug, Default)]
pub struct PathNetwork {
    /// The change points, each once.
    pub change_points: Vec<ChangePoint>,
    /// The nodes.
    pub nodes: Vec<PathNetworkNode>,
    /// The nodes at which the paths of each finding begin.
    pub start_nodes: FxHashMap<(FileId, Span, RuleCode), Vec<u32>>,
    index_of_change_point: FxHashMap<ChangePoint, u32>,
    node_of_labelled_body: FxHashMap<LabelledBodyId, u32>,
    node_of_cause: FxHashMap<u32, u32>,
}

impl PathNetwork {
    /// Adds all paths that begin with an edge. Returns the node that the edge leads to.
    pub fn add_paths(&mut self, graph: &Graph<'_>, causes: &Causes, edge: &FlowEdge) -> u32 {
        let mut open = Vec::new();
        let begin = self.node_of_target(causes, edge.next, &mut open);
        while let Some((labelled_body, node)) = open.pop() {
            let edges = &graph.labelled_body(labelled_body).edges;
            let mut next: Vec<u32> =
                edges.iter().map(|edge| self.node_of_target(causes, edge.next, &mut open)).collect();
            next.sort_unstable();
            next.dedup();
            let change_point = self.change_point_index(ChangePoint::Body(graph.labelled_body(labelled_body).node.body));
            self.nodes[node as usize] = PathNetworkNode { change_point, next };
        }
        begin
    }

    /// Returns the node of an edge's target. Adds a new labelled body to `open`.
    fn node_of_target(&mut self, causes: &Causes, next: EdgeTarget, open: &mut Vec<(LabelledBodyId, u32)>) -> u32 {
        let node_id = self.nodes.len() as u32;
        let node = match next {
            EdgeTarget::LabelledBody(labelled_body) => {
                *self.node_of_labelled_body.entry(labelled_body).or_insert(node_id)
            }
            EdgeTarget::Sink(sink) => *self.node_of_cause.entry(causes.cause_of_sink[sink as usize]).or_insert(node_id),
        };
        if node < node_id {
            return node;
        }
        let change_point = match next {
            // Its change point is set when its edges are followed.
            EdgeTarget::LabelledBody(labelled_body) => {
                open.push((labelled_body, node));
                0
            }
            EdgeTarget::Sink(sink) => self.change_point_index(ChangePoint::Cause(causes.cause_of_sink[sink as usize])),
        };
        self.nodes.push(PathNetworkNode { change_point, next: Vec::new() });
        node
    }

    /// Returns the index of a change point, which is added if it is new.
    fn change_point_index(&mut self, change_point: ChangePoint) -> u32 {
        let change_point_id = self.change_points.len() as u32;
        let index = *self.index_of_change_point.entry(change_point).or_insert(change_point_id);
        if index == change_point_id {
            self.change_points.push(change_point);
        }
        index
    }
}
