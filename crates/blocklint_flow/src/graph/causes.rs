//! Causes of findings: the blocking calls that a labelled body leads to.

use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{PathId, SiteRef};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{EdgeTarget, FlowEdge, Graph};

/// The causes behind each labelled body.
pub struct Causes {
    /// For each sink of the graph the number of its cause.
    pub of_sink: Vec<u32>,
    /// For each cause the sink that names it: the worst, and of equally bad ones the first.
    pub sinks: Vec<u32>,
    /// For each labelled body its set. Labelled bodies that lead to the same causes mostly share one.
    set_of: Vec<u32>,
    sets: Vec<Vec<u32>>,
}

impl Causes {
    /// Returns the causes of all labelled bodies. The blocking calls of one chain (`os.popen(command).read()`) are one
    /// cause.
    pub fn new(linker: &Linker<'_>, graph: &Graph<'_>) -> Self {
        let mut of_sink = Vec::with_capacity(graph.sinks.len());
        let mut sinks: Vec<u32> = Vec::new();
        let mut ids: FxHashMap<(SiteRef, Option<PathId>), u32> = FxHashMap::default();
        let sites: FxHashSet<SiteRef> = graph.sinks.iter().map(|sink| sink.site).collect();
        let starts: Vec<Option<SiteRef>> =
            graph.sinks.iter().map(|sink| first_of_chain(linker, sink.site, &sites)).collect();
        let begins_chain: FxHashSet<SiteRef> = starts.iter().copied().flatten().collect();
        let severity = |at: u32| graph.labels.get(graph.sinks[at as usize].label).severity;
        for (at, sink) in graph.sinks.iter().enumerate() {
            let key = match starts[at] {
                Some(start) => (start, None),
                None => (sink.site, (!begins_chain.contains(&sink.site)).then_some(sink.path)),
            };
            let id = *ids.entry(key).or_insert_with(|| {
                sinks.push(at as u32);
                sinks.len() as u32 - 1
            });
            let named_by = &mut sinks[id as usize];
            if severity(at as u32) > severity(*named_by) {
                *named_by = at as u32;
            }
            of_sink.push(id);
        }
        let component = components(graph);
        let count = component.iter().max().map_or(0, |&last| last as usize + 1);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (labelled_body, &of) in component.iter().enumerate() {
            members[of as usize].push(labelled_body as u32);
        }
        // Components come out of the search with successors first.
        let mut set_of_component: Vec<u32> = Vec::with_capacity(count);
        let mut sets: Vec<Vec<u32>> = Vec::with_capacity(count);
        for labelled_bodies in &members {
            let (mut own, mut entered): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
            for &labelled_body in labelled_bodies {
                for edge in &graph.labelled_bodies[labelled_body as usize].edges {
                    match edge.next {
                        EdgeTarget::Sink(sink) => own.push(of_sink[sink as usize]),
                        EdgeTarget::LabelledBody(next) => {
                            entered.extend(set_of_component.get(component[next.0 as usize] as usize));
                        }
                    }
                }
            }
            entered.sort_unstable();
            entered.dedup();
            // A body with one call that blocks leads where that call does.
            if let ([only], true) = (&entered[..], own.is_empty()) {
                set_of_component.push(*only);
                continue;
            }
            for &of in &entered {
                own.extend_from_slice(&sets[of as usize]);
            }
            own.sort_unstable();
            own.dedup();
            let widest = entered.iter().copied().max_by_key(|&of| sets[of as usize].len());
            let same = widest.filter(|&of| sets[of as usize].len() == own.len());
            set_of_component.push(same.unwrap_or(sets.len() as u32));
            if same.is_none() {
                sets.push(own);
            }
        }
        let set_of = component.iter().map(|&of| set_of_component[of as usize]).collect();
        Causes { of_sink, sinks, set_of, sets }
    }

    /// Returns the causes behind an edge.
    pub fn behind(&self, edge: &FlowEdge) -> &[u32] {
        match edge.next {
            EdgeTarget::Sink(sink) => std::slice::from_ref(&self.of_sink[sink as usize]),
            EdgeTarget::LabelledBody(labelled_body) => &self.sets[self.set_of[labelled_body.0 as usize] as usize],
        }
    }

    /// Returns a number for the causes behind an edge, which is equal for edges with equal causes.
    pub fn number(&self, edge: &FlowEdge) -> (bool, u32) {
        match edge.next {
            EdgeTarget::Sink(sink) => (true, self.of_sink[sink as usize]),
            EdgeTarget::LabelledBody(labelled_body) => (false, self.set_of[labelled_body.0 as usize]),
        }
    }
}

/// Returns the first blocking call of the chain that a blocking call ends (`os.popen` of `os.popen(command).read()`); none where
/// the call's receiver is made by no blocking call.
fn first_of_chain(linker: &Linker<'_>, site: SiteRef, blocking: &FxHashSet<SiteRef>) -> Option<SiteRef> {
    const LONGEST: usize = 16;
    let maker = |at: &SiteRef| {
        let made = linker.program.site_of_form(at.file, linker.receiver_form(*at)?)?;
        Some(at.file.site_ref(made))
    };
    let makers = std::iter::successors(maker(&site), maker).take(LONGEST);
    makers.filter(|at| blocking.contains(at)).last()
}

/// Returns the strongly connected components of the labelled bodies, numbered with successors first (Tarjan, without
/// recursion).
fn components(graph: &Graph<'_>) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let count = graph.labelled_bodies.len();
    let next_of = |labelled_body: usize, at: usize| match graph.labelled_bodies[labelled_body]
        .edges
        .get(at)
        .map(|edge| edge.next)
    {
        Some(EdgeTarget::LabelledBody(next)) => Some(Some(next.0 as usize)),
        Some(EdgeTarget::Sink(_)) => Some(None),
        None => None,
    };
    let (mut index, mut low, mut component) = (vec![NEW; count], vec![0u32; count], vec![NEW; count]);
    let (mut stack, mut frames) = (Vec::new(), Vec::new());
    let (mut counter, mut found) = (0u32, 0u32);
    for start in 0..count {
        if index[start] != NEW {
            continue;
        }
        frames.push((start, 0usize));
        while let Some((labelled_body, at)) = frames.pop() {
            if at == 0 {
                index[labelled_body] = counter;
                low[labelled_body] = counter;
                counter += 1;
                stack.push(labelled_body);
            }
            match next_of(labelled_body, at) {
                Some(next) => {
                    frames.push((labelled_body, at + 1));
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
                            component[member] = found;
                            if member == labelled_body {
                                break;
                            }
                        }
                        found += 1;
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
