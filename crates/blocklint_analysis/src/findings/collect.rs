//! Collects candidates: each hit of the search with its best path, by the place at which a finding would stand.

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

/// How deep nested literals are followed.
const MOST_LITERALS: usize = 8;

/// An edge at which a hit is placed, and the edges that lead to it from the root.
struct PlacedEdge {
    above: SmallVec<[FlowEdge; 1]>,
    edge: FlowEdge,
}

/// Returns the candidates of all hits by place. A place that is silenced for some and reported for others is reported.
pub(super) fn collect(solved: &SolvedGraph<'_, '_>) -> CandidatesByPlace {
    let SolvedGraph { linker, graph, .. } = *solved;
    let mut places = CandidatesByPlace::default();
    for hit in &graph.hits {
        linker.check_cancelled();
        let Some(rule) = rule_of(hit.label.effect, hit.label.native, hit.kind.context) else { continue };
        let Some(_guard) = linker.enter_unit(WorkUnit::Body(hit.root)) else { continue };
        let mut placed = Vec::new();
        place_hit(solved, hit.root, PlacedEdge { above: SmallVec::new(), edge: hit.edge }, &mut placed);
        for at in placed {
            let arg = if hit.handed { at.edge.arg } else { None };
            let site = at.edge.site;
            if let Some(candidate) = candidate(solved, hit, at, rule) {
                places.entry((site, arg, rule)).or_default().push(candidate);
            }
        }
    }
    for candidates in places.values_mut() {
        if candidates.iter().any(|candidate| candidate.silenced.is_none()) {
            candidates.retain(|candidate| candidate.silenced.is_none());
        }
    }
    places
}

/// Returns a hit as a candidate at one place, unless its path has no end.
fn candidate(solved: &SolvedGraph<'_, '_>, hit: &Hit, placed: PlacedEdge, rule: RuleCode) -> Option<Candidate> {
    let SolvedGraph { linker, judge, graph, ref paths, .. } = *solved;
    let PlacedEdge { above, edge } = placed;
    let mut cost = paths.cost(linker, graph, &edge)?;
    // That the literal runs there may be inferred.
    if !above.is_empty() {
        cost.steps += u32::from(hit.edge.steps);
    }
    let (mut length_steps, mut applied) = (0, SmallVec::new());
    for doubt in judge.of_cost(linker.program.language(edge.site.file), &cost) {
        applied.push(doubt.ask);
        match doubt.is_of_length {
            true => length_steps += doubt.steps,
            false => cost.steps += doubt.steps,
        }
    }
    Some(Candidate {
        root: hit.root,
        kind: hit.kind,
        handed: hit.handed,
        label: hit.label.clone(),
        silenced: silenced(solved, hit, &edge, rule),
        edge,
        above,
        cost,
        length_steps,
        applied,
        aside: None,
    })
}

/// Returns the reason of the comment that silences a hit at its place, if one does.
fn silenced(solved: &SolvedGraph<'_, '_>, hit: &Hit, edge: &FlowEdge, rule: RuleCode) -> Option<Option<String>> {
    let SolvedGraph { linker, suppressions, .. } = *solved;
    let arg = if hit.handed { edge.arg } else { None };
    if hit.cut {
        // The comment may stand where a literal is called, and the finding inside of it.
        let place = place_of_finding(linker, hit.edge.site, arg).start;
        return Some(suppressions.hides(linker.program, hit.edge.site, place, hit.root, rule).flatten());
    }
    let place = place_of_finding(linker, edge.site, arg).start;
    let body = linker.program.body_of_site(edge.site);
    suppressions.hides(linker.program, edge.site, place, body, rule).or_else(|| {
        let is_direct = matches!(edge.next, EdgeTarget::Sink(_));
        is_direct.then(|| suppressions.hides_direct(edge.site.file, place, rule)).flatten()
    })
}

/// Adds the edges at which a hit is placed: a literal that the root runs in place belongs to the root.
fn place_hit(solved: &SolvedGraph<'_, '_>, root: BodyRef, at: PlacedEdge, found: &mut Vec<PlacedEdge>) {
    let SolvedGraph { linker, graph, .. } = *solved;
    if at.above.len() <= MOST_LITERALS
        && let EdgeTarget::LabelledBody(labelled_body) = at.edge.next
    {
        let labelled_body = graph.labelled_body(labelled_body);
        let body = labelled_body.node.body;
        let is_literal = matches!(linker.program.body(body).kind, BodyKind::Lambda | BodyKind::GeneratorExpression);
        if is_literal && body.file == root.file && encloses(linker, root, body) {
            for &edge in &labelled_body.edges {
                let mut above = at.above.clone();
                above.push(at.edge);
                place_hit(solved, root, PlacedEdge { above, edge }, found);
            }
            return;
        }
    }
    found.push(at);
}

fn encloses(linker: &Linker<'_>, outer: BodyRef, inner: BodyRef) -> bool {
    let facts = linker.program.facts(inner.file);
    let mut at = linker.program.body(inner).parent;
    while let Some(id) = at.get() {
        if inner.file.body_ref(id) == outer {
            return true;
        }
        at = facts.body(id).parent;
    }
    false
}

/// Returns the text that a finding points at: a call, or the callable that it hands over.
pub(super) fn place_of_finding(linker: &Linker<'_>, site: SiteRef, handed: Option<u32>) -> Span {
    let row = linker.program.site(site);
    match handed {
        Some(arg) if row.kind != SiteKind::Decorate => {
            linker.program.args_of(site).get(arg as usize).map_or(row.span, |arg| arg.span)
        }
        _ => place_of(linker, site),
    }
}
