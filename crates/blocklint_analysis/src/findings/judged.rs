//! Judgement of candidates: signals change the severity and confidence of each candidate, then of candidates compared
//! with each other.

use blocklint_flow::callers::Callers;
use blocklint_flow::judge::beside::{CandidateComparison, Joined};
use blocklint_flow::judge::candidate::CandidatesByPlace;
use blocklint_flow::judge::moments::Moments;
use blocklint_flow::judge::signal::PathSubject;
use blocklint_flow::lifecycle::reached_by::ReachedBy;
use blocklint_link::linker::work::WorkUnit;

use super::SolvedGraph;

/// Applies the signals to all candidates. Returns the paths of lowered candidates that other findings list as causes.
pub(super) fn judge_candidates<'s, 'l, 'a>(
    solved: &SolvedGraph<'l, 'a>,
    callers: &'s Callers<'l, 'a>,
    reached_by: &'s ReachedBy<'s, 'l, 'a>,
    places: &mut CandidatesByPlace,
) -> Joined {
    let SolvedGraph { linker, judge, graph, ref paths, options, .. } = *solved;
    let mut moments = Moments::new(linker, callers, reached_by);
    for candidate in places.values_mut().flatten() {
        let Some(_work) = linker.enter_unit(WorkUnit::Body(candidate.root)) else { continue };
        let (path, label) = (paths.best_path(candidate.edge), candidate.label.clone());
        let subject = PathSubject {
            linker,
            callers,
            graph,
            root: candidate.root,
            entry_point: candidate.entry_point,
            handed: candidate.handed,
            label: &label,
            path: &path,
        };
        let (steps, doubts) = judge.steps_on_path(&subject);
        candidate.cost.steps += u32::from(steps);
        candidate.applied.extend(doubts);
        if let Some(question) = judge.question_on_path(&subject, &mut moments) {
            candidate.apply(question, options.include_aside);
        }
    }
    let min_confidence = options.min_confidence;
    let mut comparison =
        CandidateComparison { linker, callers, paths, places, min_confidence, joined: Joined::default() };
    judge.lower_beside_others(&mut comparison);
    comparison.joined
}
