//! Best paths over the graph of a search: the surest from each labelled body to a blocking call. Causes are in `causes.rs`.

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

/// The number of hops by which a path may be longer if it stands under one condition less.
const CONDITION: u32 = 3;

/// Everything that counts against a path; the path with the least is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Inferred steps.
    pub steps: u32,
    /// True if it ends at a call that only reads or changes the entry of a file (`stat`, `mkdir`). A call that reads
    /// the content of a file holds the thread longer (Python).
    pub ends_at_entry: bool,
    /// Hops, and the conditions that they stand under, because the reader of a finding checks each of them.
    length: u32,
    /// Hops alone.
    pub hops: u32,
    /// Among equals the first place.
    site: SiteRef,
    /// The inferred steps that are choices among objects. Which method an object calls on itself is decided with the object.
    pub(crate) chosen: u32,
    /// The inferred steps that are guesses: branches that are one of many, arguments that only callers show.
    pub(crate) guessed: u32,
    /// The hops whose callee is known without a choice: calls of an object on itself, constructors (Java).
    pub statically_bound_hops: u32,
}

impl Cost {
    /// Returns the cost of an edge that ends at a row.
    fn of(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> Cost {
        let steps = edge_steps(linker, graph, edge);
        let guessed = u32::from(edge.steps);
        let chosen = steps - guessed;
        let chosen = if chosen > 0 && is_on_own_object(linker, edge.site) { 0 } else { chosen };
        let conditions = match linker.program.language(edge.site.file) {
            Language::Rust => deciding_tests_over(linker, edge.site),
            _ => linker.conditions_over(edge.site),
        };
        let ends_at_entry = is_of_entry(linker, graph, edge);
        let statically_bound_hops = u32::from(is_statically_bound(linker, edge.site));
        Cost {
            steps,
            ends_at_entry,
            length: 1 + CONDITION * conditions,
            hops: 1,
            site: edge.site,
            chosen,
            guessed,
            statically_bound_hops,
        }
    }

    /// Returns the cost of the path with one edge before it.
    fn after(self, linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> Cost {
        let own = Cost::of(linker, graph, edge);
        Cost {
            steps: self.steps + own.steps,
            ends_at_entry: self.ends_at_entry,
            length: self.length + own.length,
            hops: self.hops + 1,
            site: edge.site,
            chosen: self.chosen + own.chosen,
            guessed: self.guessed + own.guessed,
            statically_bound_hops: self.statically_bound_hops + own.statically_bound_hops,
        }
    }
}

/// The best edge of each labelled body.
pub struct Paths {
    pub(crate) best: Vec<Option<(Cost, FlowEdge)>>,
}

/// True if an edge leads to a call that only reads or changes the entry of a file in the file system (Python).
fn is_of_entry(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> bool {
    let EdgeTarget::Sink(sink) = edge.next else { return false };
    let facts = linker.program.facts(edge.site.file);
    facts.language == Language::Python
        && graph.labels.get(graph.sinks[sink as usize].label).effect == Effect::File
        && lang::python::conventions::is_of_entry(facts.text(linker.program.site(edge.site).name))
}

/// True if a call is one of an object on itself.
fn is_on_own_object(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.receiver_form(site).is_some_and(|form| is_own_receiver(linker.program.facts(site.file), form))
}

/// True if a call is one of an object on itself, of a function of its class, or makes an object (Java).
fn is_statically_bound(linker: &Linker<'_>, site: SiteRef) -> bool {
    let is_java = linker.program.language(site.file) == Language::Java;
    is_java && (linker.receiver_form(site).is_none() || is_on_own_object(linker, site))
}

/// True if a method that a framework calls, on objects of any class that inherits it, calls one of its own that these
/// classes fill in: each of them is called there, by objects of its own (Java).
fn is_filled_in_by_each(linker: &Linker<'_>, site: SiteRef) -> bool {
    is_statically_bound(linker, site) && linker.registered(linker.program.body_of_site(site)).is_some()
}

/// Returns steps of one edge, with what the share of labelled alternatives adds.
pub fn edge_steps(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> u32 {
    if !edge.shared {
        return u32::from(edge.steps);
    }
    let effect = held_behind(graph, edge);
    // Many labelled bodies meet at one site.
    let key = (edge.site, effect, matches!(edge.next, EdgeTarget::LabelledBody(_)));
    let share = linker.query(&graph.shares, key, u8::default, || share_steps(linker, graph, edge, effect));
    u32::from(edge.steps) + u32::from(share)
}

/// Returns the effect behind an edge, and how bad it is.
fn held_behind(graph: &Graph<'_>, edge: &FlowEdge) -> Option<(Effect, Severity)> {
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

/// The steps of a union depend on its site, the effect behind it, and whether a body of the project holds the thread so.
pub(crate) type ShareKey = (SiteRef, Option<(Effect, Severity)>, bool);

/// True if only alternatives with this very effect count as holding the thread at an edge. Of a Java method with its
/// many implementations what few of them do shows nothing, whatever the others do; nor does in Rust that few of them
/// start a runtime.
fn is_counted_by_effect(linker: &Linker<'_>, edge: &FlowEdge, effect: Option<Effect>) -> bool {
    matches!(edge.next, EdgeTarget::LabelledBody(_))
        && match linker.program.language(edge.site.file) {
            Language::Java => true,
            Language::Rust => effect == Some(Effect::NestedLoop),
            Language::Python => false,
        }
}

/// True if a body has this effect with at least this severity.
fn holds_so(graph: &Graph<'_>, body: BodyRef, held: Option<(Effect, Severity)>) -> bool {
    match held {
        Some((effect, severity)) => graph.effects.get(&(body, effect)).is_some_and(|worst| *worst >= severity),
        None => graph.labelled.contains(&body),
    }
}

/// Returns the alternatives that the call of an edge may run, and which of them hold the thread.
pub(crate) fn choice_of(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> Option<Choice> {
    let held = held_behind(graph, edge);
    let by_effect = is_counted_by_effect(linker, edge, held.map(|(effect, _)| effect));
    let (all, bodies) = alternatives(linker, edge.site);
    let holds = |body: &BodyRef| if by_effect { holds_so(graph, *body, held) } else { graph.labelled.contains(body) };
    let (holders, others): (Vec<BodyRef>, Vec<BodyRef>) = bodies.into_iter().partition(holds);
    let rows = graph.sink_rows_at.get(&edge.site).map_or(0, |&count| count as usize);
    (all > 1).then(|| Choice { site: edge.site, all, holding: holders.len() + rows, holders, others })
}

/// Returns how many things a call may run, and those of them that are bodies of the project.
fn alternatives(linker: &Linker<'_>, site: SiteRef) -> (usize, Vec<BodyRef>) {
    let targets = linker.targets(site, blocklint_link::values::value::EnvId::NONE);
    let mut all = 0usize;
    let mut bodies: Vec<BodyRef> = Vec::new();
    let overridden = targets.list.iter().any(|target| matches!(target, Target::Overrides { .. }));
    for target in &targets.list {
        match *target {
            Target::Body { body, .. } => {
                // A method without code of its own is no alternative to those that implement it.
                if overridden && linker.is_stub(body) {
                    continue;
                }
                all += 1;
                bodies.push(body);
            }
            Target::Overrides { class, name } => {
                for body in linker.overrides(class, name).iter() {
                    if linker.is_stub(*body)
                        || !linker.means_override(class, name, *body, site)
                        || is_of_class_never_made(linker, *body)
                    {
                        continue;
                    }
                    all += 1;
                    bodies.push(*body);
                }
                // The call may also run one of the lambdas that are given for the interface.
                all += linker.lambdas_of(class);
            }
            Target::Row { .. } => all += 1,
        }
    }
    (all, bodies)
}

/// Returns the inferred steps of a call with several alternatives, by the share of them that hold the thread. Of many: one
/// step if at least half hold it, and one in eight holds it by this effect; else `LOW_STEPS`. Of up to three: one step.
fn share_steps(linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge, held: Option<(Effect, Severity)>) -> u8 {
    let effect = held.map(|(effect, _)| effect);
    let site = edge.site;
    let by_effect = is_counted_by_effect(linker, edge, effect);
    let holds_so = |body: BodyRef| holds_so(graph, body, held);
    let is_labelled = |body: BodyRef| if by_effect { holds_so(body) } else { graph.labelled.contains(&body) };
    let (all, bodies) = alternatives(linker, site);
    let labelled = bodies.iter().filter(|body| is_labelled(**body)).count();
    let same = bodies.iter().filter(|body| holds_so(**body)).count();
    let rows = graph.sink_rows_at.get(&site).map_or(0, |&count| count as usize);
    let (labelled, same) = (labelled + rows, same + rows);
    if all <= 1 || by_effect && (linker.is_called_on_each(site) || is_filled_in_by_each(linker, site)) {
        0
    } else if by_effect && linker.is_picked_from_table(site) {
        // Each is called for its key.
        1
    } else if all <= 3 {
        // Of a method with three implementations what one of them does is not likely, nor what those do that only a setting
        // names.
        let by_name = |body: &&BodyRef| {
            let class = linker.program.body(**body).class.get();
            class.is_some_and(|class| is_made_by_name(linker, body.file.class_ref(class)))
        };
        let named_less = || {
            let mut holding = bodies.iter().filter(|body| is_labelled(**body)).peekable();
            holding.peek().is_some()
                && holding.all(|body| by_name(&body))
                && !bodies.iter().filter(|body| !is_labelled(**body)).all(|body| by_name(&body))
        };
        if by_effect && (same * 2 < all || linker.program.language(site.file) == Language::Java && named_less()) {
            LOW_STEPS
        } else {
            1
        }
    } else if labelled * 2 >= all && same * 8 >= all {
        // Where many only pass it on, which one does it shows nothing about the one that is called here, the less the
        // fewer do it themselves.
        let passes_on =
            |body: &&BodyRef| effect.is_some_and(|effect| graph.shortest.leads_through(graph, **body, effect, &bodies));
        // A storage over the network starts a runtime; the type argument of a caller decides which storage it is.
        if by_effect && linker.program.language(site.file) == Language::Rust {
            return LOW_STEPS;
        }
        let passing = if by_effect { bodies.iter().filter(passes_on).count() } else { 0 };
        match passing * 3 >= all {
            true if same.saturating_sub(passing) * 2 < all => LOW_STEPS,
            true => 2,
            false if by_effect && effect.is_some_and(|effect| few_are_near(graph, &bodies, effect)) => LOW_STEPS,
            false => 1,
        }
    } else {
        LOW_STEPS
    }
}

/// True if fewer than half of some bodies come to an effect in a few calls.
fn few_are_near(graph: &Graph<'_>, bodies: &[BodyRef], effect: Effect) -> bool {
    let near = bodies.iter().filter(|&&body| graph.shortest.is_near(graph, body, effect)).count();
    near * 2 < bodies.len()
}

impl Paths {
    /// Finds the best edges of all labelled bodies at once.
    pub fn new(linker: &Linker<'_>, graph: &Graph<'_>) -> Self {
        let mut best: Vec<Option<(Cost, FlowEdge)>> = vec![None; graph.labelled_bodies.len()];
        let mut before: Vec<Vec<(LabelledBodyId, FlowEdge)>> = vec![Vec::new(); graph.labelled_bodies.len()];
        let mut queue = BinaryHeap::new();
        for (at, labelled_body) in graph.labelled_bodies.iter().enumerate() {
            for edge in &labelled_body.edges {
                match edge.next {
                    EdgeTarget::LabelledBody(next) => before[next.0 as usize].push((LabelledBodyId(at as u32), *edge)),
                    EdgeTarget::Sink(_) => {
                        queue.push(Reverse((Cost::of(linker, graph, edge), at as u32, EdgeKey(*edge))));
                    }
                }
            }
        }
        while let Some(Reverse((cost, at, EdgeKey(edge)))) = queue.pop() {
            if best[at as usize].is_some() {
                continue;
            }
            best[at as usize] = Some((cost, edge));
            for (labelled_body, edge) in &before[at as usize] {
                if best[labelled_body.0 as usize].is_none() {
                    queue.push(Reverse((cost.after(linker, graph, edge), labelled_body.0, EdgeKey(*edge))));
                }
            }
        }
        Paths { best }
    }

    /// Returns the cost of the best path that begins with an edge.
    pub fn cost(&self, linker: &Linker<'_>, graph: &Graph<'_>, edge: &FlowEdge) -> Option<Cost> {
        match edge.next {
            EdgeTarget::Sink(_) => Some(Cost::of(linker, graph, edge)),
            EdgeTarget::LabelledBody(labelled_body) => {
                let (cost, _) = self.best[labelled_body.0 as usize]?;
                Some(cost.after(linker, graph, edge))
            }
        }
    }

    /// Returns the first edge of the best path from a labelled body, and the path's inferred steps.
    pub fn best_from(&self, labelled_body: LabelledBodyId) -> Option<(FlowEdge, u32)> {
        self.best.get(labelled_body.0 as usize).copied().flatten().map(|(cost, edge)| (edge, cost.steps))
    }

    /// Returns the best path that begins with an edge, that edge first.
    pub fn follow(&self, edge: FlowEdge) -> Vec<FlowEdge> {
        let mut edges = vec![edge];
        let mut at = edge;
        while let EdgeTarget::LabelledBody(labelled_body) = at.next {
            let Some((_, next)) = self.best[labelled_body.0 as usize] else { break };
            edges.push(next);
            at = next;
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
