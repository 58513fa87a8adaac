//! Pruning of the graph after the search: for each call, the edges of the called labelled body that the call's
//! arguments rule out are removed.

use blocklint_link::values::value::EnvId;
use rustc_hash::FxHashMap;

use crate::callers::Caller;
use crate::graph::{EdgeTarget, FlowEdge, LabelledBody, LabelledBodyId};
use crate::guards::enclosing::is_conditional;
use crate::search::Search;

/// A labelled body with more edges than this is not pruned.
const MOST_EDGES: usize = 32;

impl Search<'_, '_> {
    /// Redirects each edge to a copy of its labelled body that has only the edges that the call's arguments allow.
    /// Example: `load(cached=True)` loses the edges behind `if not cached:`.
    pub(crate) fn prune_excluded_edges(&mut self) {
        let has_conditional_edges = |labelled_body: &LabelledBody| {
            let mut sites = labelled_body.edges.iter().map(|edge| edge.site);
            let is_conditional =
                |site| self.linker.attempt_site(site, || is_conditional(self.linker, site)) == Some(true);
            (2..=MOST_EDGES).contains(&labelled_body.edges.len()) && sites.any(is_conditional)
        };
        let has_conditional_edges: Vec<bool> = self.graph.labelled_bodies.iter().map(has_conditional_edges).collect();
        let mut changes = Vec::new();
        let edges = self.graph.labelled_bodies.iter().enumerate().flat_map(|(index, labelled_body)| {
            labelled_body
                .edges
                .iter()
                .enumerate()
                .map(move |(nth, edge)| (EdgePlace::FromBody(index, nth), *edge, labelled_body.node.env))
        });
        let hits =
            self.graph.hits.iter().enumerate().map(|(index, hit)| (EdgePlace::OfHit(index), hit.edge, EnvId::NONE));
        for (place, edge, env) in edges.chain(hits) {
            let EdgeTarget::LabelledBody(next) = edge.next else { continue };
            if has_conditional_edges[next.0 as usize]
                && let Some(allowed) =
                    self.linker.attempt_site(edge.site, || self.allowed_edges(edge, env, next)).flatten()
            {
                changes.push((place, next, allowed));
            }
        }
        let mut restricted: FxHashMap<(LabelledBodyId, Vec<usize>), LabelledBodyId> = FxHashMap::default();
        for (place, next, allowed) in changes {
            let id = *restricted.entry((next, allowed)).or_insert_with(|| {
                let original = self.graph.labelled_body(next);
                let (node, label) = (original.node, original.label);
                self.graph.labelled_bodies.push(LabelledBody { node, label, edges: Vec::new() });
                LabelledBodyId(self.graph.labelled_bodies.len() as u32 - 1)
            });
            match place {
                EdgePlace::FromBody(labelled_body, nth) => {
                    self.graph.labelled_bodies[labelled_body].edges[nth].next = EdgeTarget::LabelledBody(id)
                }
                EdgePlace::OfHit(hit) => self.graph.hits[hit].edge.next = EdgeTarget::LabelledBody(id),
            }
        }
        // Edges are copied last, when all of them have their final targets.
        for ((original, allowed), id) in restricted {
            let edges = &self.graph.labelled_body(original).edges;
            let edges = allowed.into_iter().map(|nth| edges[nth]).collect();
            self.graph.labelled_bodies[id.0 as usize].edges = edges;
        }
    }

    /// Returns the indices of the edges of a labelled body that the call of an edge to it allows. `None` if it allows
    /// all.
    fn allowed_edges(&self, edge: FlowEdge, env: EnvId, next: LabelledBodyId) -> Option<Vec<usize>> {
        let labelled_body = self.graph.labelled_body(next);
        let body = labelled_body.node.body;
        if edge.arg.is_some() {
            return None;
        }
        let with_receiver = self.linker.targets(edge.site, env).receiver_of(body)?;
        let caller = Caller::plain(edge.site, env, with_receiver);
        let edges = labelled_body.edges.iter().enumerate();
        let allowed: Vec<usize> = edges
            .filter(|(_, edge)| !self.conditions.caller_excludes(caller, body, edge.site))
            .map(|(nth, _)| nth)
            .collect();
        (allowed.len() < labelled_body.edges.len()).then_some(allowed)
    }
}

/// The place of an edge in the graph.
enum EdgePlace {
    /// The n-th edge of a labelled body.
    FromBody(usize, usize),
    /// The edge of a hit.
    OfHit(usize),
}
