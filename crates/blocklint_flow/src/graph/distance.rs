//! Implementations that only pass a call on to another one of the same method: filters, wrappers, a cluster of invokers. Through
//! them every implementation seems to block as soon as one does, so the shortest path from each implementation decides.

use std::cell::OnceCell;
use std::collections::VecDeque;

use blocklint_core::Effect;
use blocklint_link::program::ids::BodyRef;
use rustc_hash::FxHashMap;

use crate::graph::{EdgeTarget, Graph, LabelledBodyId};

/// The shortest paths from labelled bodies, found when first asked for.
#[derive(Default)]
pub(crate) struct Distances {
    ways: OnceCell<Ways>,
}

struct Ways {
    /// The hops from each state to where its shortest way ends.
    hops: Vec<u32>,
    /// From each state to the next one on its shortest way; `None` where the way ends.
    next: Vec<Option<LabelledBodyId>>,
    /// The states of a body with an effect.
    states: FxHashMap<(BodyRef, Effect), Vec<LabelledBodyId>>,
}

impl Distances {
    /// True if a body comes to an effect only through one of these others.
    pub(crate) fn leads_through(&self, graph: &Graph<'_>, body: BodyRef, effect: Effect, others: &[BodyRef]) -> bool {
        let ways = self.ways.get_or_init(|| Ways::of(graph));
        let Some(states) = ways.states.get(&(body, effect)) else { return false };
        states.iter().all(|&state| {
            let mut rest = std::iter::successors(Some(state), |at| ways.next[at.0 as usize]).skip(1);
            rest.any(|at| others.contains(&graph.states[at.0 as usize].node.body))
        })
    }
}

impl Distances {
    /// True if a body reaches an effect in a few calls. Paths of many calls count for nothing, because each body has
    /// some, through methods with many implementations.
    pub(crate) fn is_near(&self, graph: &Graph<'_>, body: BodyRef, effect: Effect) -> bool {
        /// Calls from a body to what holds the thread.
        const FEW: u32 = 6;
        let ways = self.ways.get_or_init(|| Ways::of(graph));
        let states = ways.states.get(&(body, effect));
        states.into_iter().flatten().any(|state| ways.hops[state.0 as usize] <= FEW)
    }
}

impl Ways {
    fn of(graph: &Graph<'_>) -> Self {
        let mut next = vec![None; graph.states.len()];
        let mut hops = vec![1; graph.states.len()];
        let mut reached = vec![false; graph.states.len()];
        let mut before: Vec<Vec<LabelledBodyId>> = vec![Vec::new(); graph.states.len()];
        let mut states: FxHashMap<(BodyRef, Effect), Vec<LabelledBodyId>> = FxHashMap::default();
        let mut queue = VecDeque::new();
        for (at, state) in graph.states.iter().enumerate() {
            let id = LabelledBodyId(at as u32);
            let effect = graph.labels.get(state.label).effect;
            states.entry((state.node.body, effect)).or_default().push(id);
            for way in &state.edges {
                match way.next {
                    EdgeTarget::LabelledBody(next) => before[next.0 as usize].push(id),
                    EdgeTarget::Leaf(_) if !reached[at] => {
                        reached[at] = true;
                        queue.push_back(id);
                    }
                    EdgeTarget::Leaf(_) => {}
                }
            }
        }
        while let Some(id) = queue.pop_front() {
            for &caller in &before[id.0 as usize] {
                if !reached[caller.0 as usize] {
                    reached[caller.0 as usize] = true;
                    next[caller.0 as usize] = Some(id);
                    hops[caller.0 as usize] = hops[id.0 as usize] + 1;
                    queue.push_back(caller);
                }
            }
        }
        Ways { hops, next, states }
    }
}
