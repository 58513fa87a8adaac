//! Native calls that greenlets reach: what no patch makes cooperative holds the hub and with it every greenlet.
//!
//! The search carries labels up to every caller, whoever that is; here they are read backwards from the calls that enter a
//! row with `native`, up to the bodies that greenlets enter. The finding stands at the call, for every body runs in some
//! greenlet, and that is where it is mended.

use std::collections::VecDeque;

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Context, Hold, Language, Runtime, Severity, What, rule_of};
use blocklint_flow::callers::Callers;
use blocklint_flow::entries::greenlet::Entries;
use blocklint_flow::entries::root::RootKind;
use blocklint_flow::graph::best_path::way_steps;
use blocklint_flow::graph::causes::Causes;
use blocklint_flow::graph::raw_finding::Doubt;
use blocklint_flow::graph::trace::{place_of, step};
use blocklint_flow::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};
use blocklint_flow::judge::Judge;
use blocklint_flow::judge::confidence::confidence_of;
use blocklint_flow::judge::doubts::doubts_on_way;
use blocklint_flow::search::suppressions::Suppressions;
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::lang::python::monkey_patch::Patched;
use blocklint_link::linker::Linker;
use blocklint_link::models::unit_facts::Units;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_mending::Mending;
use rustc_hash::{FxHashMap, FxHashSet};

/// A body on the way from an entry to a native call.
#[derive(Clone, Copy)]
struct Hop {
    state: LabelledBodyId,
    /// The way by which this body goes on.
    way: FlowEdge,
    /// The hop that way leads to; none for the body of the call itself.
    below: Option<usize>,
    steps: u32,
}

/// An entry with the way from it.
struct Reached {
    entry: BodyRef,
    confidence: Confidence,
    hops: u32,
    at: usize,
}

/// Every native call that a greenlet reaches.
pub(crate) fn blocked_hubs<'a>(
    linker: &Linker<'a>,
    cuts: &Suppressions,
    judge: &Judge,
    graph: &Graph<'a>,
    causes: &Causes,
    units: &Units,
) -> Vec<RawFinding> {
    if !units.any_greenlets() {
        return Vec::new();
    }
    let is_ours = |at: &usize| {
        let leaf = &graph.leaves[*at];
        let unit = units.of(linker, leaf.site.file);
        linker.program.language(leaf.site.file) == Language::Python
            && graph.labels.get(leaf.label).native
            && unit.greenlets.is_some()
            && !leaf.row.file.libraries.iter().any(|library| unit.green.contains(library))
            && !linker.program.is_test(leaf.site.file)
    };
    let leaves: FxHashSet<u32> = (0..graph.leaves.len()).filter(is_ours).map(|at| at as u32).collect();
    if leaves.is_empty() {
        return Vec::new();
    }
    // Where only calls in code say that threads are greenlets, they say it of the programs that they are part of.
    let patching: Vec<FileId> = units.patched_in().collect();
    let patched = Patched::new(linker, &patching);
    let is_open = |file: FileId| units.of(linker, file).patched_in.is_empty();
    let is_patched = |file: FileId| is_open(file) || patched.holds(file);
    let leaves: FxHashSet<u32> =
        leaves.into_iter().filter(|at| is_patched(graph.leaves[*at as usize].site.file)).collect();
    let mut into_leaf: FxHashMap<(SiteRef, PathId), Vec<(LabelledBodyId, FlowEdge)>> = FxHashMap::default();
    let mut before: FxHashMap<LabelledBodyId, Vec<(LabelledBodyId, FlowEdge)>> = FxHashMap::default();
    for (at, state) in graph.states.iter().enumerate() {
        let at = LabelledBodyId(at as u32);
        for &way in &state.edges {
            match way.next {
                EdgeTarget::Leaf(leaf) if leaves.contains(&leaf) => {
                    let leaf = &graph.leaves[leaf as usize];
                    into_leaf.entry((leaf.site, leaf.path)).or_default().push((at, way));
                }
                EdgeTarget::Leaf(_) => {}
                EdgeTarget::LabelledBody(next) => before.entry(next).or_default().push((at, way)),
            }
        }
    }
    let callers = Callers::new(linker);
    let entries = Entries::new(linker, units, &callers);
    let mut starts: Vec<_> = into_leaf.into_iter().collect();
    starts.sort_by_key(|(key, _)| *key);
    let mut found = Vec::new();
    for ((site, _), starts) in starts {
        let (hops, mut reached) = walk(linker, graph, &before, &entries, &starts);
        reached.retain(|one| {
            let is_used = || one.confidence == Confidence::High || patched.uses(linker, one.entry);
            is_open(one.entry.file) || patched.holds(one.entry.file) && is_used()
        });
        reached.sort_by_key(|one| (std::cmp::Reverse(one.confidence), one.hops, one.entry));
        let mut seen = FxHashSet::default();
        reached.retain(|one| seen.insert(one.entry));
        if reached.is_empty() {
            continue;
        }
        let runtime = units.of(linker, site.file).greenlets.unwrap_or(Runtime::Gevent);
        found.extend(finding(linker, cuts, graph, causes, runtime, &hops, &reached).map(|(mut finding, ways)| {
            finding.doubts = doubts_on_way(linker, judge, graph, &ways);
            let of_way = ways.iter().map(|way| way_steps(linker, graph, way)).sum();
            if finding.confidence < confidence_of(of_way) {
                finding.doubts.push(Doubt::Entry(finding.root));
            }
            finding
        }));
    }
    found
}

/// Goes from the bodies of a call up to the entries.
fn walk(
    linker: &Linker<'_>,
    graph: &Graph<'_>,
    before: &FxHashMap<LabelledBodyId, Vec<(LabelledBodyId, FlowEdge)>>,
    entries: &Entries<'_, '_, '_>,
    starts: &[(LabelledBodyId, FlowEdge)],
) -> (Vec<Hop>, Vec<Reached>) {
    let mut hops: Vec<Hop> = Vec::new();
    let mut queue: VecDeque<(usize, u32)> = VecDeque::new();
    let mut seen: FxHashSet<LabelledBodyId> = FxHashSet::default();
    let mut reached = Vec::new();
    let holds = |state: LabelledBodyId| {
        let label = graph.labels.get(graph.states[state.0 as usize].label);
        label.place.holds(Context::Greenlet, None)
    };
    for &(state, way) in starts {
        if holds(state) && seen.insert(state) {
            hops.push(Hop { state, way, below: None, steps: way_steps(linker, graph, &way) });
            queue.push_back((hops.len() - 1, 1));
        }
    }
    while let Some((at, length)) = queue.pop_front() {
        let hop = hops[at];
        let body = graph.states[hop.state.0 as usize].node.body;
        // A function with callers is entered through them, unless a registration says more.
        let is_called = before.get(&hop.state).is_some_and(|above| !above.is_empty());
        if let Some(sure) = entries.of(body).filter(|sure| *sure == Confidence::High || !is_called) {
            let confidence = sure.min(confidence_of(hop.steps));
            reached.push(Reached { entry: body, confidence, hops: length, at });
        }
        for &(state, way) in before.get(&hop.state).into_iter().flatten() {
            if holds(state) && seen.insert(state) {
                let steps = hop.steps + way_steps(linker, graph, &way);
                hops.push(Hop { state, way, below: Some(at), steps });
                queue.push_back((hops.len() - 1, length + 1));
            }
        }
    }
    (hops, reached)
}

fn finding(
    linker: &Linker<'_>,
    cuts: &Suppressions,
    graph: &Graph<'_>,
    causes: &Causes,
    runtime: Runtime,
    hops: &[Hop],
    reached: &[Reached],
) -> Option<(RawFinding, Vec<FlowEdge>)> {
    let best = reached.first()?;
    let mut ways = vec![hops[best.at].way];
    let mut at = best.at;
    while let Some(below) = hops[at].below {
        at = below;
        ways.push(hops[at].way);
    }
    let last = *ways.last()?;
    let EdgeTarget::Leaf(leaf_at) = last.next else { return None };
    let leaf = &graph.leaves[leaf_at as usize];
    let label = entered(graph, hops[best.at].state);
    let rule = rule_of(label.effect, true, Context::Greenlet)?;
    let body = linker.program.body_of_site(last.site);
    let call = linker.library.text(leaf.path).to_string();
    let hold = match label.hold {
        LabelHold::Fixed(hold) => hold,
        LabelHold::Param { .. } => Hold::Unstated,
    };
    let trace = ways.iter().map(|way| step(linker, graph, way, None)).collect();
    let pool = pool(linker, runtime);
    let severity = match hold {
        // Short in a loop is short each time, and others run between.
        Hold::Brief => Severity::Note,
        Hold::Seconds(seconds) if seconds <= 0.01 => label.severity.min(Severity::Warning),
        _ => label.severity,
    };
    let severity = leaf.row.native_severity.map_or(severity, |most| severity.min(most));
    let finding = RawFinding {
        rule,
        severity,
        confidence: best.confidence,
        what: What::HoldsHub {
            entries: reached.len() as u32,
            adapter: adapter(linker, &leaf.row.file.libraries, runtime),
            pool: pool.as_ref().map(|(path, _)| path.clone()),
        },
        effect: Some(label.effect),
        context: Some(Context::Greenlet),
        runtime: Some(runtime),
        root: best.entry,
        root_kind: Some(RootKind::Registered),
        handed: false,
        hold,
        fails: None,
        file: last.site.file,
        span: place_of(linker, last.site),
        site: last.site,
        callee: call.clone(),
        trace,
        causes: vec![causes.of_leaf[leaf_at as usize]],
        also: Vec::new(),
        call,
        repeats: false,
        held_by: None,
        note: leaf.row.note.clone(),
        twins: Vec::new(),
        mending: Mending {
            rewrite: pool.map(|(_, template)| template),
            kind: leaf.row.fix,
            lazy: leaf.row.lazy,
            ..Mending::default()
        },
        holds_gil: leaf.row.thread == Some(blocklint_models::Thread::HoldsGil),
        occurrence: 0,
        reasons: Vec::new(),
        reached_by: Vec::new(),
        partly_silenced: Vec::new(),
        doubts: Vec::new(),
        aside: None,
        suppressed: cuts.hides(linker.program, last.site, place_of(linker, last.site).start, body, rule),
    };
    Some((finding, ways))
}

/// The label of a state as its entry meets it: what callers do not decide is open.
fn entered(graph: &Graph<'_>, state: LabelledBodyId) -> Label {
    graph.labels.get(graph.states[state.0 as usize].label).clone()
}

/// The call at start-up that makes a library cooperative in this runtime, if models know one.
fn adapter(linker: &Linker<'_>, libraries: &[String], runtime: Runtime) -> Option<String> {
    let of_runtime = |path: &&String| path.split('.').any(|part| part == runtime.as_str());
    linker.library.of(Language::Python).switches().find_map(|(switch, _)| {
        let is_adapter = switch.green.iter().any(|green| libraries.contains(green));
        if is_adapter { switch.call.iter().find(of_runtime).cloned() } else { None }
    })
}

/// The runtime's own pool of real threads: its path, and the text in place of a call.
fn pool(linker: &Linker<'_>, runtime: Runtime) -> Option<(String, blocklint_models::Template)> {
    let models = linker.library.of(Language::Python);
    models.names(blocklint_models::Uses::HANDOVER).find_map(|name| {
        name.paths(blocklint_models::Uses::HANDOVER).filter(|path| path.path.starts_with(runtime.as_str())).find_map(
            |path| {
                let rows = models.handovers(path.path);
                let row = rows.iter().find(|row| row.native && row.offer.contains(&runtime))?;
                Some((path.path.to_owned(), row.rewrite.clone()?))
            },
        )
    })
}
