//! Grouping of candidates: the candidates of one place and rule become one finding, with the best path, severity,
//! confidence and causes.

use std::cmp::Reverse;

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Hold, Mistake, Severity};
use blocklint_flow::entries::root::threads_of;
use blocklint_flow::graph::all_paths::PathNetwork;
use blocklint_flow::graph::raw_finding::RawStep;
use blocklint_flow::graph::trace::{place_of, trace_step};
use blocklint_flow::graph::{EdgeTarget, FlowEdge, SinkSite};
use blocklint_flow::judge::beside::Joined;
use blocklint_flow::judge::candidate::{Candidate, CandidatesByPlace, FindingPlace};
use blocklint_flow::search::locks::function_holding;
use blocklint_link::linker::Linker;
use blocklint_link::models::row_match::fails;
use blocklint_link::program::ids::SiteRef;
use blocklint_mending::{Chains, RowAdvice, async_twins, row_advice};
use blocklint_models::Thread;

use super::collect::span_of_finding;
use super::partly_silenced::find_partly_suppressed;
use super::reasons::{doubts_about, signal_reasons};
use super::{SolvedGraph, is_repeated};
use crate::rules::unbounded_offload::Offloads;

/// Returns one finding for each place and rule.
pub(super) fn group_candidates(
    solved: &SolvedGraph<'_, '_>,
    places: CandidatesByPlace,
    joined: &Joined,
    offloads: &mut Offloads<'_, '_, '_>,
    mut path_network: Option<&mut PathNetwork>,
) -> Vec<RawFinding> {
    let SolvedGraph { linker, suppressions, graph, options, .. } = *solved;
    let mut chains = Chains::default();
    let places = places.into_iter().filter(|((site, ..), _)| linker.is_reported(site.file));
    let findings = places.filter_map(|(place, candidates)| {
        let (site, _, rule) = place;
        let _work = linker.enter_unit_of_site(site)?;
        let (mut finding, best) = finding(solved, place, &candidates);
        if !best.handed {
            finding.row_advice.chain = chains.of(linker, graph, &best.edge, best.entry_point.runtime);
        }
        add_joined_causes(solved, &mut finding, joined, place);
        finding.row_advice.unbounded_spawn = offloads.find_offload_after_handover(finding.site);
        if finding.suppressed.is_none() {
            let edges = candidates.iter().map(|candidate| &candidate.edge);
            finding.partly_suppressed = find_partly_suppressed(linker, suppressions, graph, rule, edges);
        }
        if options.records_reasons {
            finding.reasons = signal_reasons(solved, best);
            finding.doubts = doubts_about(solved, best);
        }
        if let Some(network) = path_network.as_deref_mut() {
            add_to_network(solved, network, &finding, &candidates, best, joined.paths_of(place));
        }
        Some(finding)
    });
    findings.collect()
}

/// Adds the causes of candidates that were joined to this finding.
fn add_joined_causes(solved: &SolvedGraph<'_, '_>, finding: &mut RawFinding, joined: &Joined, place: FindingPlace) {
    for edge in joined.uses_of_file.get(&place).into_iter().flatten() {
        for &cause in solved.causes.reached_by(edge) {
            if !finding.causes.contains(&cause) {
                finding.causes.push(cause);
            }
        }
    }
    for (rule, edge) in joined.of_one_call.get(&place).into_iter().flatten() {
        for &cause in solved.causes.reached_by(edge) {
            if !finding.causes.contains(&cause) {
                finding.causes.push(cause);
                finding.also.push((*rule, cause));
            }
        }
    }
}

/// Adds all paths of a finding to the network of paths, because the finding is mended only when all of them end.
fn add_to_network(
    solved: &SolvedGraph<'_, '_>,
    network: &mut PathNetwork,
    finding: &RawFinding,
    candidates: &[Candidate],
    best: &Candidate,
    joined: impl Iterator<Item = FlowEdge>,
) {
    let least = finding.severity.min(Severity::Warning);
    let is_reported = |candidate: &&Candidate| {
        candidate.suppression.is_none()
            && candidate.label.severity >= least
            && candidate.confidence() >= solved.options.min_confidence
    };
    let edges = candidates.iter().filter(is_reported).map(|candidate| candidate.edge);
    let mut start_nodes: Vec<u32> = edges
        .chain([best.edge])
        .chain(joined)
        .map(|edge| network.add_paths(solved.graph, &solved.causes, &edge))
        .collect();
    start_nodes.sort_unstable();
    start_nodes.dedup();
    network.start_nodes.insert((finding.file, finding.span, finding.rule), start_nodes);
}

/// Returns the severity, the candidate whose path is shown, and the hold of a finding. Only candidates with enough
/// confidence count, if there are any. The shown candidate has the highest confidence, then the longest hold, so that
/// the path and the time belong to one call.
fn choose_best(candidates: &[Candidate], min_confidence: Confidence) -> (Severity, &Candidate, Hold) {
    let is_certain = |candidate: &&Candidate| candidate.confidence_with_length() >= min_confidence;
    let severity = |candidate: &Candidate| candidate.label.severity;
    let certain_severity = candidates.iter().filter(is_certain).map(severity).max();
    let severity = certain_severity.or_else(|| candidates.iter().map(severity).max()).unwrap_or(Severity::Note);
    let worst = || {
        let is_worst = |c: &&Candidate| c.label.severity == severity && (certain_severity.is_none() || is_certain(c));
        candidates.iter().filter(is_worst)
    };
    let key = |c: &&Candidate| {
        let (rank, seconds) = c.hold().rank();
        let longest_first = (Reverse(rank), Reverse(seconds.to_bits()));
        (
            Reverse(c.confidence_with_length()),
            c.cost.ends_at_dir_entry,
            longest_first,
            c.cost,
            c.edge.arg,
            c.edge.target_key(),
        )
    };
    // At least one candidate has this severity.
    let best = worst().min_by_key(key).unwrap_or(&candidates[0]);
    let hold = worst().map(Candidate::hold).fold(Hold::Unstated, Hold::longest);
    (severity, best, hold)
}

/// Returns the causes of all candidates of a place, the cause of the shown path first.
fn causes_of(solved: &SolvedGraph<'_, '_>, candidates: &[Candidate], edges: &[FlowEdge]) -> Vec<u32> {
    let causes = &solved.causes;
    let mut sets: Vec<((bool, u32), &FlowEdge)> =
        candidates.iter().map(|c| (causes.set_key(&c.edge), &c.edge)).collect();
    sets.sort_unstable_by_key(|(number, _)| *number);
    sets.dedup_by_key(|(number, _)| *number);
    let mut all: Vec<u32> = sets.iter().flat_map(|(_, edge)| causes.reached_by(edge).iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    if let Some(EdgeTarget::Sink(sink)) = edges.last().map(|edge| edge.next) {
        let shown_cause = causes.cause_of_sink[sink as usize];
        all.retain(|&cause| cause != shown_cause);
        all.insert(0, shown_cause);
    }
    all
}

/// Returns the finding for the candidates of a place, and the candidate whose path it shows.
fn finding<'c>(
    solved: &SolvedGraph<'_, '_>,
    (site, arg, rule): FindingPlace,
    candidates: &'c [Candidate],
) -> (RawFinding, &'c Candidate) {
    let SolvedGraph { linker, graph, ref paths, options, .. } = *solved;
    let (severity, best, hold) = choose_best(candidates, options.min_confidence);
    let edges = paths.best_path(best.edge);
    let trace: Vec<RawStep> = edges
        .iter()
        .map(|edge| trace_step(linker, graph, edge, edge.arg.filter(|_| best.handed && *edge == best.edge)))
        .collect();
    let sink: Option<&SinkSite<'_>> = edges.last().and_then(|edge| match edge.next {
        EdgeTarget::Sink(sink) => Some(&graph.sinks[sink as usize]),
        EdgeTarget::LabelledBody(_) => None,
    });
    let causes = causes_of(solved, candidates, &edges);
    let language = linker.program.language(site.file);
    let twins = sink.map_or_else(Vec::new, |sink| async_twins(linker, sink, best.entry_point.runtime, language));
    let finding = RawFinding {
        rule,
        severity,
        confidence: best.confidence_with_length(),
        mistake: Mistake::BlockingCall,
        effect: Some(best.label.effect),
        weight: sink.and_then(|sink| linker.library.severities().weight(sink.row.row)),
        context: Some(best.entry_point.context),
        runtime: threads_of(linker, site.file, best.entry_point.runtime),
        root: best.root,
        root_kind: Some(best.entry_point.kind),
        handed: best.handed,
        hold,
        fails: sink.filter(|_| best.label.fails).and_then(|sink| fails(sink.row.row)),
        file: site.file,
        span: span_of_finding(linker, site, arg),
        site,
        callee: trace.first().map_or_else(String::new, |step| step.call.clone()),
        trace,
        causes,
        also: Vec::new(),
        call: sink.map_or_else(String::new, |sink| linker.library.text(sink.path).to_string()),
        repeats: edges.iter().any(|edge| is_repeated(linker, edge.site)),
        held_by: sink.and_then(|sink| sink.held_by).map(|holding| lock_holder_step(linker, holding)),
        note: sink.and_then(|sink| sink.row.note.clone()),
        row_advice: sink
            .map_or_else(RowAdvice::default, |sink| row_advice(linker, sink, best.entry_point.runtime, site, &twins)),
        twins,
        holds_gil: sink.is_some_and(|sink| sink.row.thread == Some(Thread::HoldsGil)),
        occurrence: 0,
        suppressed: best.suppression.clone(),
        reasons: Vec::new(),
        reached_by: Vec::new(),
        partly_suppressed: Vec::new(),
        doubts: Vec::new(),
        aside: best.aside,
    };
    (finding, best)
}

/// Returns a trace step for the long call during which other code holds a lock.
fn lock_holder_step(linker: &Linker<'_>, holding: SiteRef) -> RawStep {
    let written = linker.written_site(holding);
    RawStep {
        file: holding.file,
        span: place_of(linker, holding),
        function: linker.qualified_name(function_holding(linker, holding)),
        call: written.clone(),
        written,
    }
}
