//! Judges candidates: the signals make them less bad, less sure or worse, each alone and then beside each other.

use blocklint_flow::callers::Callers;
use blocklint_flow::judge::beside::{Beside, Joined};
use blocklint_flow::judge::candidate::CandidatesByPlace;
use blocklint_flow::judge::moments::Moments;
use blocklint_flow::judge::signal::Traced;
use blocklint_flow::lifecycle::reached_by::ReachedBy;
use blocklint_link::linker::work::WorkUnit;

use super::SolvedGraph;

/// Judges all candidates. Returns the paths that a finding describes besides its own.
pub(super) fn judge<'s, 'l, 'a>(
    solved: &SolvedGraph<'l, 'a>,
    callers: &'s Callers<'l, 'a>,
    reached_by: &'s ReachedBy<'s, 'l, 'a>,
    places: &mut CandidatesByPlace,
) -> Joined {
    let SolvedGraph { linker, judge, graph, ref paths, options, .. } = *solved;
    let mut moments = Moments::new(linker, callers, reached_by);
    for candidate in places.values_mut().flatten() {
        let Some(_guard) = linker.enter_unit(WorkUnit::Body(candidate.root)) else { continue };
        let (path, seen) = (paths.follow(candidate.edge), candidate.label.clone());
        let traced = Traced {
            linker,
            callers,
            graph,
            root: candidate.root,
            kind: candidate.kind,
            handed: candidate.handed,
            label: &seen,
            path: &path,
        };
        let (steps, doubts) = judge.steps_on_path(&traced);
        candidate.cost.steps += u32::from(steps);
        candidate.applied.extend(doubts);
        if let Some(ask) = judge.on_path(&traced, &mut moments) {
            candidate.apply(ask, options.include_aside);
        }
    }
    let min_confidence = options.min_confidence;
    let mut beside = Beside { linker, callers, paths, places, min_confidence, joined: Joined::default() };
    judge.beside(&mut beside);
    beside.joined
}
