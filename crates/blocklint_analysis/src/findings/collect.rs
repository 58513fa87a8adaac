//! Candidates for findings: each hit of the search with its best path, grouped by the place at which its finding would
//! be reported.

use blocklint_core::{RuleCode, Span, rule_of};
use blocklint_facts::{BodyKind, SiteKind};
use blocklint_flow::graph::trace::place_of;
use blocklint_flow::graph::{EdgeTarget, FlowEdge, Hit};
use blocklint_flow::judge::candidate::{Candidate, CandidatesByPlace};
use blocklint_link::linker::Linker;
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use smallvec::SmallVec;

use super::SolvedGraph;

/// The most nested lambdas that are followed.
const MOST_LITERALS: usize = 8;

/// An edge at which a hit is reported, and the edges that lead to it from the root.
struct PlacedEdge {
    above: SmallVec<[FlowEdge; 1]>,
    edge: FlowEdge,
}

/// Returns the candidates of all hits by place. If a place has suppressed candidates and others, the suppressed ones
/// are dropped.
pub(super) fn collect_candidates(solved: &SolvedGraph<'_, '_>) -> CandidatesByPlace {
    let SolvedGraph { linker, graph, .. } = *solved;
    let mut places = CandidatesByPlace::default();
    for hit in &graph.hits {
        linker.check_cancelled();
        let Some(rule) = rule_of(hit.label.effect, hit.label.native, hit.entry_point.context) else { continue };
        let Some(_work) = linker.enter_unit(WorkUnit::Body(hit.root)) else { continue };
        let mut placed = Vec::new();
        place_hit(solved, hit.root, PlacedEdge { above: SmallVec::new(), edge: hit.edge }, &mut placed);
        for edge in placed {
            let arg = if hit.handed { edge.edge.arg } else { None };
            let site = edge.edge.site;
            if let Some(candidate) = candidate(solved, hit, edge, rule) {
                places.entry((site, arg, rule)).or_default().push(candidate);
            }
        }
    }
    for candidates in places.values_mut() {
        if candidates.iter().any(|candidate| candidate.suppression.is_none()) {
            candidates.retain(|candidate| candidate.suppression.is_none());
        }
    }
    places
}

/// Returns the candidate for a hit at one place. `None` if its path reaches no sink.
fn candidate(solved: &SolvedGraph<'_, '_>, hit: &Hit, placed: PlacedEdge, rule: RuleCode) -> Option<Candidate> {
    let SolvedGraph { linker, judge, graph, ref paths, .. } = *solved;
    let PlacedEdge { above, edge } = placed;
    let mut cost = paths.cost_from(linker, graph, &edge)?;
    // The call of the lambda may be inferred.
    if !above.is_empty() {
        cost.steps += u32::from(hit.edge.steps);
    }
    let (mut length_steps, mut applied) = (0, SmallVec::new());
    for doubt in judge.doubts_of_cost(linker.program.language(edge.site.file), &cost) {
        applied.push(doubt.question);
        if doubt.is_of_length { length_steps += doubt.steps } else { cost.steps += doubt.steps }
    }
    Some(Candidate {
        root: hit.root,
        entry_point: hit.entry_point,
        handed: hit.handed,
        label: hit.label.clone(),
        suppression: find_suppression(solved, hit, &edge, rule),
        edge,
        above,
        cost,
        length_steps,
        applied,
        aside: None,
    })
}

/// Returns `Some` if a comment suppresses a hit at its place, with the reason that the comment states, if it states
/// one.
fn find_suppression(
    solved: &SolvedGraph<'_, '_>,
    hit: &Hit,
    edge: &FlowEdge,
    rule: RuleCode,
) -> Option<Option<String>> {
    let SolvedGraph { linker, suppressions, .. } = *solved;
    let arg = if hit.handed { edge.arg } else { None };
    if hit.suppressed {
        // The comment may be at the call of a lambda, while the finding is inside the lambda.
        let place = span_of_finding(linker, hit.edge.site, arg).start;
        return Some(suppressions.find_suppression(linker.program, hit.edge.site, place, hit.root, rule).flatten());
    }
    let place = span_of_finding(linker, edge.site, arg).start;
    let body = linker.program.body_of_site(edge.site);
    suppressions.find_suppression(linker.program, edge.site, place, body, rule).or_else(|| {
        let is_direct = matches!(edge.next, EdgeTarget::Sink(_));
        is_direct.then(|| suppressions.find_alias_suppression(edge.site.file, place, rule)).flatten()
    })
}

/// Adds the edges at which a hit is reported: that of the hit, or if it calls a lambda of the root, the edges in the
/// lambda.
fn place_hit(solved: &SolvedGraph<'_, '_>, root: BodyRef, placed: PlacedEdge, edges: &mut Vec<PlacedEdge>) {
    let SolvedGraph { linker, graph, .. } = *solved;
    if placed.above.len() <= MOST_LITERALS
        && let EdgeTarget::LabelledBody(labelled_body) = placed.edge.next
    {
        let labelled_body = graph.labelled_body(labelled_body);
        let body = labelled_body.node.body;
        let is_literal = matches!(linker.program.body(body).kind, BodyKind::Lambda | BodyKind::GeneratorExpression);
        if is_literal && body.file == root.file && is_enclosed(linker, root, body) {
            for &edge in &labelled_body.edges {
                let mut above = placed.above.clone();
                above.push(placed.edge);
                place_hit(solved, root, PlacedEdge { above, edge }, edges);
            }
            return;
        }
    }
    edges.push(placed);
}

/// True if `inner` is defined inside of `outer`.
fn is_enclosed(linker: &Linker<'_>, outer: BodyRef, inner: BodyRef) -> bool {
    let facts = linker.program.facts(inner.file);
    let mut ancestor = linker.program.body(inner).parent;
    while let Some(id) = ancestor.get() {
        if inner.file.body_ref(id) == outer {
            return true;
        }
        ancestor = facts.body(id).parent;
    }
    false
}

/// Returns the span that a finding reports: a call, or the callable that it hands over.
pub(super) fn span_of_finding(linker: &Linker<'_>, site: SiteRef, handed: Option<u32>) -> Span {
    let site_facts = linker.program.site(site);
    match handed {
        Some(arg) if site_facts.kind != SiteKind::Decorate => {
            linker.program.args_of(site).get(arg as usize).map_or(site_facts.span, |arg| arg.span)
        }
        _ => place_of(linker, site),
    }
}
