//! Reasons for the severity and confidence of a finding: the signals that applied, as the marks of edges and the
//! candidate record them, and the doubts about the path. No signal is asked again.

use blocklint_flow::graph::FlowEdge;
use blocklint_flow::graph::marks::{Mark, QuestionId};
use blocklint_flow::graph::raw_finding::{Doubt, Reason};
use blocklint_flow::graph::trace::place_of;
use blocklint_flow::judge::candidate::Candidate;
use blocklint_flow::judge::doubts::{doubt_about_root, doubts_on_path};
use blocklint_link::program::ids::SiteRef;

use super::SolvedGraph;

/// Returns the signals that applied to a candidate, each once: first those on its path from the root down, then those
/// about the whole candidate.
pub(super) fn signal_reasons(solved: &SolvedGraph<'_, '_>, best: &Candidate) -> Vec<Reason> {
    let mut path = best.above.to_vec();
    path.extend(solved.paths.best_path(best.edge));
    let mut applied = applied_on_path(solved, &path);
    applied.extend(best.applied.iter().map(|&question| (question, None)));
    let mut reasons: Vec<Reason> = Vec::new();
    for (question, site) in applied {
        let signal = question.signal();
        if !reasons.iter().any(|reason| reason.name == signal.name) {
            let place = site.map(|site| (site.file, place_of(solved.linker, site)));
            reasons.push(Reason { name: signal.name, says: signal.says, makes: question.effect().words(), place });
        }
    }
    reasons
}

/// Returns the signals that applied to a label on its path, from the root down, with their sites.
fn applied_on_path(solved: &SolvedGraph<'_, '_>, path: &[FlowEdge]) -> Vec<(QuestionId, Option<SiteRef>)> {
    let mut applied = Vec::new();
    // Signals about the open condition, from the sink up. They apply only if no caller decides the condition.
    let mut open: Vec<(QuestionId, Option<SiteRef>)> = Vec::new();
    for (index, edge) in path.iter().enumerate().rev() {
        let next = path.get(index + 1).map(|next| next.site);
        for &mark in solved.graph.marks.marks(edge.marks).iter() {
            match mark {
                Mark::Applied(question) => applied.push((question, question.place(edge.site, next))),
                Mark::IfUndecided(question) => {
                    open.retain(|&(_, site)| site == Some(edge.site));
                    open.push((question, Some(edge.site)));
                }
                Mark::Undecided => applied.append(&mut open),
            }
        }
    }
    applied.reverse();
    applied
}

/// Returns the doubts about a candidate. If its path has inferred steps that no doubt explains, the result has one
/// doubt of the kind `Undecided`.
pub(super) fn doubts_about(solved: &SolvedGraph<'_, '_>, best: &Candidate) -> Vec<Doubt> {
    let SolvedGraph { linker, judge, graph, ref paths, .. } = *solved;
    let mut doubts = doubts_on_path(linker, judge, graph, &paths.best_path(best.edge));
    doubts.extend(doubt_about_root(best.entry_point));
    if doubts.is_empty() && best.cost.steps > 0 {
        doubts.push(Doubt::Undecided(best.edge.site));
    }
    doubts
}
