//! Reasons of a finding's severity and confidence: the signals that decided, as the search and the judge noted them, and the inferred
//! steps of the path. No signal is asked again.

use blocklint_flow::graph::FlowEdge;
use blocklint_flow::graph::marks::{AskId, Mark};
use blocklint_flow::graph::raw_finding::{Doubt, Reason};
use blocklint_flow::graph::trace::place_of;
use blocklint_flow::judge::candidate::Candidate;
use blocklint_flow::judge::doubts::{doubt_about_root, doubts_on_path};
use blocklint_link::program::ids::SiteRef;

use super::SolvedGraph;

/// Returns the signals that decided about a candidate, each once with the place where a reader sees it: first those of its path from the
/// root down, then those of the whole.
pub(super) fn reasons(solved: &SolvedGraph<'_, '_>, best: &Candidate) -> Vec<Reason> {
    let mut path = best.above.to_vec();
    path.extend(solved.paths.best_path(best.edge));
    let mut applied = applied_on_path(solved, &path);
    applied.extend(best.applied.iter().map(|&ask| (ask, None)));
    let mut found: Vec<Reason> = Vec::new();
    for (ask, site) in applied {
        let signal = ask.signal();
        if !found.iter().any(|known| known.name == signal.name) {
            let place = site.map(|site| (site.file, place_of(solved.linker, site)));
            found.push(Reason { name: signal.name, says: signal.says, makes: ask.effect().words(), place });
        }
    }
    found
}

/// Returns the signals that decided while a label climbed a path, from the root down, with their sites.
fn applied_on_path(solved: &SolvedGraph<'_, '_>, path: &[FlowEdge]) -> Vec<(AskId, Option<SiteRef>)> {
    let mut found = Vec::new();
    // Signals of the condition that is open, from the sink up: they count where it stays undecided.
    let mut open: Vec<(AskId, Option<SiteRef>)> = Vec::new();
    for (at, edge) in path.iter().enumerate().rev() {
        let next = path.get(at + 1).map(|next| next.site);
        for &mark in solved.graph.marks.marks(edge.marks).iter() {
            match mark {
                Mark::Applied(ask) => found.push((ask, ask.place(edge.site, next))),
                Mark::IfUndecided(ask) => {
                    open.retain(|&(_, site)| site == Some(edge.site));
                    open.push((ask, Some(edge.site)));
                }
                Mark::Undecided => found.append(&mut open),
            }
        }
    }
    found.reverse();
    found
}

/// Returns the inferred steps of a candidate; at least one if it is not sure and no signal explains it.
pub(super) fn doubts(solved: &SolvedGraph<'_, '_>, best: &Candidate) -> Vec<Doubt> {
    let SolvedGraph { linker, judge, graph, ref paths, .. } = *solved;
    let mut found = doubts_on_path(linker, judge, graph, &paths.best_path(best.edge));
    found.extend(doubt_about_root(best.kind));
    if found.is_empty() && best.cost.steps > 0 {
        found.push(Doubt::Undecided(best.edge.site));
    }
    found
}
