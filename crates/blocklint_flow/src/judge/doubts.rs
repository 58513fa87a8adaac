//! The doubts about a path, one for each inferred step, for `blocklint why`. Steps that signals add are reported with
//! the signals and not here.

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

/// Returns the doubts about the edges of a path to a blocking call.
pub fn doubts_on_path(linker: &Linker<'_>, judge: &Judge, graph: &Graph<'_>, path: &[FlowEdge]) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = Vec::new();
    for edge in path {
        let own_steps = u32::from(edge.steps);
        if edge_steps(linker, graph, edge) > own_steps {
            doubts.extend(choice_of(linker, graph, edge).map(Doubt::Choice));
        }
        if own_steps > 0 {
            add_doubts_at_site(linker, judge, edge, own_steps, &mut doubts);
        }
    }
    doubts
}

/// Returns the doubt that a body must not block. `None` if the kind of its root is certain.
pub fn doubt_about_root(root: Root) -> Option<Doubt> {
    (root.confidence() < Confidence::High).then_some(Doubt::Root(root.kind))
}

/// Adds the doubts about one call. `steps` is the number of inferred steps of its edge.
fn add_doubts_at_site(linker: &Linker<'_>, judge: &Judge, edge: &FlowEdge, steps: u32, doubts: &mut Vec<Doubt>) {
    let site = edge.site;
    let targets = linker.targets(site, EnvId::NONE);
    let before = doubts.len();
    let mut explained = u32::from(judge.steps_at(linker, &mut SiteSignals::default(), site));
    if targets.list.is_empty() && targets.unknown && edge.arg.is_none() {
        doubts.push(Doubt::ByName(site));
        return;
    }
    if targets.steps > 0 {
        explained += u32::from(targets.steps);
        doubts.push(Doubt::Inferred(site));
    }
    let on_own_field =
        || linker.receiver_form(site).is_some_and(|form| is_field_of_receiver(linker.program.facts(site.file), form));
    if targets.unknown && explained < steps && !on_own_field() {
        explained += 1;
        doubts.push(Doubt::PerhapsOther(site));
    }
    if explained >= steps {
        return;
    }
    match edge.arg {
        Some(arg) if doubts.len() == before => doubts.push(Doubt::Argument(site, arg)),
        _ => doubts.push(Doubt::Undecided(site)),
    }
}
