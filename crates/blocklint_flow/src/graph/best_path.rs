//! Best paths over the graph of a search: Dijkstra's algorithm finds the most certain path from each labelled body to a
//! blocking call. Causes are in `causes.rs`.

use blocklint_link::lang;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use blocklint_core::{Effect, Language, Severity};
use blocklint_link::calls::targets::Target;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::program::occurrences::is_own_receiver;

use crate::graph::raw_finding::Choice;
use crate::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};
use crate::guards::java_setting::is_made_by_name;
use crate::guards::rust_getter::deciding_tests_over;
use crate::lifecycle::never_made::is_of_class_never_made;

/// One condition counts as much as this number of hops.
const HOPS_PER_CONDITION: u32 = 3;

/// The cost of a path, compared field by field. A finding shows the path with the lowest cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Inferred steps.
    pub steps: u32,
    /// True if the path ends at a call that only reads or changes a directory entry (`stat`, `mkdir`). A call that
    /// reads the content of a file holds the thread longer, so its path is preferred (Python).
    pub ends_at_dir_entry: bool,
    /// The number of hops, plus three for each condition around them, because the reader of a finding checks each of
    /// them.
    length: u32,
    /// The number of hops alone.
    pub hops: u32,
    /// The first site of the path. Of equal paths the one with the first site wins.
    site: SiteRef,
    /// The inferred steps that are choices among receivers. A call of an object on itself adds none, because the object
    /// decides the method.
    pub(crate) chosen: u32,
    /// The inferred steps that are guesses: a branch that is one of many, an argument that only callers know.
    pub(crate) guessed: u32,
    /// The hops with a statically bound callee: calls of an object on itself, constructors (Java).
    pub statically_bound_hops: u32,
}

impl Cost {
    /// Returns the cost of one edge alone.
    fn of_edge(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> Cost {
        let steps = edge_steps(linker, graph, edge);
        let guessed = u32::from(edge.steps);
        let chosen = steps - guessed;
        let chosen = if chosen > 0 && is_on_own_object(linker, edge.site) { 0 } else { chosen };
        let conditions = match linker.program.language(edge.site.file) {
            Language::Rust => deciding_tests_over(linker, edge.site),
            _ => linker.condition_count(edge.site),
        };
        let ends_at_dir_entry = ends_at_metadata_call(linker, graph, edge);
        let statically_bound_hops = u32::from(is_statically_bound(linker, edge.site));
        Cost {
            steps,
            ends_at_dir_entry,
            length: 1 + HOPS_PER_CONDITION * conditions,
            hops: 1,
            site: edge.site,
            chosen,
            guessed,
            statically_bound_hops,
        }
    }

    /// Returns the cost of the path with one edge prepended.
    fn prepend(self, linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> Cost {
        let edge_cost = Cost::of_edge(linker, graph, edge);
        Cost {
            steps: self.steps + edge_cost.steps,
            ends_at_dir_entry: self.ends_at_dir_entry,
            length: self.length + edge_cost.length,
            hops: self.hops + 1,
            site: edge.site,
            chosen: self.chosen + edge_cost.chosen,
            guessed: self.guessed + edge_cost.guessed,
            statically_bound_hops: self.statically_bound_hops + edge_cost.statically_bound_hops,
        }
    }
}

/// The first edge of the best path from each labelled body, with the path's cost.
pub struct Paths {
    pub(crate) best: Vec<Option<(Cost, FlowEdge)>>,
}

/// True if an edge leads to a call that only reads or changes a directory entry (Python).
fn ends_at_metadata_call(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> bool {
    let EdgeTarget::Sink(sink) = edge.next else { return false };
    let facts = linker.program.facts(edge.site.file);
    facts.language == Language::Python
        && graph.labels.get(graph.sinks[sink as usize].label).effect == Effect::File
        && lang::python::conventions::is_metadata_function(facts.text(linker.program.site(edge.site).name))
}

/// True if an object calls a method on itself: `self.load()`.
fn is_on_own_object(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.receiver_form(site).is_some_and(|form| is_own_receiver(linker.program.facts(site.file), form))
}

/// True if a call has no other receiver than its own object: `load()`, `this.load()`, `new Loader()` (Java).
fn is_statically_bound(linker: &Linker<'_>, site: SiteRef) -> bool {
    let is_java = linker.program.language(site.file) == Language::Java;
    is_java && (linker.receiver_form(site).is_none() || is_on_own_object(linker, site))
}

/// True if a method that a framework calls is a template method that calls another method on its own object. Then every
/// override of that method is called, because the framework calls the template method on objects of each subclass
/// (Java).
fn calls_every_override(linker: &Linker<'_>, site: SiteRef) -> bool {
    is_statically_bound(linker, site) && linker.registered(linker.program.body_of_site(site)).is_some()
}

/// Returns the inferred steps of one edge, with those for the share of its alternatives that block.
pub fn edge_steps(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> u32 {
    if !edge.shared {
        return u32::from(edge.steps);
    }
    let effect = effect_behind(graph, edge);
    // The answer is cached, because many edges have the same site.
    let key = (edge.site, effect, matches!(edge.next, EdgeTarget::LabelledBody(_)));
    let share = linker.query(&graph.shares, key, u8::default, || share_steps(linker, graph, edge, effect));
    u32::from(edge.steps) + u32::from(share)
}

/// Returns the effect of the label that an edge leads to, with its severity.
fn effect_behind(graph: &Graph<'_>, edge: &FlowEdge) -> Option<(Effect, Severity)> {
    let label = match edge.next {
        EdgeTarget::LabelledBody(labelled_body) => {
            graph.labelled_bodies.get(labelled_body.0 as usize).map(|labelled_body| labelled_body.label)
        }
        EdgeTarget::Sink(sink) => graph.sinks.get(sink as usize).map(|sink| sink.label),
    };
    label.map(|label| {
        let label = graph.labels.get(label);
        (label.effect, label.severity)
    })
}

/// The key for the steps of a union of targets: its site, the effect behind it, and true if the edge leads to a body of
/// the project.
pub(crate) type ShareKey = (SiteRef, Option<(Effect, Severity)>, bool);

/// True if only alternatives with the edge's own effect count as blocking. Java methods have so many implementations
/// that another effect of some of them is no evidence. In Rust this holds for implementations that start a runtime.
fn is_counted_by_effect(linker: &Linker<'_>, edge: &FlowEdge, effect: Option<Effect>) -> bool {
    matches!(edge.next, EdgeTarget::LabelledBody(_))
        && match linker.program.language(edge.site.file) {
            Language::Java => true,
            Language::Rust => effect == Some(Effect::NestedLoop),
            Language::Python => false,
        }
}

/// True if a body has a label of this effect with at least this severity.
fn has_effect(graph: &Graph<'_>, body: BodyRef, wanted: Option<(Effect, Severity)>) -> bool {
    match wanted {
        Some((effect, severity)) => graph.effects.get(&(body, effect)).is_some_and(|worst| *worst >= severity),
        None => graph.labelled.contains(&body),
    }
}

/// Returns the alternatives that the call of an edge may run, split into those that hold the thread and the others.
/// `None` if there is only one.
pub(crate) fn choice_of(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> Option<Choice> {
    let edge_effect = effect_behind(graph, edge);
    let by_effect = is_counted_by_effect(linker, edge, edge_effect.map(|(effect, _)| effect));
    let (target_count, bodies) = alternatives(linker, edge.site);
    let holds =
        |body: &BodyRef| if by_effect { has_effect(graph, *body, edge_effect) } else { graph.labelled.contains(body) };
    let (holders, others): (Vec<BodyRef>, Vec<BodyRef>) = bodies.into_iter().partition(holds);
    let rows = graph.sink_rows_at.get(&edge.site).map_or(0, |&count| count as usize);
    (target_count > 1).then(|| Choice {
        site: edge.site,
        all: target_count,
        holding: holders.len() + rows,
        holders,
        others,
    })
}

/// Returns the number of targets that a call may run, and those of them that are bodies of the project.
fn alternatives(linker: &Linker<'_>, site: SiteRef) -> (usize, Vec<BodyRef>) {
    let targets = linker.targets(site, blocklint_link::values::value::EnvId::NONE);
    let mut target_count = 0usize;
    let mut bodies: Vec<BodyRef> = Vec::new();
    let overridden = targets.list.iter().any(|target| matches!(target, Target::Overrides { .. }));
    for target in &targets.list {
        match *target {
            Target::Body { body, .. } => {
                // A method without code of its own is no alternative to those that implement it.
                if overridden && linker.is_stub(body) {
                    continue;
                }
                target_count += 1;
                bodies.push(body);
            }
            Target::Overrides { class, name } => {
                for body in linker.overrides(class, name).iter() {
                    if linker.is_stub(*body)
                        || !linker.may_run_override(class, name, *body, site)
                        || is_of_class_never_made(linker, *body)
                    {
                        continue;
                    }
                    target_count += 1;
                    bodies.push(*body);
                }
                // The call may also run a lambda that implements the interface.
                target_count += linker.lambda_count(class);
            }
            Target::Row { .. } => target_count += 1,
        }
    }
    (target_count, bodies)
}

/// Returns the inferred steps of a call with several alternatives, by the share of alternatives that block. With up to
/// three alternatives the result is one step. With more it is one step if at least half of them block and one in eight
/// blocks by this effect; otherwise `LOW_STEPS`. Java and Rust have further conditions, see the comments below.
fn share_steps(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge, edge_effect: Option<(Effect, Severity)>) -> u8 {
    let effect = edge_effect.map(|(effect, _)| effect);
    let site = edge.site;
    let by_effect = is_counted_by_effect(linker, edge, effect);
    let has_effect = |body: BodyRef| has_effect(graph, body, edge_effect);
    let is_labelled = |body: BodyRef| if by_effect { has_effect(body) } else { graph.labelled.contains(&body) };
    let (target_count, bodies) = alternatives(linker, site);
    let labelled = bodies.iter().filter(|body| is_labelled(**body)).count();
    let same = bodies.iter().filter(|body| has_effect(**body)).count();
    let rows = graph.sink_rows_at.get(&site).map_or(0, |&count| count as usize);
    let (labelled, same) = (labelled + rows, same + rows);
    if target_count <= 1 || by_effect && (linker.is_called_on_each(site) || calls_every_override(linker, site)) {
        0
    } else if by_effect && linker.is_looked_up_by_key(site) {
        // A table calls each alternative for its key.
        1
    } else if target_count <= 3 {
        // One of three implementations is unlikely to run. So are implementations that only a setting selects by class
        // name.
        let by_name = |body: &&BodyRef| {
            let class = linker.program.body(**body).class.get();
            class.is_some_and(|class| is_made_by_name(linker, body.file.class_ref(class)))
        };
        let is_only_selected_by_name = || {
            let mut holding = bodies.iter().filter(|body| is_labelled(**body)).peekable();
            holding.peek().is_some()
                && holding.all(|body| by_name(&body))
                && !bodies.iter().filter(|body| !is_labelled(**body)).all(|body| by_name(&body))
        };
        if by_effect
            && (same * 2 < target_count
                || linker.program.language(site.file) == Language::Java && is_only_selected_by_name())
        {
            LOW_STEPS
        } else {
            1
        }
    } else if labelled * 2 >= target_count && same * 8 >= target_count {
        // If many alternatives only delegate to another one, they are no evidence that the one called here blocks.
        let delegates = |body: &&BodyRef| {
            effect.is_some_and(|effect| graph.shortest.reaches_only_through(graph, **body, effect, &bodies))
        };
        // In Rust the type argument of a caller decides which implementation runs (a storage over the network starts a
        // runtime).
        if by_effect && linker.program.language(site.file) == Language::Rust {
            return LOW_STEPS;
        }
        let delegating = if by_effect { bodies.iter().filter(delegates).count() } else { 0 };
        if delegating * 3 >= target_count {
            if same.saturating_sub(delegating) * 2 < target_count { LOW_STEPS } else { 2 }
        } else if by_effect && effect.is_some_and(|effect| is_near_for_few(graph, &bodies, effect)) {
            LOW_STEPS
        } else {
            1
        }
    } else {
        LOW_STEPS
    }
}

/// True if fewer than half of the bodies reach an effect in a few calls.
fn is_near_for_few(graph: &Graph<'_>, bodies: &[BodyRef], effect: Effect) -> bool {
    let near = bodies.iter().filter(|&&body| graph.shortest.is_near(graph, body, effect)).count();
    near * 2 < bodies.len()
}

impl Paths {
    /// Finds the best paths from all labelled bodies (Dijkstra, backwards from the sinks).
    pub fn new(linker: &Linker<'_>, graph: &Graph<'_>) -> Self {
        let mut best: Vec<Option<(Cost, FlowEdge)>> = vec![None; graph.labelled_bodies.len()];
        let mut callers: Vec<Vec<(LabelledBodyId, FlowEdge)>> = vec![Vec::new(); graph.labelled_bodies.len()];
        let mut queue = BinaryHeap::new();
        for (index, labelled_body) in graph.labelled_bodies.iter().enumerate() {
            let id = LabelledBodyId(index as u32);
            for edge in &labelled_body.edges {
                match edge.next {
                    EdgeTarget::LabelledBody(next) => callers[next.0 as usize].push((id, *edge)),
                    EdgeTarget::Sink(_) => {
                        queue.push(Reverse((Cost::of_edge(linker, graph, edge), id.0, EdgeKey(*edge))));
                    }
                }
            }
        }
        while let Some(Reverse((cost, index, EdgeKey(edge)))) = queue.pop() {
            if best[index as usize].is_some() {
                continue;
            }
            best[index as usize] = Some((cost, edge));
            for (labelled_body, edge) in &callers[index as usize] {
                if best[labelled_body.0 as usize].is_none() {
                    queue.push(Reverse((cost.prepend(linker, graph, edge), labelled_body.0, EdgeKey(*edge))));
                }
            }
        }
        Paths { best }
    }

    /// Returns the cost of the best path that begins with an edge.
    pub fn cost_from(&self, linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> Option<Cost> {
        match edge.next {
            EdgeTarget::Sink(_) => Some(Cost::of_edge(linker, graph, edge)),
            EdgeTarget::LabelledBody(labelled_body) => {
                let (cost, _) = self.best[labelled_body.0 as usize]?;
                Some(cost.prepend(linker, graph, edge))
            }
        }
    }

    /// Returns the first edge of the best path from a labelled body, and the path's inferred steps.
    pub fn best_from(&self, labelled_body: LabelledBodyId) -> Option<(FlowEdge, u32)> {
        self.best.get(labelled_body.0 as usize).copied().flatten().map(|(cost, edge)| (edge, cost.steps))
    }

    /// Returns the edges of the best path that begins with an edge, that edge first.
    pub fn best_path(&self, edge: FlowEdge) -> Vec<FlowEdge> {
        let mut edges = vec![edge];
        let mut last = edge;
        while let EdgeTarget::LabelledBody(labelled_body) = last.next {
            let Some((_, next)) = self.best[labelled_body.0 as usize] else { break };
            edges.push(next);
            last = next;
        }
        edges
    }
}

/// Orders edges in the queue where cost and labelled body are equal.
#[derive(PartialEq, Eq)]
struct EdgeKey(FlowEdge);

impl PartialOrd for EdgeKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for EdgeKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |edge: &FlowEdge| {
            let next = match edge.next {
                EdgeTarget::LabelledBody(labelled_body) => (0, labelled_body.0),
                EdgeTarget::Sink(sink) => (1, sink),
            };
            (edge.site, edge.arg, next)
        };
        key(&self.0).cmp(&key(&other.0))
    }
}
