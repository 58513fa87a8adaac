//! The inferred steps of a path one by one, for `blocklint why`. Steps that signals add are not listed here: they are
//! reported with the signals.

use blocklint_core::Confidence;
use blocklint_link::linker::Linker;
use blocklint_link::program::occurrences::is_field_of_receiver;
use blocklint_link::values::value::EnvId;

use crate::entries::root::Root;
use crate::graph::best_path::{choice_of, edge_steps};
use crate::graph::raw_finding::Doubt;
use crate::graph::{FlowEdge, Graph};
use crate::judge::Judge;
use crate::judge::climbing::SiteSignals;

/// Returns the inferred steps of a path to a call that blocks.
pub fn doubts_on_path(linker: &Linker<'_>, judge: &Judge, graph: &Graph<'_>, path: &[FlowEdge]) -> Vec<Doubt> {
    let mut found: Vec<Doubt> = Vec::new();
    for edge in path {
        let own = u32::from(edge.steps);
        if edge_steps(linker, graph, edge) > own {
            found.extend(choice_of(linker, graph, edge).map(Doubt::Choice));
        }
        if own > 0 {
            doubts_at_site(linker, judge, edge, own, &mut found);
        }
    }
    found
}

/// Returns the doubt that a body must not block, if its kind leaves one.
pub fn doubt_about_root(root: Root) -> Option<Doubt> {
    (root.confidence() < Confidence::High).then_some(Doubt::Root(root.kind))
}

/// Adds the steps that one call adds by itself.
fn doubts_at_site(linker: &Linker<'_>, judge: &Judge, edge: &FlowEdge, steps: u32, found: &mut Vec<Doubt>) {
    let site = edge.site;
    let targets = linker.targets(site, EnvId::NONE);
    let before = found.len();
    let mut told = u32::from(judge.steps_at(linker, &mut SiteSignals::default(), site));
    if targets.list.is_empty() && targets.unknown && edge.arg.is_none() {
        found.push(Doubt::ByName(site));
        return;
    }
    if targets.steps > 0 {
        told += u32::from(targets.steps);
        found.push(Doubt::Inferred(site));
    }
    let on_own_field =
        || linker.receiver_form(site).is_some_and(|form| is_field_of_receiver(linker.program.facts(site.file), form));
    if targets.unknown && told < steps && !on_own_field() {
        told += 1;
        found.push(Doubt::PerhapsOther(site));
    }
    if told >= steps {
        return;
    }
    match edge.arg {
        Some(arg) if found.len() == before => found.push(Doubt::Argument(site, arg)),
        _ => found.push(Doubt::Undecided(site)),
    }
}
