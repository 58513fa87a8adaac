//! Reasons of a finding's severity and confidence: the signals that spoke of it, and the inferred steps of its path.

use blocklint_core::{Effect, Language, Severity};
use blocklint_flow::callers::Callers;
use blocklint_flow::graph::best_path::Paths;
use blocklint_flow::graph::raw_finding::{Doubt, Reason};
use blocklint_flow::graph::trace::place_of;
use blocklint_flow::graph::{EdgeTarget, Graph};
use blocklint_flow::judge::confidence::steps_of_length;
use blocklint_flow::judge::doubts::{doubt_about_root, doubts_on_way};
use blocklint_flow::judge::signal::{Judge, Signal, Traced, signal_named};
use blocklint_flow::judge::signals::{SIGNALS, named};
use blocklint_flow::lifecycle::first_time::first_time_of;
use blocklint_flow::lifecycle::first_time_java::runs_first_time;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};

use super::Candidate;

/// Returns the signals that speak of a candidate, each with the place where a reader sees it.
pub(super) fn reasons<'a>(
    linker: &Linker<'a>,
    graph: &Graph<'a>,
    judge: &Judge,
    callers: &Callers<'_, 'a>,
    paths: &Paths,
    best: &Candidate,
) -> Vec<Reason> {
    let ways = paths.follow(best.way);
    // Signals are asked about the severity that the row states, before any of them lowered it.
    let mut label = best.label.clone();
    if let Some(EdgeTarget::Leaf(leaf)) = ways.last().map(|way| way.next) {
        label.severity = graph.labels.get(graph.leaves[leaf as usize].label).severity;
    }
    let (root, kind) = (best.root, best.kind);
    let traced = Traced { linker, callers, graph, root, kind, label: &label, ways: &ways };
    let place = |site: SiteRef| (site.file, place_of(linker, site));
    let mut found: Vec<Reason> =
        judge.account(&traced).into_iter().map(|(signal, site)| reason(signal, site.map(place))).collect();
    let mut said: Vec<(&str, Option<SiteRef>)> = best.said.iter().map(|&name| (name, None)).collect();
    for way in ways.iter().filter(|_| best.label.severity == Severity::Note && !label.fails) {
        let is_cached =
            label.effect == Effect::File && linker.method_kind(linker.program.body_of_site(way.site)).cached;
        match runs_first_time(linker, way.site).or_else(|| first_time_of(linker, way.site)) {
            Some(first) if first.per_key => said.push((named::ONCE_PER_KEY, Some(way.site))),
            Some(_) if best.label.once => said.push((named::FIRST_TIME, Some(way.site))),
            _ if is_cached => said.push((named::CACHED, Some(way.site))),
            _ => {}
        }
    }
    if linker.program.language(root.file) == Language::Python {
        let doubts = |one: bool, far: bool| best.cost.doubts(one, far) > 0;
        said.extend(doubts(true, false).then_some((named::TWO_OF_ONE_KIND, None)));
        said.extend(doubts(false, true).then_some((named::LONG_WAY, None)));
    } else if steps_of_length(linker.program.language(root.file), best.cost.hops, best.cost.own) > 0 {
        said.push((named::LONG_WAY, None));
    }
    for (name, site) in said {
        if let Some(at) = signal_named(name)
            && judge.is_on(name)
        {
            found.push(reason(&SIGNALS[at], site.map(place)));
        }
    }
    found
}

/// Returns the inferred steps of a candidate; at least one where it is not sure and no signal says why.
pub(super) fn doubts(
    linker: &Linker<'_>,
    graph: &Graph<'_>,
    judge: &Judge,
    paths: &Paths,
    best: &Candidate,
) -> Vec<Doubt> {
    let mut found = doubts_on_way(linker, judge, graph, &paths.follow(best.way));
    found.extend(doubt_about_root(best.kind));
    if found.is_empty() && best.cost.steps > 0 {
        found.push(Doubt::Undecided(best.way.site));
    }
    found
}

fn reason(signal: &Signal, place: Option<(FileId, blocklint_core::Span)>) -> Reason {
    Reason { name: signal.name, says: signal.says, makes: signal.makes.words(), place }
}
