//! Comments that suppress one cause of a finding that has another cause: the finding stays, and a note names the
//! function with the comment.

use blocklint_core::RuleCode;
use blocklint_flow::graph::{EdgeTarget, FlowEdge, Graph};
use blocklint_flow::search::suppressions::Suppressions;
use blocklint_link::calls::targets::Target;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::BodyRef;
use blocklint_link::values::value::EnvId;
use rustc_hash::FxHashSet;

/// The most functions of one finding that are searched.
const MAX_FUNCTIONS: usize = 200;

/// Returns the names of the functions in which a comment suppresses a cause of the finding's rule. Only functions on the
/// paths of the finding, and their callees, are searched.
pub(super) fn find_partly_suppressed<'w>(
    linker: &Linker<'_>,
    suppressions: &Suppressions,
    graph: &Graph<'_>,
    rule: RuleCode,
    edges: impl Iterator<Item = &'w FlowEdge>,
) -> Vec<String> {
    let suppressed_bodies = suppressions.bodies_with_ended_labels(rule);
    if suppressed_bodies.is_empty() {
        return Vec::new();
    }
    let bodies = bodies_on_paths(graph, edges);
    let is_called = |callee: BodyRef| {
        let facts = linker.program.facts(callee.file);
        let name = facts.text(linker.program.body(callee).name);
        let mut sites = bodies.iter().flat_map(|&body| linker.program.sites_in(body));
        sites.any(|site| {
            let facts = linker.program.facts(site.file);
            facts.text(linker.program.site(site).name) == name
                && linker
                    .targets(site, EnvId::NONE)
                    .list
                    .iter()
                    .any(|target| matches!(target, Target::Body { body, .. } if *body == callee))
        })
    };
    let related = suppressed_bodies.into_iter().filter(|body| bodies.contains(body) || is_called(*body));
    let mut names: Vec<String> = related.map(|body| linker.qualified_name(body)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the functions on the paths, without the one in which they begin.
fn bodies_on_paths<'w>(graph: &Graph<'_>, edges: impl Iterator<Item = &'w FlowEdge>) -> FxHashSet<BodyRef> {
    let mut bodies = FxHashSet::default();
    let mut visited = FxHashSet::default();
    let mut pending: Vec<EdgeTarget> = edges.map(|edge| edge.next).collect();
    while let Some(next) = pending.pop() {
        let EdgeTarget::LabelledBody(labelled_body) = next else { continue };
        if visited.len() >= MAX_FUNCTIONS || !visited.insert(labelled_body) {
            continue;
        }
        let labelled_body = graph.labelled_body(labelled_body);
        bodies.insert(labelled_body.node.body);
        pending.extend(labelled_body.edges.iter().map(|edge| edge.next));
    }
    bodies
}
