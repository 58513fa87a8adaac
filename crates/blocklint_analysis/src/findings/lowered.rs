//! Findings that say less beside others: they are notes where those are shown.

use std::cmp::Reverse;

use blocklint_core::{Confidence, Effect, Hold, Language, RuleCode, Severity};
use blocklint_flow::callers::Callers;
use blocklint_flow::graph::best_path::Paths;
use blocklint_flow::graph::{EdgeTarget, FlowEdge};
use blocklint_flow::judge::after_failure::{is_after_failure, runs_after_failure};
use blocklint_flow::judge::confidence::{confidence_of, steps_of_length};
use blocklint_flow::judge::signals::named;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Candidate, Place, hold_of, leaf_of, way_number};

/// A call that one rule calls an error is mended for that; that what it runs reads a file besides is a note, and in Python that it
/// waits a while. Where it waits for an answer, that it sends a message is one, too.
pub(super) fn lower_what_is_said_already(
    linker: &Linker<'_>,
    places: &mut FxHashMap<Place, Vec<Candidate>>,
    min_confidence: Confidence,
) {
    // Behind which calls there is such a candidate.
    let calls_with = |is_meant: &dyn Fn(&Candidate) -> bool| -> FxHashSet<(SiteRef, Option<u32>)> {
        let is_call = |candidate: &Candidate| matches!(candidate.way.next, EdgeTarget::LabelledBody(_));
        let shown = |candidate: &Candidate| is_call(candidate) && candidate.is_reported(min_confidence);
        let with =
            places.iter().filter(|(_, list)| list.iter().any(|candidate| shown(candidate) && is_meant(candidate)));
        with.map(|(&(site, arg, _), _)| (site, arg)).collect()
    };
    let heavy = calls_with(&|candidate| candidate.label.severity == Severity::Error);
    let waits = calls_with(&|candidate| candidate.label.effect == Effect::Wait);
    for ((site, arg, _), candidates) in places {
        let is_heavy = heavy.contains(&(*site, *arg));
        let is_python = linker.program.language(site.file) == Language::Python;
        let waits = is_python && waits.contains(&(*site, *arg));
        for candidate in candidates.iter_mut() {
            let effect = candidate.label.effect;
            let is_besides = is_heavy && (effect == Effect::File || is_python && effect == Effect::Wait)
                || waits && effect == Effect::Network;
            if is_besides && candidate.label.severity == Severity::Warning {
                candidate.make_note(named::SAID_ALREADY);
            }
        }
    }
}

/// Rust and Python: what is short and only adds up, in a loop of a function that holds its thread for longer in the same way, is
/// mended with that: the function moves to another thread as a whole.
pub(super) fn lower_what_is_short_beside_longer(
    linker: &Linker<'_>,
    places: &mut FxHashMap<Place, Vec<Candidate>>,
    min_confidence: Confidence,
) {
    let is_moved_whole = |candidate: &Candidate| linker.program.language(candidate.root.file) != Language::Java;
    let is_brief = |candidate: &Candidate| hold_of(&candidate.label) == Hold::Brief;
    let longer: FxHashSet<(BodyRef, Effect)> = places
        .values()
        .flatten()
        .filter(|candidate| candidate.is_reported(min_confidence) && is_moved_whole(candidate) && !is_brief(candidate))
        .map(|candidate| (candidate.root, candidate.label.effect))
        .collect();
    if longer.is_empty() {
        return;
    }
    for candidate in places.values_mut().flatten() {
        let is_own = matches!(candidate.way.next, EdgeTarget::Leaf(_));
        if is_own && is_brief(candidate) && longer.contains(&(candidate.root, candidate.label.effect)) {
            candidate.make_note(named::SHORT_BESIDE_LONGER);
        }
    }
}

/// True if a candidate is shown by default, also with the doubts that the length of its path adds.
fn is_shown(linker: &Linker<'_>, candidate: &Candidate, min_confidence: Confidence) -> bool {
    candidate.is_reported(min_confidence) && confidence_with_length(linker, candidate) >= min_confidence
}

/// Returns the confidence of a candidate with the doubts that the length of its path adds.
fn confidence_with_length(linker: &Linker<'_>, candidate: &Candidate) -> Confidence {
    let language = linker.program.language(candidate.root.file);
    let far = steps_of_length(language, candidate.cost.hops, candidate.cost.own);
    confidence_of(candidate.cost.steps + far).min(candidate.kind.confidence())
}

/// Makes one finding of several rules that speak of one call, because one edit there mends all of them: the worst stays, and the
/// others become notes. The worst is the most severe; of equally severe ones the surest, then the one that holds longest.
/// Returns, for each place that stays, the rules and paths of the others.
///
/// A call that fails on its thread is mended in another way and stays a finding of its own.
pub(super) fn join_rules_of_one_call(
    linker: &Linker<'_>,
    places: &mut FxHashMap<Place, Vec<Candidate>>,
    min_confidence: Confidence,
) -> FxHashMap<Place, Vec<(RuleCode, FlowEdge)>> {
    let is_joined = |candidate: &Candidate| !candidate.label.fails && is_shown(linker, candidate, min_confidence);
    let rank = |candidate: &Candidate| {
        let (rank, seconds) = hold_of(&candidate.label).rank();
        (candidate.label.severity, confidence_with_length(linker, candidate), rank, seconds.to_bits())
    };
    let mut worst = FxHashMap::default();
    for (&(site, arg, rule), candidates) in places.iter() {
        let Some(own) = candidates.iter().filter(|of| is_joined(of)).map(rank).max() else { continue };
        let (most, count) = worst.entry((site, arg)).or_insert(((own, Reverse(rule)), 0));
        *most = (*most).max((own, Reverse(rule)));
        *count += 1;
    }
    let mut joined: FxHashMap<Place, Vec<(RuleCode, FlowEdge)>> = FxHashMap::default();
    for (&(site, arg, rule), candidates) in places.iter_mut() {
        let Some(&((_, Reverse(stays)), 2..)) = worst.get(&(site, arg)) else { continue };
        if rule == stays {
            continue;
        }
        for candidate in candidates.iter_mut().filter(|of| is_joined(of)) {
            joined.entry((site, arg, stays)).or_default().push((rule, candidate.way));
            candidate.make_note(named::SAID_ALREADY);
        }
    }
    for others in joined.values_mut() {
        others.sort_by_key(|(rule, way)| (*rule, way_number(way)));
    }
    joined
}

/// Python: what only the mapping or the report of a failure reaches is mended with the calls that reach it in the ordinary course
/// of things, where there are such.
pub(super) fn lower_what_fails_besides(
    linker: &Linker<'_>,
    callers: &Callers<'_, '_>,
    paths: &Paths,
    places: &mut FxHashMap<Place, Vec<Candidate>>,
    min_confidence: Confidence,
) {
    let is_reported = |candidate: &Candidate| is_shown(linker, candidate, min_confidence);
    let may_be_lowered = |candidate: &Candidate| {
        let is_call = matches!(candidate.way.next, EdgeTarget::LabelledBody(_));
        let (language, effect) = (linker.program.language(candidate.root.file), candidate.label.effect);
        is_call && language == Language::Python && matches!(effect, Effect::Network | Effect::File)
    };
    let follows_failure = |candidate: &Candidate| {
        may_be_lowered(candidate)
            && (paths.follow(candidate.way).iter().any(|way| is_after_failure(linker, way.site))
                || runs_after_failure(linker, callers, candidate.root, 3))
    };
    let after: Vec<bool> = places
        .values()
        .flatten()
        .map(|candidate| candidate.label.severity > Severity::Note && follows_failure(candidate))
        .collect();
    if !after.contains(&true) {
        return;
    }
    let ordinary: FxHashSet<u32> = places
        .values()
        .flatten()
        .zip(&after)
        .filter(|&(candidate, after)| !after && is_reported(candidate))
        .filter_map(|(candidate, _)| leaf_of(paths, candidate))
        .collect();
    for (candidate, _) in places.values_mut().flatten().zip(after).filter(|&(_, after)| after) {
        if leaf_of(paths, candidate).is_some_and(|leaf| ordinary.contains(&leaf)) {
            candidate.make_note(named::FAILS_BESIDES);
        }
    }
}
