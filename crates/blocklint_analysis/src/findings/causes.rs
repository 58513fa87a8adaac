//! Causes of findings: the blocking calls, each with the number of functions that it delays.

use crate::raw_finding::RawFinding;
use blocklint_flow::graph::raw_finding::RawCause;
use blocklint_flow::judge::candidate::{Candidate, CandidatesByPlace};
use blocklint_link::program::ids::BodyRef;
use rustc_hash::FxHashSet;

use super::SolvedGraph;

/// Returns all causes. Greenlets that a native call blocks (`hubs`) count as delayed functions, too.
pub(super) fn collect_causes(
    solved: &SolvedGraph<'_, '_>,
    places: &CandidatesByPlace,
    hubs: &[RawFinding],
) -> Vec<RawCause> {
    let SolvedGraph { linker, graph, ref causes, .. } = *solved;
    let mut reach = delayed_roots(solved, places);
    for hub in hubs {
        for &cause in &hub.causes {
            reach[cause as usize].insert(hub.root);
        }
    }
    let raw_causes = causes.sinks.iter().zip(&reach).map(|(&sink, roots)| {
        let sink = &graph.sinks[sink as usize];
        RawCause {
            file: sink.site.file,
            span: linker.program.site(sink.site).span,
            function: linker.qualified_name(sink.body(linker)),
            call: linker.library.text(sink.path).to_string(),
            reach: roots.len() as u32,
        }
    });
    raw_causes.collect()
}

/// Returns for each cause the roots that it delays. Suppressed roots do not count, nor do roots that only tests,
/// examples or a command line reach.
fn delayed_roots(solved: &SolvedGraph<'_, '_>, places: &CandidatesByPlace) -> Vec<FxHashSet<BodyRef>> {
    let causes = &solved.causes;
    let mut reach: Vec<FxHashSet<BodyRef>> = vec![FxHashSet::default(); causes.sinks.len()];
    // Many paths lead from a root to the same set of causes.
    let mut counted: FxHashSet<(BodyRef, (bool, u32))> = FxHashSet::default();
    let is_delayed = |candidate: &&Candidate| candidate.suppression.is_none() && candidate.aside.is_none();
    for candidate in places.values().flatten().filter(is_delayed) {
        if counted.insert((candidate.root, causes.set_key(&candidate.edge))) {
            for &cause in causes.reached_by(&candidate.edge) {
                reach[cause as usize].insert(candidate.root);
            }
        }
    }
    reach
}
