//! Several ways of one state, of which what a call passes rules out some.

use blocklint_link::values::value::EnvId;
use rustc_hash::FxHashMap;

use crate::callers::Caller;
use crate::graph::{EdgeTarget, FlowEdge, LabelledBody, LabelledBodyId};
use crate::guards::enclosing::is_conditional;
use crate::search::Search;

/// Ways of one state beyond which callers do not choose among them.
const MOST_WAYS: usize = 32;

impl Search<'_, '_> {
    /// Makes each way lead on only where its own call does: of several ways of one state what the call passes may rule out
    /// some.
    pub(crate) fn leave_out_what_is_ruled_out(&mut self) {
        let decides = |state: &LabelledBody| {
            let mut sites = state.ways.iter().map(|way| way.site);
            let is_conditional = |site| self.link.attempt_site(site, || is_conditional(self.link, site)) == Some(true);
            (2..=MOST_WAYS).contains(&state.ways.len()) && sites.any(is_conditional)
        };
        let decides: Vec<bool> = self.graph.states.iter().map(decides).collect();
        let mut changes = Vec::new();
        let edges = self.graph.states.iter().enumerate().flat_map(|(at, state)| {
            state.ways.iter().enumerate().map(move |(nth, way)| (Edge::Way(at, nth), *way, state.node.env))
        });
        let hits = self.graph.hits.iter().enumerate().map(|(at, hit)| (Edge::Hit(at), hit.way, EnvId::NONE));
        for (edge, way, env) in edges.chain(hits) {
            let EdgeTarget::LabelledBody(next) = way.next else { continue };
            if decides[next.0 as usize]
                && let Some(left) = self.link.attempt_site(way.site, || self.left_of(way, env, next)).flatten()
            {
                changes.push((edge, next, left));
            }
        }
        let mut restricted: FxHashMap<(LabelledBodyId, Vec<usize>), LabelledBodyId> = FxHashMap::default();
        for (edge, next, left) in changes {
            let id = *restricted.entry((next, left)).or_insert_with(|| {
                let of = &self.graph.states[next.0 as usize];
                let (node, label) = (of.node, of.label);
                self.graph.states.push(LabelledBody { node, label, ways: Vec::new() });
                LabelledBodyId(self.graph.states.len() as u32 - 1)
            });
            match edge {
                Edge::Way(state, nth) => self.graph.states[state].ways[nth].next = EdgeTarget::LabelledBody(id),
                Edge::Hit(hit) => self.graph.hits[hit].way.next = EdgeTarget::LabelledBody(id),
            }
        }
        // Now that each way leads where it does.
        for ((of, left), id) in restricted {
            let ways = &self.graph.states[of.0 as usize].ways;
            let ways = left.into_iter().map(|nth| ways[nth]).collect();
            self.graph.states[id.0 as usize].ways = ways;
        }
    }

    /// Which ways of a state a way to it does not rule out; nothing if it rules out none.
    fn left_of(&self, way: FlowEdge, env: EnvId, next: LabelledBodyId) -> Option<Vec<usize>> {
        let state = &self.graph.states[next.0 as usize];
        let body = state.node.body;
        if way.arg.is_some() {
            return None;
        }
        let with_receiver = self.link.targets(way.site, env).receiver_of(body)?;
        let caller = Caller::plain(way.site, env, with_receiver);
        let ways = state.ways.iter().enumerate();
        let left: Vec<usize> =
            ways.filter(|(_, way)| !self.conditions.is_out(caller, body, way.site)).map(|(nth, _)| nth).collect();
        (left.len() < state.ways.len()).then_some(left)
    }
}

/// A way of the graph, by where it stands.
enum Edge {
    Way(usize, usize),
    Hit(usize),
}
