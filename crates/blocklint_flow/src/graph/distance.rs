//! Shortest paths from bodies to blocking calls, which recognise implementations of a method that only delegate to
//! another implementation (filters, wrappers). Because of such delegation every implementation seems to block as soon
//! as one of them does, so the shortest path from each implementation decides.

use std::cell::OnceCell;
use std::collections::VecDeque;

use blocklint_core::Effect;
use blocklint_link::program::ids::BodyRef;
use rustc_hash::FxHashMap;

use crate::graph::{EdgeTarget, Graph, LabelledBodyId};

/// The shortest paths from labelled bodies, computed on first use.
#[derive(Default)]
pub(crate) struct Distances {
    shortest: OnceCell<ShortestPaths>,
}

struct ShortestPaths {
    /// The number of hops on the shortest path from each labelled body.
    hops: Vec<u32>,
    /// For each labelled body the next one on its shortest path; `None` at the end of the path.
    next: Vec<Option<LabelledBodyId>>,
    /// The labelled bodies of a body and an effect.
    labelled_bodies: FxHashMap<(BodyRef, Effect), Vec<LabelledBodyId>>,
}

impl Distances {
    /// True if all shortest paths from a body to an effect go through one of `others`.
    pub(crate) fn reaches_only_through(
        &self,
        graph: &Graph<'_>,
        body: BodyRef,
        effect: Effect,
        others: &[BodyRef],
    ) -> bool {
        let shortest = self.shortest.get_or_init(|| ShortestPaths::new(graph));
        let Some(labelled_bodies) = shortest.labelled_bodies.get(&(body, effect)) else { return false };
        labelled_bodies.iter().all(|&labelled_body| {
            let mut following_bodies =
                std::iter::successors(Some(labelled_body), |id| shortest.next[id.0 as usize]).skip(1);
            following_bodies.any(|id| others.contains(&graph.labelled_body(id).node.body))
        })
    }
}

impl Distances {
    /// True if a body reaches an effect in a few calls. Paths of many calls are no evidence, because every body has
    /// some through methods with many implementations.
    pub(crate) fn is_near(&self, graph: &Graph<'_>, body: BodyRef, effect: Effect) -> bool {
        /// The most calls from the body to the blocking call.
        const FEW: u32 = 6;
        let shortest = self.shortest.get_or_init(|| ShortestPaths::new(graph));
        let labelled_bodies = shortest.labelled_bodies.get(&(body, effect));
        labelled_bodies.into_iter().flatten().any(|labelled_body| shortest.hops[labelled_body.0 as usize] <= FEW)
    }
}

impl ShortestPaths {
    /// Computes the shortest paths with a breadth-first search backwards from the sinks.
    fn new(graph: &Graph<'_>) -> Self {
        let mut next = vec![None; graph.labelled_bodies.len()];
        let mut hops = vec![1; graph.labelled_bodies.len()];
        let mut reached = vec![false; graph.labelled_bodies.len()];
        let mut callers: Vec<Vec<LabelledBodyId>> = vec![Vec::new(); graph.labelled_bodies.len()];
        let mut labelled_bodies: FxHashMap<(BodyRef, Effect), Vec<LabelledBodyId>> = FxHashMap::default();
        let mut queue = VecDeque::new();
        for (index, labelled_body) in graph.labelled_bodies.iter().enumerate() {
            let id = LabelledBodyId(index as u32);
            let effect = graph.labels.get(labelled_body.label).effect;
            labelled_bodies.entry((labelled_body.node.body, effect)).or_default().push(id);
            for edge in &labelled_body.edges {
                match edge.next {
                    EdgeTarget::LabelledBody(next) => callers[next.0 as usize].push(id),
                    EdgeTarget::Sink(_) if !reached[index] => {
                        reached[index] = true;
                        queue.push_back(id);
                    }
                    EdgeTarget::Sink(_) => {}
                }
            }
        }
        while let Some(id) = queue.pop_front() {
            for &caller in &callers[id.0 as usize] {
                if !reached[caller.0 as usize] {
                    reached[caller.0 as usize] = true;
                    next[caller.0 as usize] = Some(id);
                    hops[caller.0 as usize] = hops[id.0 as usize] + 1;
                    queue.push_back(caller);
                }
            }
        }
        ShortestPaths { hops, next, labelled_bodies }
    }
}
