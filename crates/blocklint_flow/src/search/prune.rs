//! Removes edges of a labelled body that the arguments of a call rule out: only the paths that this call can take stay.

use blocklint_link::values::value::EnvId;
use rustc_hash::FxHashMap;

use crate::callers::Caller;
use crate::graph::{EdgeTarget, FlowEdge, LabelledBody, LabelledBodyId};
use crate::guards::enclosing::is_conditional;
use crate::search::Search;

/// The number of edges of one labelled body up to which callers choose among them.
const MOST_EDGES: usize = 32;

impl Search<'_, '_> {
    /// Removes, for each call into a body, the edges that the arguments of this call rule out.
    pub(crate) fn prune_excluded_edges(&mut self) {
        let decides = |labelled_body: &LabelledBody| {
            let mut sites = labelled_body.edges.iter().map(|edge| edge.site);
            let is_conditional =
                |site| self.linker.attempt_site(site, || is_conditional(self.linker, site)) == Some(true);
            (2..=MOST_EDGES).contains(&labelled_body.edges.len()) && sites.any(is_conditional)
        };
        let decides: Vec<bool> = self.graph.labelled_bodies.iter().map(decides).collect();
        let mut changes = Vec::new();
        let edges = self.graph.labelled_bodies.iter().enumerate().flat_map(|(at, labelled_body)| {
            labelled_body
                .edges
                .iter()
                .enumerate()
                .map(move |(nth, edge)| (EdgePlace::FromBody(at, nth), *edge, labelled_body.node.env))
        });
        let hits = self.graph.hits.iter().enumerate().map(|(at, hit)| (EdgePlace::ToRoot(at), hit.edge, EnvId::NONE));
        for (place, edge, env) in edges.chain(hits) {
            let EdgeTarget::LabelledBody(next) = edge.next else { continue };
            if decides[next.0 as usize]
                && let Some(left) = self.linker.attempt_site(edge.site, || self.left_of(edge, env, next)).flatten()
            {
                changes.push((place, next, left));
            }
        }
        let mut restricted: FxHashMap<(LabelledBodyId, Vec<usize>), LabelledBodyId> = FxHashMap::default();
        for (place, next, left) in changes {
            let id = *restricted.entry((next, left)).or_insert_with(|| {
                let of = self.graph.labelled_body(next);
                let (node, label) = (of.node, of.label);
                self.graph.labelled_bodies.push(LabelledBody { node, label, edges: Vec::new() });
                LabelledBodyId(self.graph.labelled_bodies.len() as u32 - 1)
            });
            match place {
                EdgePlace::FromBody(labelled_body, nth) => {
                    self.graph.labelled_bodies[labelled_body].edges[nth].next = EdgeTarget::LabelledBody(id)
                }
                EdgePlace::ToRoot(hit) => self.graph.hits[hit].edge.next = EdgeTarget::LabelledBody(id),
            }
        }
        // All edges have their final targets now.
        for ((of, left), id) in restricted {
            let edges = &self.graph.labelled_body(of).edges;
            let edges = left.into_iter().map(|nth| edges[nth]).collect();
            self.graph.labelled_bodies[id.0 as usize].edges = edges;
        }
    }

    /// Returns the edges of a labelled body that an edge to it does not rule out; `None` if it rules out none.
    fn left_of(&self, edge: FlowEdge, env: EnvId, next: LabelledBodyId) -> Option<Vec<usize>> {
        let labelled_body = self.graph.labelled_body(next);
        let body = labelled_body.node.body;
        if edge.arg.is_some() {
            return None;
        }
        let with_receiver = self.linker.targets(edge.site, env).receiver_of(body)?;
        let caller = Caller::plain(edge.site, env, with_receiver);
        let edges = labelled_body.edges.iter().enumerate();
        let left: Vec<usize> = edges
            .filter(|(_, edge)| !self.conditions.caller_excludes(caller, body, edge.site))
            .map(|(nth, _)| nth)
            .collect();
        (left.len() < labelled_body.edges.len()).then_some(left)
    }
}

/// The place of an edge in the graph.
enum EdgePlace {
    /// The n-th edge of a labelled body.
    FromBody(usize, usize),
    /// The edge of a hit.
    ToRoot(usize),
}
