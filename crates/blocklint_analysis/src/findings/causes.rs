//! Names causes: the blocking calls behind findings, each with the number of functions that it delays.

use crate::raw_finding::RawFinding;
use blocklint_flow::graph::raw_finding::RawCause;
use blocklint_flow::judge::candidate::{Candidate, CandidatesByPlace};
use blocklint_link::program::ids::BodyRef;
use rustc_hash::FxHashSet;

use super::SolvedGraph;

/// Returns all causes. Natively blocked hubs count as delayed, too.
pub(super) fn name_causes(
    solved: &SolvedGraph<'_, '_>,
    places: &CandidatesByPlace,
    hubs: &[RawFinding],
) -> Vec<RawCause> {
    let SolvedGraph { linker, graph, ref causes, .. } = *solved;
    let mut reach = reach_of(solved, places);
    for hub in hubs {
        for &cause in &hub.causes {
            reach[cause as usize].insert(hub.root);
        }
    }
    let named = causes.sinks.iter().zip(&reach).map(|(&sink, roots)| {
        let sink = &graph.sinks[sink as usize];
        RawCause {
            file: sink.site.file,
            span: linker.program.site(sink.site).span,
            function: linker.qualified_name(sink.body(linker)),
            call: linker.library.text(sink.path).to_string(),
            reach: roots.len() as u32,
        }
    });
    named.collect()
}

/// Returns the roots that wait for each cause. A root that is silenced at its own place does not wait to be mended, and
/// one that only tests, examples or a command line run delays no request.
fn reach_of(solved: &SolvedGraph<'_, '_>, places: &CandidatesByPlace) -> Vec<FxHashSet<BodyRef>> {
    let causes = &solved.causes;
    let mut reach: Vec<FxHashSet<BodyRef>> = vec![FxHashSet::default(); causes.sinks.len()];
    // Many paths lead from a root to the same causes.
    let mut counted: FxHashSet<(BodyRef, (bool, u32))> = FxHashSet::default();
    let waiting = |candidate: &&Candidate| candidate.silenced.is_none() && candidate.aside.is_none();
    for candidate in places.values().flatten().filter(waiting) {
        if counted.insert((candidate.root, causes.set_key(&candidate.edge))) {
            for &cause in causes.reached_by(&candidate.edge) {
                reach[cause as usize].insert(candidate.root);
            }
        }
    }
    reach
}
