//! Signals that compare candidates: a candidate that adds little to another candidate becomes a note if that one is
//! shown.

use std::cmp::Reverse;

use blocklint_core::{Confidence, Effect, Hold, Language, RuleCode, Severity};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::Callers;
use crate::graph::best_path::Paths;
use crate::graph::marks::QuestionId;
use crate::graph::{EdgeTarget, FlowEdge};
use crate::judge::after_failure::{is_after_failure, runs_after_failure};
use crate::judge::candidate::{Candidate, CandidatesByPlace, FindingPlace};

/// All candidates, and the data that a comparison of them needs.
pub struct CandidateComparison<'b, 'l, 'a> {
    /// The program.
    pub linker: &'l Linker<'a>,
    /// The callers of bodies.
    pub callers: &'b Callers<'l, 'a>,
    /// The best paths.
    pub paths: &'b Paths,
    /// The candidates.
    pub places: &'b mut CandidatesByPlace,
    /// The lowest confidence with which findings are shown.
    pub min_confidence: Confidence,
    /// Paths of lowered candidates that other findings list as causes.
    pub joined: Joined,
}

/// Paths of candidates that became notes because another finding lists them as causes.
#[derive(Default)]
pub struct Joined {
    /// For each place that opens a file the uses of that file.
    pub uses_of_file: FxHashMap<FindingPlace, Vec<FlowEdge>>,
    /// For each place whose rule is kept the paths that other rules report at the same call.
    pub of_one_call: FxHashMap<FindingPlace, Vec<(RuleCode, FlowEdge)>>,
}

impl Joined {
    /// Returns the joined paths of a place.
    pub fn paths_of(&self, place: FindingPlace) -> impl Iterator<Item = FlowEdge> + '_ {
        let of_file = self.uses_of_file.get(&place).into_iter().flatten().copied();
        of_file.chain(self.of_one_call.get(&place).into_iter().flatten().map(|(_, edge)| *edge))
    }
}

/// Lowers file access at calls that another rule reports as an error, because the edit for the error mends it. In
/// Python it also lowers waits at such calls, and network access at a call that is reported for a wait.
pub(crate) fn lower_reported_twice(comparison: &mut CandidateComparison<'_, '_, '_>, question: QuestionId) {
    let (linker, min_confidence) = (comparison.linker, comparison.min_confidence);
    // The calls with a reported candidate that meets a condition.
    let calls_with = |is_meant: &dyn Fn(&Candidate) -> bool| -> FxHashSet<(SiteRef, Option<u32>)> {
        let shown = |candidate: &Candidate| candidate.is_call() && candidate.is_reported(min_confidence);
        let reported = comparison
            .places
            .iter()
            .filter(|(_, list)| list.iter().any(|candidate| shown(candidate) && is_meant(candidate)));
        reported.map(|(&(site, arg, _), _)| (site, arg)).collect()
    };
    let calls_with_error = calls_with(&|candidate| candidate.label.severity == Severity::Error);
    let calls_with_wait = calls_with(&|candidate| candidate.label.effect == Effect::Wait);
    for ((site, arg, _), candidates) in comparison.places.iter_mut() {
        let has_error = calls_with_error.contains(&(*site, *arg));
        let is_python = linker.program.language(site.file) == Language::Python;
        let has_wait = is_python && calls_with_wait.contains(&(*site, *arg));
        for candidate in candidates.iter_mut() {
            let effect = candidate.label.effect;
            let adds_little = has_error && (effect == Effect::File || is_python && effect == Effect::Wait)
                || has_wait && effect == Effect::Network;
            if adds_little && candidate.label.severity == Severity::Warning {
                candidate.apply(question, false);
            }
        }
    }
}

/// Lowers brief holds in a function that holds its thread for longer with the same effect, because the edit moves the
/// whole function to another thread (Rust, Python).
pub(crate) fn lower_short_beside_longer(comparison: &mut CandidateComparison<'_, '_, '_>, question: QuestionId) {
    let (linker, min_confidence) = (comparison.linker, comparison.min_confidence);
    let is_moved_whole = |candidate: &Candidate| linker.program.language(candidate.root.file) != Language::Java;
    let is_brief = |candidate: &Candidate| candidate.hold() == Hold::Brief;
    let longer: FxHashSet<(BodyRef, Effect)> = comparison
        .places
        .values()
        .flatten()
        .filter(|candidate| candidate.is_reported(min_confidence) && is_moved_whole(candidate) && !is_brief(candidate))
        .map(|candidate| (candidate.root, candidate.label.effect))
        .collect();
    if longer.is_empty() {
        return;
    }
    for candidate in comparison.places.values_mut().flatten() {
        let is_own = matches!(candidate.edge.next, EdgeTarget::Sink(_));
        if is_own && is_brief(candidate) && longer.contains(&(candidate.root, candidate.label.effect)) {
            candidate.apply(question, false);
        }
    }
}

/// Joins the candidates of several rules at one call, because one edit there mends all of them: the worst rule is kept,
/// and the others become notes. The worst rule has the highest severity, then the highest confidence, then the longest
/// hold.
/// A call that fails on its thread needs another edit and stays a finding of its own.
pub(crate) fn join_rules_of_one_call(comparison: &mut CandidateComparison<'_, '_, '_>, question: QuestionId) {
    let min_confidence = comparison.min_confidence;
    let is_joined = |candidate: &Candidate| !candidate.label.fails && candidate.is_shown(min_confidence);
    let rank = |candidate: &Candidate| {
        let (rank, seconds) = candidate.hold().rank();
        (candidate.label.severity, candidate.confidence_with_length(), rank, seconds.to_bits())
    };
    let mut worst = FxHashMap::default();
    for (&(site, arg, rule), candidates) in comparison.places.iter() {
        let Some(rule_rank) = candidates.iter().filter(|candidate| is_joined(candidate)).map(rank).max() else {
            continue;
        };
        let (worst_rank, count) = worst.entry((site, arg)).or_insert(((rule_rank, Reverse(rule)), 0));
        *worst_rank = (*worst_rank).max((rule_rank, Reverse(rule)));
        *count += 1;
    }
    let joined = &mut comparison.joined.of_one_call;
    for (&(site, arg, rule), candidates) in comparison.places.iter_mut() {
        let Some(&((_, Reverse(stays)), 2..)) = worst.get(&(site, arg)) else { continue };
        if rule == stays {
            continue;
        }
        for candidate in candidates.iter_mut().filter(|candidate| is_joined(candidate)) {
            joined.entry((site, arg, stays)).or_default().push((rule, candidate.edge));
            candidate.apply(question, false);
        }
    }
    for others in joined.values_mut() {
        others.sort_by_key(|(rule, edge)| (*rule, edge.target_key()));
    }
}

/// Lowers calls that run only after a failure, if another candidate reaches the same sink in ordinary operation: the
/// edit for that candidate mends both (Python).
pub(crate) fn lower_failing_besides(comparison: &mut CandidateComparison<'_, '_, '_>, question: QuestionId) {
    let CandidateComparison { linker, callers, paths, min_confidence, .. } = *comparison;
    let is_file_or_network_call = |candidate: &Candidate| {
        let (language, effect) = (linker.program.language(candidate.root.file), candidate.label.effect);
        candidate.is_call() && language == Language::Python && matches!(effect, Effect::Network | Effect::File)
    };
    let follows_failure = |candidate: &Candidate| {
        is_file_or_network_call(candidate)
            && (paths.best_path(candidate.edge).iter().any(|edge| is_after_failure(linker, edge.site))
                || runs_after_failure(linker, callers, candidate.root, 3))
    };
    let after_failure: Vec<bool> = comparison
        .places
        .values()
        .flatten()
        .map(|candidate| candidate.label.severity > Severity::Note && follows_failure(candidate))
        .collect();
    if !after_failure.contains(&true) {
        return;
    }
    let ordinary: FxHashSet<u32> = comparison
        .places
        .values()
        .flatten()
        .zip(&after_failure)
        .filter(|&(candidate, after)| !after && candidate.is_shown(min_confidence))
        .filter_map(|(candidate, _)| candidate.sink(paths))
        .collect();
    for (candidate, _) in comparison.places.values_mut().flatten().zip(after_failure).filter(|&(_, after)| after) {
        if candidate.sink(paths).is_some_and(|sink| ordinary.contains(&sink)) {
            candidate.apply(question, false);
        }
    }
}
