//! Groups candidates: those of one place and rule become one finding, with the best path, severity, confidence and causes.

use std::cmp::Reverse;

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Hold, Mistake, Severity};
use blocklint_flow::entries::root::threads_of;
use blocklint_flow::graph::all_paths::PathNetwork;
use blocklint_flow::graph::raw_finding::RawStep;
use blocklint_flow::graph::trace::{place_of, step};
use blocklint_flow::graph::{EdgeTarget, FlowEdge, SinkSite};
use blocklint_flow::judge::beside::Joined;
use blocklint_flow::judge::candidate::{Candidate, CandidatesByPlace, FindingPlace};
use blocklint_flow::search::locks::function_holding;
use blocklint_link::linker::Linker;
use blocklint_link::models::row_match::fails;
use blocklint_link::program::ids::SiteRef;
use blocklint_mending::{Chains, RowAdvice, row_advice, twins};
use blocklint_models::Thread;

use super::collect::place_of_finding;
use super::partly_silenced::partly_silenced;
use super::reasons::{doubts, reasons};
use super::{SolvedGraph, is_repeated};
use crate::rules::unbounded_offload::Offloads;

/// Returns one finding for each place and rule.
pub(super) fn group(
    solved: &SolvedGraph<'_, '_>,
    places: CandidatesByPlace,
    joined: &Joined,
    offloads: &mut Offloads<'_, '_, '_>,
    mut net: Option<&mut PathNetwork>,
) -> Vec<RawFinding> {
    let SolvedGraph { linker, suppressions, graph, options, .. } = *solved;
    let mut chains = Chains::default();
    let places = places.into_iter().filter(|((site, ..), _)| linker.is_reported(site.file));
    let found = places.filter_map(|(place, candidates)| {
        let (site, _, rule) = place;
        let _at_hand = linker.take_up_site(site)?;
        let (mut finding, best) = finding(solved, place, &candidates);
        if !best.handed {
            finding.row_advice.chain = chains.of(linker, graph, &best.edge, best.kind.runtime);
        }
        add_joined_causes(solved, &mut finding, joined, place);
        finding.row_advice.unbounded_spawn = offloads.if_handed_over(finding.site);
        if finding.suppressed.is_none() {
            let edges = candidates.iter().map(|candidate| &candidate.edge);
            finding.partly_silenced = partly_silenced(linker, suppressions, graph, rule, edges);
        }
        if options.account {
            finding.reasons = reasons(solved, best);
            finding.doubts = doubts(solved, best);
        }
        if let Some(net) = net.as_deref_mut() {
            add_to_network(solved, net, &finding, &candidates, best, joined.paths_of(place));
        }
        Some(finding)
    });
    found.collect()
}

/// Adds the causes of findings that this one describes.
fn add_joined_causes(solved: &SolvedGraph<'_, '_>, finding: &mut RawFinding, joined: &Joined, place: FindingPlace) {
    for edge in joined.uses_of_file.get(&place).into_iter().flatten() {
        for &cause in solved.causes.behind(edge) {
            if !finding.causes.contains(&cause) {
                finding.causes.push(cause);
            }
        }
    }
    for (rule, edge) in joined.of_one_call.get(&place).into_iter().flatten() {
        for &cause in solved.causes.behind(edge) {
            if !finding.causes.contains(&cause) {
                finding.causes.push(cause);
                finding.also.push((*rule, cause));
            }
        }
    }
}

/// Adds all paths of a finding to the network of paths: the finding is there as long as one of them is.
fn add_to_network(
    solved: &SolvedGraph<'_, '_>,
    net: &mut PathNetwork,
    finding: &RawFinding,
    candidates: &[Candidate],
    best: &Candidate,
    joined: impl Iterator<Item = FlowEdge>,
) {
    let least = finding.severity.min(Severity::Warning);
    let counts = |c: &&Candidate| {
        c.silenced.is_none() && c.label.severity >= least && c.confidence() >= solved.options.min_confidence
    };
    let edges = candidates.iter().filter(counts).map(|candidate| candidate.edge);
    let mut begins: Vec<u32> =
        edges.chain([best.edge]).chain(joined).map(|edge| net.take(solved.graph, &solved.causes, &edge)).collect();
    begins.sort_unstable();
    begins.dedup();
    net.begins.insert((finding.file, finding.span, finding.rule), begins);
}

/// Returns the severity of the surest candidates, and the one of them to show: the surest, and of equally sure ones the one that holds
/// longest, so that path and time are of one call.
fn best_of(candidates: &[Candidate], min_confidence: Confidence) -> (Severity, &Candidate, Hold) {
    let sure = |candidate: &&Candidate| candidate.confidence_with_length() >= min_confidence;
    let severity = |candidate: &Candidate| candidate.label.severity;
    let of_sure = candidates.iter().filter(sure).map(severity).max();
    let severity = of_sure.or_else(|| candidates.iter().map(severity).max()).unwrap_or(Severity::Note);
    let of_severity = || candidates.iter().filter(|c| c.label.severity == severity && (of_sure.is_none() || sure(c)));
    let key = |c: &&Candidate| {
        let (rank, seconds) = c.hold().rank();
        let longest_first = (Reverse(rank), Reverse(seconds.to_bits()));
        (Reverse(c.confidence_with_length()), c.cost.ends_at_entry, longest_first, c.cost, c.edge.arg, c.edge.number())
    };
    // There is a candidate of that severity: it was taken from one.
    let best = of_severity().min_by_key(key).unwrap_or(&candidates[0]);
    let hold = of_severity().map(Candidate::hold).fold(Hold::Unstated, Hold::longest);
    (severity, best, hold)
}

/// Returns the causes behind all candidates of a place, that of the shown path first.
fn causes_of(solved: &SolvedGraph<'_, '_>, candidates: &[Candidate], edges: &[FlowEdge]) -> Vec<u32> {
    let causes = &solved.causes;
    let mut sets: Vec<((bool, u32), &FlowEdge)> =
        candidates.iter().map(|c| (causes.number(&c.edge), &c.edge)).collect();
    sets.sort_unstable_by_key(|(number, _)| *number);
    sets.dedup_by_key(|(number, _)| *number);
    let mut behind: Vec<u32> = sets.iter().flat_map(|(_, edge)| causes.behind(edge).iter().copied()).collect();
    behind.sort_unstable();
    behind.dedup();
    if let Some(EdgeTarget::Sink(sink)) = edges.last().map(|edge| edge.next) {
        let first = causes.of_sink[sink as usize];
        behind.retain(|&cause| cause != first);
        behind.insert(0, first);
    }
    behind
}

/// Returns the finding at a place, and the candidate whose path it shows.
fn finding<'c>(
    solved: &SolvedGraph<'_, '_>,
    (site, arg, rule): FindingPlace,
    candidates: &'c [Candidate],
) -> (RawFinding, &'c Candidate) {
    let SolvedGraph { linker, graph, ref paths, options, .. } = *solved;
    let (severity, best, hold) = best_of(candidates, options.min_confidence);
    let edges = paths.follow(best.edge);
    let trace: Vec<RawStep> = edges
        .iter()
        .map(|edge| step(linker, graph, edge, edge.arg.filter(|_| best.handed && *edge == best.edge)))
        .collect();
    let sink: Option<&SinkSite<'_>> = edges.last().and_then(|edge| match edge.next {
        EdgeTarget::Sink(sink) => Some(&graph.sinks[sink as usize]),
        EdgeTarget::LabelledBody(_) => None,
    });
    let causes = causes_of(solved, candidates, &edges);
    let language = linker.program.language(site.file);
    let twins = sink.map_or_else(Vec::new, |sink| twins(linker, sink, best.kind.runtime, language));
    let found = RawFinding {
        rule,
        severity,
        confidence: best.confidence_with_length(),
        mistake: Mistake::Holds,
        effect: Some(best.label.effect),
        weight: sink.and_then(|sink| linker.library.severities().weight(sink.row.row)),
        context: Some(best.kind.context),
        runtime: threads_of(linker, site.file, best.kind.runtime),
        root: best.root,
        root_kind: Some(best.kind.kind),
        handed: best.handed,
        hold,
        fails: sink.filter(|_| best.label.fails).and_then(|sink| fails(sink.row.row)),
        file: site.file,
        span: place_of_finding(linker, site, arg),
        site,
        callee: trace.first().map_or_else(String::new, |step| step.call.clone()),
        trace,
        causes,
        also: Vec::new(),
        call: sink.map_or_else(String::new, |sink| linker.library.text(sink.path).to_string()),
        repeats: edges.iter().any(|edge| is_repeated(linker, edge.site)),
        held_by: sink.and_then(|sink| sink.held_by).map(|holding| holding_step(linker, holding)),
        note: sink.and_then(|sink| sink.row.note.clone()),
        row_advice: sink
            .map_or_else(RowAdvice::default, |sink| row_advice(linker, sink, best.kind.runtime, site, &twins)),
        twins,
        holds_gil: sink.is_some_and(|sink| sink.row.thread == Some(Thread::HoldsGil)),
        occurrence: 0,
        suppressed: best.silenced.clone(),
        reasons: Vec::new(),
        reached_by: Vec::new(),
        partly_silenced: Vec::new(),
        doubts: Vec::new(),
        aside: best.aside,
    };
    (found, best)
}

/// Returns the long call over which a lock is held elsewhere, as a step.
fn holding_step(linker: &Linker<'_>, holding: SiteRef) -> RawStep {
    let written = linker.written_site(holding);
    RawStep {
        file: holding.file,
        span: place_of(linker, holding),
        function: linker.qualified_name(function_holding(linker, holding)),
        call: written.clone(),
        written,
    }
}
