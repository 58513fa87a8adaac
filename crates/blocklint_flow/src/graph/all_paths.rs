//! All paths from findings to blocking calls, and the places on them that a person could change. `blocklint plan` reads off it which few
//! changes free the most functions. Plain data: no path is searched here.

use blocklint_core::{RuleCode, Span};
use blocklint_link::program::ids::{BodyRef, FileId};
use rustc_hash::FxHashMap;

use crate::graph::causes::Causes;
use crate::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};

/// A place at which one change mends something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangePoint {
    /// A function, with all that it does on its callers' thread.
    Body(BodyRef),
    /// The line that enters the library: the cause of this number.
    Cause(u32),
}

/// A body with one of its labels, or the end of a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathNetworkNode {
    /// The change that one would make there: an index into the spots.
    pub spot: u32,
    /// Where its calls lead; nowhere from an end.
    pub next: Vec<u32>,
}

/// The ways behind some findings.
#[derive(Clone, Debug, Default)]
pub struct PathNetwork {
    /// The possible changes, each once.
    pub spots: Vec<ChangePoint>,
    /// The nodes.
    pub nodes: Vec<PathNetworkNode>,
    /// Where the ways of each finding begin.
    pub begins: FxHashMap<(FileId, Span, RuleCode), Vec<u32>>,
    of_spot: FxHashMap<ChangePoint, u32>,
    of_state: FxHashMap<LabelledBodyId, u32>,
    of_cause: FxHashMap<u32, u32>,
}

impl PathNetwork {
    /// Takes in what a way leads to, and says where that begins.
    pub fn take(&mut self, graph: &Graph<'_>, causes: &Causes, way: &FlowEdge) -> u32 {
        let mut open = Vec::new();
        let begin = self.node(causes, way.next, &mut open);
        while let Some((state, at)) = open.pop() {
            let ways = &graph.states[state.0 as usize].edges;
            let mut next: Vec<u32> = ways.iter().map(|way| self.node(causes, way.next, &mut open)).collect();
            next.sort_unstable();
            next.dedup();
            let spot = self.spot(ChangePoint::Body(graph.states[state.0 as usize].node.body));
            self.nodes[at as usize] = PathNetworkNode { spot, next };
        }
        begin
    }

    /// The node of what a way leads to; a state that is new is left open.
    fn node(&mut self, causes: &Causes, next: EdgeTarget, open: &mut Vec<(LabelledBodyId, u32)>) -> u32 {
        let new = self.nodes.len() as u32;
        let at = match next {
            EdgeTarget::LabelledBody(state) => *self.of_state.entry(state).or_insert(new),
            EdgeTarget::Leaf(leaf) => *self.of_cause.entry(causes.of_leaf[leaf as usize]).or_insert(new),
        };
        if at < new {
            return at;
        }
        let spot = match next {
            // It is known when the state is looked at.
            EdgeTarget::LabelledBody(state) => {
                open.push((state, at));
                0
            }
            EdgeTarget::Leaf(leaf) => self.spot(ChangePoint::Cause(causes.of_leaf[leaf as usize])),
        };
        self.nodes.push(PathNetworkNode { spot, next: Vec::new() });
        at
    }

    fn spot(&mut self, spot: ChangePoint) -> u32 {
        let new = self.spots.len() as u32;
        let at = *self.of_spot.entry(spot).or_insert(new);
        if at == new {
            self.spots.push(spot);
        }
        at
    }
}
