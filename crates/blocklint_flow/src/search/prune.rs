//! Removes edges of a labelled body that the arguments of a call rule out: only the paths that this call can take stay.

use blocklint_link::values::value::EnvId;
use rustc_hash::FxHashMap;

use crate::callers::Caller;
use crate::graph::{EdgeTarget, FlowEdge, LabelledBody, LabelledBodyId};
use crate::guards::enclosing::is_conditional;
use crate::search::Search;

/// Ways of one state beyond which callers do not choose among them.
const MOST_WAYS: usize = 32;

impl Search<'_, '_> {
    /// Removes, for each call into a body, the edges that the arguments of this call rule out.
    pub(crate) fn prune_excluded_edges(&mut self) {
        let decides = |state: &LabelledBody| {
            let mut sites = state.edges.iter().map(|way| way.site);
            let is_conditional =
                |site| self.linker.attempt_site(site, || is_conditional(self.linker, site)) == Some(true);
            (2..=MOST_WAYS).contains(&state.edges.len()) && sites.any(is_conditional)
        };
        let decides: Vec<bool> = self.graph.states.iter().map(decides).collect();
        let mut changes = Vec::new();
        let edges = self.graph.states.iter().enumerate().flat_map(|(at, state)| {
            state.edges.iter().enumerate().map(move |(nth, way)| (Edge::Way(at, nth), *way, state.node.env))
        });
        let hits = self.graph.hits.iter().enumerate().map(|(at, hit)| (Edge::Hit(at), hit.way, EnvId::NONE));
        for (edge, way, env) in edges.chain(hits) {
            let EdgeTarget::LabelledBody(next) = way.next else { continue };
            if decides[next.0 as usize]
                && let Some(left) = self.linker.attempt_site(way.site, || self.left_of(way, env, next)).flatten()
            {
                changes.push((edge, next, left));
            }
        }
        let mut restricted: FxHashMap<(LabelledBodyId, Vec<usize>), LabelledBodyId> = FxHashMap::default();
        for (edge, next, left) in changes {
            let id = *restricted.entry((next, left)).or_insert_with(|| {
                let of = &self.graph.states[next.0 as usize];
                let (node, label) = (of.node, of.label);
                self.graph.states.push(LabelledBody { node, label, edges: Vec::new() });
                LabelledBodyId(self.graph.states.len() as u32 - 1)
            });
            match edge {
                Edge::Way(state, nth) => self.graph.states[state].edges[nth].next = EdgeTarget::LabelledBody(id),
                Edge::Hit(hit) => self.graph.hits[hit].way.next = EdgeTarget::LabelledBody(id),
            }
        }
        // Now that each way leads where it does.
        for ((of, left), id) in restricted {
            let ways = &self.graph.states[of.0 as usize].edges;
            let ways = left.into_iter().map(|nth| ways[nth]).collect();
            self.graph.states[id.0 as usize].edges = ways;
        }
    }

    /// Returns the edges of a state that an edge to it does not rule out; `None` if it rules out none.
    fn left_of(&self, way: FlowEdge, env: EnvId, next: LabelledBodyId) -> Option<Vec<usize>> {
        let state = &self.graph.states[next.0 as usize];
        let body = state.node.body;
        if way.arg.is_some() {
            return None;
        }
        let with_receiver = self.linker.targets(way.site, env).receiver_of(body)?;
        let caller = Caller::plain(way.site, env, with_receiver);
        let ways = state.edges.iter().enumerate();
        let left: Vec<usize> = ways
            .filter(|(_, way)| !self.conditions.caller_excludes(caller, body, way.site))
            .map(|(nth, _)| nth)
            .collect();
        (left.len() < state.edges.len()).then_some(left)
    }
}

/// A way of the graph, by where it stands.
enum Edge {
    Way(usize, usize),
    Hit(usize),
}
