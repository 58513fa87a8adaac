//! Best paths and causes over the graph of a search.

use blocklint_link::lang;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use blocklint_core::{Effect, Language, Severity};
use blocklint_link::calls::targets::Target;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, PathId, SiteRef};
use blocklint_link::program::occurrences::is_own_receiver;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::raw_finding::Choice;
use crate::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};
use crate::guards::java_setting::is_made_by_name;
use crate::guards::rust_getter::deciding_tests_over;

/// How many hops longer a way may be that stands under one condition less.
const CONDITION: u32 = 3;

/// What speaks against a path; the one with the least is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Inferred steps.
    pub steps: u32,
    /// Python: whether it ends at what is kept of a file. What reads the file itself holds longer.
    pub ends_at_entry: bool,
    /// Hops, and the conditions that they stand under: who reads a finding checks each of them.
    length: u32,
    /// Hops alone.
    pub hops: u32,
    /// Among equals the first place.
    site: SiteRef,
    /// The inferred steps that are choices among objects. Which method an object calls on itself is decided with the object.
    chosen: u32,
    /// The inferred steps that are guesses: branches that are one of many, arguments that only callers tell.
    guessed: u32,
    /// Java: of the hops those that leave no choice who is called.
    pub own: u32,
}

/// Python: how many hops a way may have before nobody who reads its trace believes each branch on it.
const FAR: u32 = 12;

impl Cost {
    /// What a way costs that ends here.
    fn of(linker: &Linker<'_>, graph: &Graph<'_>, way: &FlowEdge) -> Cost {
        let steps = way_steps(linker, graph, way);
        let guessed = u32::from(way.steps);
        let chosen = steps - guessed;
        let chosen = if chosen > 0 && is_on_own_object(linker, way.site) { 0 } else { chosen };
        let conditions = match linker.program.language(way.site.file) {
            Language::Rust => deciding_tests_over(linker, way.site),
            _ => linker.conditions_over(way.site),
        };
        let ends_at_entry = is_of_entry(linker, graph, way);
        let own = u32::from(is_statically_bound(linker, way.site));
        Cost { steps, ends_at_entry, length: 1 + CONDITION * conditions, hops: 1, site: way.site, chosen, guessed, own }
    }

    /// What the path costs if a way leads to it.
    fn after(self, linker: &Linker<'_>, graph: &Graph<'_>, way: &FlowEdge) -> Cost {
        let own = Cost::of(linker, graph, way);
        Cost {
            steps: self.steps + own.steps,
            ends_at_entry: self.ends_at_entry,
            length: self.length + own.length,
            hops: self.hops + 1,
            site: way.site,
            chosen: self.chosen + own.chosen,
            guessed: self.guessed + own.guessed,
            own: self.own + own.own,
        }
    }

    /// Python: the steps that a way's own do not tell. Of two choices among objects the second hangs on the first, as
    /// of two branches each of which is one of many; and of a long way hardly anybody believes the end.
    pub fn doubts(&self, of_one_kind: bool, far: bool) -> u32 {
        let of_one_kind = of_one_kind && (self.chosen >= 2 || self.guessed >= 2);
        let is_far = far && self.hops > FAR;
        u32::from(of_one_kind) + if is_far { u32::from(LOW_STEPS) } else { 0 }
    }
}

/// The best way on from each state.
pub struct Paths {
    pub(crate) best: Vec<Option<(Cost, FlowEdge)>>,
}

/// Python: whether a way ends at a call that asks for or changes what a file system keeps of a file.
fn is_of_entry(linker: &Linker<'_>, graph: &Graph<'_>, way: &FlowEdge) -> bool {
    let EdgeTarget::Leaf(leaf) = way.next else { return false };
    let facts = linker.program.facts(way.site.file);
    facts.language == Language::Python
        && graph.labels.get(graph.leaves[leaf as usize].label).effect == Effect::File
        && lang::python::conventions::is_of_entry(facts.text(linker.program.site(way.site).name))
}

/// Whether a call is one of an object on itself.
fn is_on_own_object(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.receiver_form(site).is_some_and(|form| is_own_receiver(linker.program.facts(site.file), form))
}

/// Java: whether a call is one of an object on itself, of a function of its class, or makes an object.
fn is_statically_bound(linker: &Linker<'_>, site: SiteRef) -> bool {
    let is_java = linker.program.language(site.file) == Language::Java;
    is_java && (linker.receiver_form(site).is_none() || is_on_own_object(linker, site))
}

/// Java: whether a method that a framework calls, on objects of any class that inherits it, calls one of its own that these classes
/// fill in: each of them is called there, by objects of its own.
fn is_filled_in_by_each(linker: &Linker<'_>, site: SiteRef) -> bool {
    is_statically_bound(linker, site) && linker.registered(linker.program.body_of_site(site)).is_some()
}

/// Steps of one edge, with what the share of labelled alternatives adds.
pub fn way_steps(linker: &Linker<'_>, graph: &Graph<'_>, way: &FlowEdge) -> u32 {
    if !way.shared {
        return u32::from(way.steps);
    }
    let effect = held_behind(graph, way);
    // Many states meet at one site.
    let key = (way.site, effect, matches!(way.next, EdgeTarget::LabelledBody(_)));
    let known = graph.shares.borrow().get(&key).copied();
    let share = known.unwrap_or_else(|| {
        let share = share_steps(linker, graph, way, effect);
        graph.shares.borrow_mut().insert(key, share);
        share
    });
    u32::from(way.steps) + u32::from(share)
}

/// Returns the effect behind a way, and how bad it is.
fn held_behind(graph: &Graph<'_>, way: &FlowEdge) -> Option<(Effect, Severity)> {
    let label = match way.next {
        EdgeTarget::LabelledBody(state) => graph.states.get(state.0 as usize).map(|state| state.label),
        EdgeTarget::Leaf(leaf) => graph.leaves.get(leaf as usize).map(|leaf| leaf.label),
    };
    label.map(|label| {
        let label = graph.labels.get(label);
        (label.effect, label.severity)
    })
}

/// What the steps of a union hang on: its site, what is held behind it, and whether a body of the project holds it.
pub(crate) type ShareKey = (SiteRef, Option<(Effect, Severity)>, bool);

/// True if of the alternatives of a way those count that hold the thread in this very way. Of a Java method with its many
/// implementations what few of them do says nothing, whatever the others do; nor does in Rust that few of them start a runtime.
fn is_counted_by_effect(linker: &Linker<'_>, way: &FlowEdge, effect: Option<Effect>) -> bool {
    matches!(way.next, EdgeTarget::LabelledBody(_))
        && match linker.program.language(way.site.file) {
            Language::Java => true,
            Language::Rust => effect == Some(Effect::NestedLoop),
            Language::Python => false,
        }
}

/// True if a body holds the thread in this way, and at least as badly: that others hold it for less says nothing.
fn holds_so(graph: &Graph<'_>, body: BodyRef, held: Option<(Effect, Severity)>) -> bool {
    match held {
        Some((effect, severity)) => graph.effects.get(&(body, effect)).is_some_and(|worst| *worst >= severity),
        None => graph.labelled.contains(&body),
    }
}

/// Returns the things that the call of a way may run, and which of them hold the thread.
pub(crate) fn choice_of(linker: &Linker<'_>, graph: &Graph<'_>, way: &FlowEdge) -> Option<Choice> {
    let held = held_behind(graph, way);
    let by_effect = is_counted_by_effect(linker, way, held.map(|(effect, _)| effect));
    let (all, bodies) = alternatives(linker, way.site);
    let holds = |body: &BodyRef| if by_effect { holds_so(graph, *body, held) } else { graph.labelled.contains(body) };
    let (holders, others): (Vec<BodyRef>, Vec<BodyRef>) = bodies.into_iter().partition(holds);
    let rows = graph.leaf_sites.get(&way.site).map_or(0, |&count| count as usize);
    (all > 1).then(|| Choice { site: way.site, all, holding: holders.len() + rows, holders, others })
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
                    if linker.is_stub(*body) || !linker.means_override(class, name, *body, site) {
                        continue;
                    }
                    all += 1;
                    bodies.push(*body);
                }
                // What is called may also be one of the lambdas that are given for it.
                all += linker.lambdas_of(class);
            }
            Target::Row { .. } => all += 1,
        }
    }
    (all, bodies)
}

/// Steps of a union: none if one alternative is left, one if at least half are labelled, and one in eight in the same way, or
/// at most three are meant, else low.
fn share_steps(linker: &Linker<'_>, graph: &Graph<'_>, way: &FlowEdge, held: Option<(Effect, Severity)>) -> u8 {
    let effect = held.map(|(effect, _)| effect);
    let site = way.site;
    let by_effect = is_counted_by_effect(linker, way, effect);
    let holds_so = |body: BodyRef| holds_so(graph, body, held);
    let is_labelled = |body: BodyRef| if by_effect { holds_so(body) } else { graph.labelled.contains(&body) };
    let (all, bodies) = alternatives(linker, site);
    let labelled = bodies.iter().filter(|body| is_labelled(**body)).count();
    let same = bodies.iter().filter(|body| holds_so(**body)).count();
    let rows = graph.leaf_sites.get(&site).map_or(0, |&count| count as usize);
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
        // Where many only pass it on, which one does it says nothing of the one that is called here, the less the fewer do it
        // themselves.
        let passes_on =
            |body: &&BodyRef| effect.is_some_and(|effect| graph.shortest.leads_through(graph, **body, effect, &bodies));
        // A storage over the network starts a runtime; which storage it is, the type argument of a caller says.
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

/// Whether fewer than half of some bodies come to an effect in a few calls.
fn few_are_near(graph: &Graph<'_>, bodies: &[BodyRef], effect: Effect) -> bool {
    let near = bodies.iter().filter(|&&body| graph.shortest.is_near(graph, body, effect)).count();
    near * 2 < bodies.len()
}

impl Paths {
    /// Finds them for all states at once.
    pub fn new(linker: &Linker<'_>, graph: &Graph<'_>) -> Self {
        let mut best: Vec<Option<(Cost, FlowEdge)>> = vec![None; graph.states.len()];
        let mut before: Vec<Vec<(LabelledBodyId, FlowEdge)>> = vec![Vec::new(); graph.states.len()];
        let mut queue = BinaryHeap::new();
        for (at, state) in graph.states.iter().enumerate() {
            for way in &state.edges {
                match way.next {
                    EdgeTarget::LabelledBody(next) => before[next.0 as usize].push((LabelledBodyId(at as u32), *way)),
                    EdgeTarget::Leaf(_) => {
                        queue.push(Reverse((Cost::of(linker, graph, way), at as u32, WayKey(*way))));
                    }
                }
            }
        }
        while let Some(Reverse((cost, at, WayKey(way)))) = queue.pop() {
            if best[at as usize].is_some() {
                continue;
            }
            best[at as usize] = Some((cost, way));
            for (state, way) in &before[at as usize] {
                if best[state.0 as usize].is_none() {
                    queue.push(Reverse((cost.after(linker, graph, way), state.0, WayKey(*way))));
                }
            }
        }
        Paths { best }
    }

    /// The cost of going a way to its end.
    pub fn cost(&self, linker: &Linker<'_>, graph: &Graph<'_>, way: &FlowEdge) -> Option<Cost> {
        match way.next {
            EdgeTarget::Leaf(_) => Some(Cost::of(linker, graph, way)),
            EdgeTarget::LabelledBody(state) => {
                let (cost, _) = self.best[state.0 as usize]?;
                Some(cost.after(linker, graph, way))
            }
        }
    }

    /// Returns the first way of the best path from a state, and its inferred steps.
    pub fn best_from(&self, state: LabelledBodyId) -> Option<(FlowEdge, u32)> {
        self.best.get(state.0 as usize).copied().flatten().map(|(cost, way)| (way, cost.steps))
    }

    /// The ways from one to the end of its best path, itself first.
    pub fn follow(&self, way: FlowEdge) -> Vec<FlowEdge> {
        let mut ways = vec![way];
        let mut at = way;
        while let EdgeTarget::LabelledBody(state) = at.next {
            let Some((_, next)) = self.best[state.0 as usize] else { break };
            ways.push(next);
            at = next;
        }
        ways
    }
}

/// Orders ways in the queue; only ties of cost and state come this far.
#[derive(PartialEq, Eq)]
struct WayKey(FlowEdge);

impl PartialOrd for WayKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for WayKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |way: &FlowEdge| {
            let next = match way.next {
                EdgeTarget::LabelledBody(state) => (0, state.0),
                EdgeTarget::Leaf(leaf) => (1, leaf),
            };
            (way.site, way.arg, next)
        };
        key(&self.0).cmp(&key(&other.0))
    }
}

/// The causes behind each state.
pub struct Causes {
    /// For each leaf of the graph the number of its cause.
    pub of_leaf: Vec<u32>,
    /// For each cause the leaf that names it: the worst, and of equally bad ones the first.
    pub leaves: Vec<u32>,
    /// For each state its set. States that lead to the same causes mostly share one.
    set_of: Vec<u32>,
    sets: Vec<Vec<u32>>,
}

impl Causes {
    /// Finds the causes of all states at once. The blocking calls of one chain (`os.popen(command).read()`) are one cause.
    pub fn new(linker: &Linker<'_>, graph: &Graph<'_>) -> Self {
        let mut of_leaf = Vec::with_capacity(graph.leaves.len());
        let mut leaves: Vec<u32> = Vec::new();
        let mut ids: FxHashMap<(SiteRef, Option<PathId>), u32> = FxHashMap::default();
        let sites: FxHashSet<SiteRef> = graph.leaves.iter().map(|leaf| leaf.site).collect();
        let starts: Vec<Option<SiteRef>> =
            graph.leaves.iter().map(|leaf| first_of_chain(linker, leaf.site, &sites)).collect();
        let begins_chain: FxHashSet<SiteRef> = starts.iter().copied().flatten().collect();
        let severity = |at: u32| graph.labels.get(graph.leaves[at as usize].label).severity;
        for (at, leaf) in graph.leaves.iter().enumerate() {
            let key = match starts[at] {
                Some(start) => (start, None),
                None => (leaf.site, (!begins_chain.contains(&leaf.site)).then_some(leaf.path)),
            };
            let id = *ids.entry(key).or_insert_with(|| {
                leaves.push(at as u32);
                leaves.len() as u32 - 1
            });
            let named_by = &mut leaves[id as usize];
            if severity(at as u32) > severity(*named_by) {
                *named_by = at as u32;
            }
            of_leaf.push(id);
        }
        let component = components(graph);
        let count = component.iter().max().map_or(0, |&last| last as usize + 1);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (state, &of) in component.iter().enumerate() {
            members[of as usize].push(state as u32);
        }
        // Components come out of the search with successors first.
        let mut set_of_component: Vec<u32> = Vec::with_capacity(count);
        let mut sets: Vec<Vec<u32>> = Vec::with_capacity(count);
        for states in &members {
            let (mut own, mut entered): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
            for &state in states {
                for way in &graph.states[state as usize].edges {
                    match way.next {
                        EdgeTarget::Leaf(leaf) => own.push(of_leaf[leaf as usize]),
                        EdgeTarget::LabelledBody(next) => {
                            entered.extend(set_of_component.get(component[next.0 as usize] as usize));
                        }
                    }
                }
            }
            entered.sort_unstable();
            entered.dedup();
            // A body with one call that blocks leads where that call does.
            if let ([only], true) = (&entered[..], own.is_empty()) {
                set_of_component.push(*only);
                continue;
            }
            for &of in &entered {
                own.extend_from_slice(&sets[of as usize]);
            }
            own.sort_unstable();
            own.dedup();
            let widest = entered.iter().copied().max_by_key(|&of| sets[of as usize].len());
            let same = widest.filter(|&of| sets[of as usize].len() == own.len());
            set_of_component.push(same.unwrap_or(sets.len() as u32));
            if same.is_none() {
                sets.push(own);
            }
        }
        let set_of = component.iter().map(|&of| set_of_component[of as usize]).collect();
        Causes { of_leaf, leaves, set_of, sets }
    }

    /// The causes behind a way.
    pub fn behind(&self, way: &FlowEdge) -> &[u32] {
        match way.next {
            EdgeTarget::Leaf(leaf) => std::slice::from_ref(&self.of_leaf[leaf as usize]),
            EdgeTarget::LabelledBody(state) => &self.sets[self.set_of[state.0 as usize] as usize],
        }
    }

    /// A number for the causes behind a way: ways with the same number have the same.
    pub fn number(&self, way: &FlowEdge) -> (bool, u32) {
        match way.next {
            EdgeTarget::Leaf(leaf) => (true, self.of_leaf[leaf as usize]),
            EdgeTarget::LabelledBody(state) => (false, self.set_of[state.0 as usize]),
        }
    }
}

/// Returns the first blocking call of the chain that a blocking call ends (`os.popen` of `os.popen(command).read()`); none where
/// the call's receiver is made by no blocking call.
fn first_of_chain(linker: &Linker<'_>, site: SiteRef, blocking: &FxHashSet<SiteRef>) -> Option<SiteRef> {
    const LONGEST: usize = 16;
    let maker = |at: &SiteRef| {
        let made = linker.program.site_of_form(at.file, linker.receiver_form(*at)?)?;
        Some(at.file.site_ref(made))
    };
    let makers = std::iter::successors(maker(&site), maker).take(LONGEST);
    makers.filter(|at| blocking.contains(at)).last()
}

/// Strongly connected components of the states, numbered with successors first (Tarjan, without recursion).
fn components(graph: &Graph<'_>) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let count = graph.states.len();
    let next_of = |state: usize, at: usize| match graph.states[state].edges.get(at).map(|way| way.next) {
        Some(EdgeTarget::LabelledBody(next)) => Some(Some(next.0 as usize)),
        Some(EdgeTarget::Leaf(_)) => Some(None),
        None => None,
    };
    let (mut index, mut low, mut component) = (vec![NEW; count], vec![0u32; count], vec![NEW; count]);
    let (mut stack, mut frames) = (Vec::new(), Vec::new());
    let (mut counter, mut found) = (0u32, 0u32);
    for start in 0..count {
        if index[start] != NEW {
            continue;
        }
        frames.push((start, 0usize));
        while let Some((state, at)) = frames.pop() {
            if at == 0 {
                index[state] = counter;
                low[state] = counter;
                counter += 1;
                stack.push(state);
            }
            match next_of(state, at) {
                Some(next) => {
                    frames.push((state, at + 1));
                    let Some(next) = next else { continue };
                    if index[next] == NEW {
                        frames.push((next, 0));
                    } else if component[next] == NEW {
                        low[state] = low[state].min(index[next]);
                    }
                }
                None => {
                    if low[state] == index[state] {
                        while let Some(member) = stack.pop() {
                            component[member] = found;
                            if member == state {
                                break;
                            }
                        }
                        found += 1;
                    }
                    if let Some(&(parent, _)) = frames.last() {
                        low[parent] = low[parent].min(low[state]);
                    }
                }
            }
        }
    }
    component
}
