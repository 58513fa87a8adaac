//! Causes of findings: the blocking calls that a labelled body leads to.

use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{PathId, SiteRef};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{EdgeTarget, FlowEdge, Graph};

/// The causes behind each labelled body.
pub struct Causes {
    /// For each sink of the graph the index of its cause.
    pub cause_of_sink: Vec<u32>,
    /// For each cause the sink that represents it: the most severe, and of equally severe sinks the first.
    pub sinks: Vec<u32>,
    /// For each labelled body its index in `sets`. Labelled bodies that lead to the same causes mostly share a set.
    set_of: Vec<u32>,
    sets: Vec<Vec<u32>>,
}

impl Causes {
    /// Returns the causes of all labelled bodies. The blocking calls of one chain (`os.popen(command).read()`) are one
    /// cause.
    pub fn new(linker: &Linker<'_>, graph: &Graph<'_>) -> Self {
        let mut cause_of_sink = Vec::with_capacity(graph.sinks.len());
        let mut sinks: Vec<u32> = Vec::new();
        let mut ids: FxHashMap<(SiteRef, Option<PathId>), u32> = FxHashMap::default();
        let sites: FxHashSet<SiteRef> = graph.sinks.iter().map(|sink| sink.site).collect();
        let starts: Vec<Option<SiteRef>> =
            graph.sinks.iter().map(|sink| first_blocking_of_chain(linker, sink.site, &sites)).collect();
        let begins_chain: FxHashSet<SiteRef> = starts.iter().copied().flatten().collect();
        let severity = |index: u32| graph.labels.get(graph.sinks[index as usize].label).severity;
        for (index, sink) in graph.sinks.iter().enumerate() {
            let key = match starts[index] {
                Some(start) => (start, None),
                None => (sink.site, (!begins_chain.contains(&sink.site)).then_some(sink.path)),
            };
            let id = *ids.entry(key).or_insert_with(|| {
                sinks.push(index as u32);
                sinks.len() as u32 - 1
            });
            let representative = &mut sinks[id as usize];
            if severity(index as u32) > severity(*representative) {
                *representative = index as u32;
            }
            cause_of_sink.push(id);
        }
        let component = components(graph);
        let count = component.iter().max().map_or(0, |&last| last as usize + 1);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (labelled_body, &of_body) in component.iter().enumerate() {
            members[of_body as usize].push(labelled_body as u32);
        }
        // `components` numbers successors first, so the sets of entered components are known.
        let mut set_of_component: Vec<u32> = Vec::with_capacity(count);
        let mut sets: Vec<Vec<u32>> = Vec::with_capacity(count);
        for labelled_bodies in &members {
            let (mut own, mut entered): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
            for &labelled_body in labelled_bodies {
                for edge in &graph.labelled_bodies[labelled_body as usize].edges {
                    match edge.next {
                        EdgeTarget::Sink(sink) => own.push(cause_of_sink[sink as usize]),
                        EdgeTarget::LabelledBody(next) => {
                            entered.extend(set_of_component.get(component[next.0 as usize] as usize));
                        }
                    }
                }
            }
            entered.sort_unstable();
            entered.dedup();
            // A component that only enters one other component has the same causes.
            if let ([only], true) = (&entered[..], own.is_empty()) {
                set_of_component.push(*only);
                continue;
            }
            for &set in &entered {
                own.extend_from_slice(&sets[set as usize]);
            }
            own.sort_unstable();
            own.dedup();
            let widest = entered.iter().copied().max_by_key(|&set| sets[set as usize].len());
            let same = widest.filter(|&set| sets[set as usize].len() == own.len());
            set_of_component.push(same.unwrap_or(sets.len() as u32));
            if same.is_none() {
                sets.push(own);
            }
        }
        let set_of = component.iter().map(|&index| set_of_component[index as usize]).collect();
        Causes { cause_of_sink, sinks, set_of, sets }
    }

    /// Returns the causes that an edge leads to.
    pub fn reached_by(&self, edge: &FlowEdge) -> &[u32] {
        match edge.next {
            EdgeTarget::Sink(sink) => std::slice::from_ref(&self.cause_of_sink[sink as usize]),
            EdgeTarget::LabelledBody(labelled_body) => &self.sets[self.set_of[labelled_body.0 as usize] as usize],
        }
    }

    /// Returns a key of the causes that an edge leads to. Edges with equal keys have equal causes.
    pub fn set_key(&self, edge: &FlowEdge) -> (bool, u32) {
        match edge.next {
            EdgeTarget::Sink(sink) => (true, self.cause_of_sink[sink as usize]),
            EdgeTarget::LabelledBody(labelled_body) => (false, self.set_of[labelled_body.0 as usize]),
        }
    }
}

/// Returns the first blocking call of the call chain that ends at a blocking call: `os.popen` for the `read` of
/// `os.popen(command).read()`. `None` if no blocking call makes the receiver.
fn first_blocking_of_chain(linker: &Linker<'_>, site: SiteRef, blocking: &FxHashSet<SiteRef>) -> Option<SiteRef> {
    const LONGEST: usize = 16;
    let maker = |call: &SiteRef| {
        let creation = linker.program.site_of_form(call.file, linker.receiver_form(*call)?)?;
        Some(call.file.site_ref(creation))
    };
    let makers = std::iter::successors(maker(&site), maker).take(LONGEST);
    makers.filter(|call| blocking.contains(call)).last()
}

/// Returns the strongly connected components of the labelled bodies, numbered with successors first (Tarjan, without
/// recursion).
fn components(graph: &Graph<'_>) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let count = graph.labelled_bodies.len();
    let next_of = |labelled_body: usize, nth: usize| match graph.labelled_bodies[labelled_body]
        .edges
        .get(nth)
        .map(|edge| edge.next)
    {
        Some(EdgeTarget::LabelledBody(next)) => Some(Some(next.0 as usize)),
        Some(EdgeTarget::Sink(_)) => Some(None),
        None => None,
    };
    let (mut index, mut low, mut component) = (vec![NEW; count], vec![0u32; count], vec![NEW; count]);
    let (mut stack, mut frames) = (Vec::new(), Vec::new());
    let (mut counter, mut component_count) = (0u32, 0u32);
    for start in 0..count {
        if index[start] != NEW {
            continue;
        }
        frames.push((start, 0usize));
        while let Some((labelled_body, nth)) = frames.pop() {
            if nth == 0 {
                index[labelled_body] = counter;
                low[labelled_body] = counter;
                counter += 1;
                stack.push(labelled_body);
            }
            match next_of(labelled_body, nth) {
                Some(next) => {
                    frames.push((labelled_body, nth + 1));
                    let Some(next) = next else { continue };
                    if index[next] == NEW {
                        frames.push((next, 0));
                    } else if component[next] == NEW {
                        low[labelled_body] = low[labelled_body].min(index[next]);
                    }
                }
                None => {
                    if low[labelled_body] == index[labelled_body] {
                        while let Some(member) = stack.pop() {
                            component[member] = component_count;
                            if member == labelled_body {
                                break;
                            }
                        }
                        component_count += 1;
                    }
                    if let Some(&(parent, _)) = frames.last() {
                        low[parent] = low[parent].min(low[labelled_body]);
                    }
                }
            }
        }
    }
    component
}
