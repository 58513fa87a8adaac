//! Signals that compare candidates: a candidate that adds little beside another becomes a note if the other one is
//! shown.

use std::cmp::Reverse;

use blocklint_core::{Confidence, Effect, Hold, Language, RuleCode, Severity};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::Callers;
use crate::graph::best_path::Paths;
use crate::graph::marks::AskId;
use crate::graph::{EdgeTarget, FlowEdge};
use crate::judge::after_failure::{is_after_failure, runs_after_failure};
use crate::judge::candidate::{Candidate, CandidatesByPlace, FindingPlace};

/// All candidates, and everything that a comparison of them asks.
pub struct Beside<'b, 'l, 'a> {
    /// The program.
    pub linker: &'l Linker<'a>,
    /// The callers of bodies.
    pub callers: &'b Callers<'l, 'a>,
    /// The best paths.
    pub paths: &'b Paths,
    /// The candidates.
    pub places: &'b mut CandidatesByPlace,
    /// The confidence from which on findings are shown.
    pub min_confidence: Confidence,
    /// The paths that a finding describes besides its own.
    pub joined: Joined,
}

/// Paths of candidates that became notes because another finding describes them: causes of that finding.
#[derive(Default)]
pub struct Joined {
    /// By the place that opens a file: the uses of that file.
    pub uses_of_file: FxHashMap<FindingPlace, Vec<FlowEdge>>,
    /// By the place whose rule stays: the paths that other rules report at the same call.
    pub of_one_call: FxHashMap<FindingPlace, Vec<(RuleCode, FlowEdge)>>,
}

impl Joined {
    /// Returns the paths that a place describes besides its own.
    pub fn paths_of(&self, place: FindingPlace) -> impl Iterator<Item = FlowEdge> + '_ {
        let of_file = self.uses_of_file.get(&place).into_iter().flatten().copied();
        of_file.chain(self.of_one_call.get(&place).into_iter().flatten().map(|(_, edge)| *edge))
    }
}

/// Lowers file access at calls that a rule reports as an error, which are mended for that. In Python the same holds for waits; and
/// network access at a call that waits for an answer is lowered.
pub(crate) fn lower_reported_twice(all: &mut Beside<'_, '_, '_>, ask: AskId) {
    let (linker, min_confidence) = (all.linker, all.min_confidence);
    // The calls behind which there is such a candidate.
    let calls_with = |is_meant: &dyn Fn(&Candidate) -> bool| -> FxHashSet<(SiteRef, Option<u32>)> {
        let shown = |candidate: &Candidate| candidate.is_call() && candidate.is_reported(min_confidence);
        let with =
            all.places.iter().filter(|(_, list)| list.iter().any(|candidate| shown(candidate) && is_meant(candidate)));
        with.map(|(&(site, arg, _), _)| (site, arg)).collect()
    };
    let heavy = calls_with(&|candidate| candidate.label.severity == Severity::Error);
    let waits = calls_with(&|candidate| candidate.label.effect == Effect::Wait);
    for ((site, arg, _), candidates) in all.places.iter_mut() {
        let is_heavy = heavy.contains(&(*site, *arg));
        let is_python = linker.program.language(site.file) == Language::Python;
        let waits = is_python && waits.contains(&(*site, *arg));
        for candidate in candidates.iter_mut() {
            let effect = candidate.label.effect;
            let is_besides = is_heavy && (effect == Effect::File || is_python && effect == Effect::Wait)
                || waits && effect == Effect::Network;
            if is_besides && candidate.label.severity == Severity::Warning {
                candidate.apply(ask, false);
            }
        }
    }
}

/// Lowers short holds that only add up in a loop, in a function that holds its thread for longer in the same way: the function moves to
/// another thread as a whole. Rust and Python.
pub(crate) fn lower_short_beside_longer(all: &mut Beside<'_, '_, '_>, ask: AskId) {
    let (linker, min_confidence) = (all.linker, all.min_confidence);
    let is_moved_whole = |candidate: &Candidate| linker.program.language(candidate.root.file) != Language::Java;
    let is_brief = |candidate: &Candidate| candidate.hold() == Hold::Brief;
    let longer: FxHashSet<(BodyRef, Effect)> = all
        .places
        .values()
        .flatten()
        .filter(|candidate| candidate.is_reported(min_confidence) && is_moved_whole(candidate) && !is_brief(candidate))
        .map(|candidate| (candidate.root, candidate.label.effect))
        .collect();
    if longer.is_empty() {
        return;
    }
    for candidate in all.places.values_mut().flatten() {
        let is_own = matches!(candidate.edge.next, EdgeTarget::Sink(_));
        if is_own && is_brief(candidate) && longer.contains(&(candidate.root, candidate.label.effect)) {
            candidate.apply(ask, false);
        }
    }
}

/// Merges the findings of several rules about one call, because one edit there mends all of them: the worst stays, and
/// the others become notes. The worst is the most severe; of equally severe ones the surest, then the one that holds
/// longest.
///
/// A call that fails on its thread is mended in another way and stays a finding of its own.
pub(crate) fn join_rules_of_one_call(all: &mut Beside<'_, '_, '_>, ask: AskId) {
    let min_confidence = all.min_confidence;
    let is_joined = |candidate: &Candidate| !candidate.label.fails && candidate.is_shown(min_confidence);
    let rank = |candidate: &Candidate| {
        let (rank, seconds) = candidate.hold().rank();
        (candidate.label.severity, candidate.confidence_with_length(), rank, seconds.to_bits())
    };
    let mut worst = FxHashMap::default();
    for (&(site, arg, rule), candidates) in all.places.iter() {
        let Some(own) = candidates.iter().filter(|of| is_joined(of)).map(rank).max() else { continue };
        let (most, count) = worst.entry((site, arg)).or_insert(((own, Reverse(rule)), 0));
        *most = (*most).max((own, Reverse(rule)));
        *count += 1;
    }
    let joined = &mut all.joined.of_one_call;
    for (&(site, arg, rule), candidates) in all.places.iter_mut() {
        let Some(&((_, Reverse(stays)), 2..)) = worst.get(&(site, arg)) else { continue };
        if rule == stays {
            continue;
        }
        for candidate in candidates.iter_mut().filter(|of| is_joined(of)) {
            joined.entry((site, arg, stays)).or_default().push((rule, candidate.edge));
            candidate.apply(ask, false);
        }
    }
    for others in joined.values_mut() {
        others.sort_by_key(|(rule, edge)| (*rule, edge.number()));
    }
}

/// Lowers calls that only the mapping or the report of a failure reaches: they are mended with the calls that reach the
/// same cause in the ordinary course of things, where there are such (Python).
pub(crate) fn lower_failing_besides(all: &mut Beside<'_, '_, '_>, ask: AskId) {
    let Beside { linker, callers, paths, min_confidence, .. } = *all;
    let may_be_lowered = |candidate: &Candidate| {
        let (language, effect) = (linker.program.language(candidate.root.file), candidate.label.effect);
        candidate.is_call() && language == Language::Python && matches!(effect, Effect::Network | Effect::File)
    };
    let follows_failure = |candidate: &Candidate| {
        may_be_lowered(candidate)
            && (paths.follow(candidate.edge).iter().any(|edge| is_after_failure(linker, edge.site))
                || runs_after_failure(linker, callers, candidate.root, 3))
    };
    let after: Vec<bool> = all
        .places
        .values()
        .flatten()
        .map(|candidate| candidate.label.severity > Severity::Note && follows_failure(candidate))
        .collect();
    if !after.contains(&true) {
        return;
    }
    let ordinary: FxHashSet<u32> = all
        .places
        .values()
        .flatten()
        .zip(&after)
        .filter(|&(candidate, after)| !after && candidate.is_shown(min_confidence))
        .filter_map(|(candidate, _)| candidate.sink(paths))
        .collect();
    for (candidate, _) in all.places.values_mut().flatten().zip(after).filter(|&(_, after)| after) {
        if candidate.sink(paths).is_some_and(|sink| ordinary.contains(&sink)) {
            candidate.apply(ask, false);
        }
    }
}
