//! BLT301: native calls that greenlets reach. No patch makes such a call cooperative, so it blocks the hub and with it all greenlets.
//!
//! The search propagates labels to all callers. Here the graph is followed backwards, from the calls that match a row with
//! `native` up to the bodies that greenlets enter. The finding stands at the native call, because that is where it is mended.

use std::collections::VecDeque;

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Context, Hold, Language, Mistake, Runtime, Severity, rule_of};
use blocklint_flow::callers::Callers;
use blocklint_flow::entries::greenlet::Entries;
use blocklint_flow::entries::root::RootKind;
use blocklint_flow::graph::best_path::edge_steps;
use blocklint_flow::graph::causes::Causes;
use blocklint_flow::graph::raw_finding::Doubt;
use blocklint_flow::graph::trace::{place_of, trace_step};
use blocklint_flow::graph::{EdgeTarget, FlowEdge, Graph, LabelledBodyId};
use blocklint_flow::judge::Judge;
use blocklint_flow::judge::confidence::confidence_of;
use blocklint_flow::judge::doubts::doubts_on_path;
use blocklint_flow::search::suppressions::Suppressions;
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::lang::python::monkey_patch::Patched;
use blocklint_link::linker::Linker;
use blocklint_link::models::unit_facts::Units;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_mending::RowAdvice;
use rustc_hash::{FxHashMap, FxHashSet};

/// A body on a path from an entry to a native call.
#[derive(Clone, Copy)]
struct Hop {
    labelled_body: LabelledBodyId,
    /// The edge from this body.
    edge: FlowEdge,
    /// The hop that the edge leads to; none for the body of the call itself.
    below: Option<usize>,
    steps: u32,
}

/// An entry with the path from it.
struct Reached {
    entry: BodyRef,
    confidence: Confidence,
    hops: u32,
    at: usize,
}

/// Returns every native call that a greenlet reaches.
pub(crate) fn blocked_hubs<'a>(
    linker: &Linker<'a>,
    suppressions: &Suppressions,
    judge: &Judge,
    graph: &Graph<'a>,
    causes: &Causes,
    units: &Units,
) -> Vec<RawFinding> {
    if !units.any_greenlets() {
        return Vec::new();
    }
    let is_ours = |at: &usize| {
        let sink = &graph.sinks[*at];
        let unit = units.of(linker, sink.site.file);
        linker.program.language(sink.site.file) == Language::Python
            && graph.labels.get(sink.label).native
            && unit.greenlets.is_some()
            && !sink.row.file.libraries.iter().any(|library| unit.green.contains(library))
            && !linker.program.is_test(sink.site.file)
    };
    let sinks: FxHashSet<u32> = (0..graph.sinks.len()).filter(is_ours).map(|at| at as u32).collect();
    if sinks.is_empty() {
        return Vec::new();
    }
    // If only calls in code show that threads are greenlets, they show it for the programs that they are part of.
    let patching: Vec<FileId> = units.patched_in().collect();
    let patched = Patched::new(linker, &patching);
    let is_open = |file: FileId| units.of(linker, file).patched_in.is_empty();
    let is_patched = |file: FileId| is_open(file) || patched.holds(file);
    let sinks: FxHashSet<u32> =
        sinks.into_iter().filter(|at| is_patched(graph.sinks[*at as usize].site.file)).collect();
    let mut into_sink: FxHashMap<(SiteRef, PathId), Vec<(LabelledBodyId, FlowEdge)>> = FxHashMap::default();
    let mut before: FxHashMap<LabelledBodyId, Vec<(LabelledBodyId, FlowEdge)>> = FxHashMap::default();
    for (at, labelled_body) in graph.labelled_bodies.iter().enumerate() {
        let at = LabelledBodyId(at as u32);
        for &edge in &labelled_body.edges {
            match edge.next {
                EdgeTarget::Sink(sink) if sinks.contains(&sink) => {
                    let sink = &graph.sinks[sink as usize];
                    into_sink.entry((sink.site, sink.path)).or_default().push((at, edge));
                }
                EdgeTarget::Sink(_) => {}
                EdgeTarget::LabelledBody(next) => before.entry(next).or_default().push((at, edge)),
            }
        }
    }
    let callers = Callers::new(linker);
    let entries = Entries::new(linker, units, &callers);
    let mut starts: Vec<_> = into_sink.into_iter().collect();
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
        found.extend(finding(linker, suppressions, graph, causes, runtime, &hops, &reached).map(
            |(mut finding, path_edges)| {
                finding.doubts = doubts_on_path(linker, judge, graph, &path_edges);
                let of_path = path_edges.iter().map(|edge| edge_steps(linker, graph, edge)).sum();
                if finding.confidence < confidence_of(of_path) {
                    finding.doubts.push(Doubt::Entry(finding.root));
                }
                finding
            },
        ));
    }
    found
}

/// Follows callers from the bodies of a call up to the entries. Returns the entries that it reaches.
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
    let holds = |labelled_body: LabelledBodyId| {
        let label = graph.labels.get(graph.labelled_body(labelled_body).label);
        label.place.holds(Context::Greenlet, None)
    };
    for &(labelled_body, edge) in starts {
        if holds(labelled_body) && seen.insert(labelled_body) {
            hops.push(Hop { labelled_body, edge, below: None, steps: edge_steps(linker, graph, &edge) });
            queue.push_back((hops.len() - 1, 1));
        }
    }
    while let Some((at, length)) = queue.pop_front() {
        let hop = hops[at];
        let body = graph.labelled_body(hop.labelled_body).node.body;
        // A function with callers is entered through them, unless a registration decides otherwise.
        let is_called = before.get(&hop.labelled_body).is_some_and(|above| !above.is_empty());
        if let Some(sure) = entries.of(body).filter(|sure| *sure == Confidence::High || !is_called) {
            let confidence = sure.min(confidence_of(hop.steps));
            reached.push(Reached { entry: body, confidence, hops: length, at });
        }
        for &(labelled_body, edge) in before.get(&hop.labelled_body).into_iter().flatten() {
            if holds(labelled_body) && seen.insert(labelled_body) {
                let steps = hop.steps + edge_steps(linker, graph, &edge);
                hops.push(Hop { labelled_body, edge, below: Some(at), steps });
                queue.push_back((hops.len() - 1, length + 1));
            }
        }
    }
    (hops, reached)
}

fn finding(
    linker: &Linker<'_>,
    suppressions: &Suppressions,
    graph: &Graph<'_>,
    causes: &Causes,
    runtime: Runtime,
    hops: &[Hop],
    reached: &[Reached],
) -> Option<(RawFinding, Vec<FlowEdge>)> {
    let best = reached.first()?;
    let mut path_edges = vec![hops[best.at].edge];
    let mut at = best.at;
    while let Some(below) = hops[at].below {
        at = below;
        path_edges.push(hops[at].edge);
    }
    let last = *path_edges.last()?;
    let EdgeTarget::Sink(sink_at) = last.next else { return None };
    let sink = &graph.sinks[sink_at as usize];
    let label = entered(graph, hops[best.at].labelled_body);
    let rule = rule_of(label.effect, true, Context::Greenlet)?;
    let body = linker.program.body_of_site(last.site);
    let call = linker.library.text(sink.path).to_string();
    let hold = match label.hold {
        LabelHold::Fixed(hold) => hold,
        LabelHold::Param { .. } => Hold::Unstated,
    };
    let trace = path_edges.iter().map(|edge| trace_step(linker, graph, edge, None)).collect();
    let pool = pool(linker, runtime);
    let severity = match hold {
        // Short in a loop is short each time, and others run between.
        Hold::Brief => Severity::Note,
        Hold::Seconds(seconds) if seconds <= 0.01 => label.severity.min(Severity::Warning),
        _ => label.severity,
    };
    let severity = sink.row.native_severity.map_or(severity, |most| severity.min(most));
    let finding = RawFinding {
        rule,
        severity,
        confidence: best.confidence,
        mistake: Mistake::NativeCallBlocksHub {
            entries: reached.len() as u32,
            adapter: adapter(linker, &sink.row.file.libraries, runtime),
            pool: pool.as_ref().map(|(path, _)| path.clone()),
        },
        effect: Some(label.effect),
        weight: linker.library.severities().weight(sink.row.row),
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
        causes: vec![causes.cause_of_sink[sink_at as usize]],
        also: Vec::new(),
        call,
        repeats: false,
        held_by: None,
        note: sink.row.note.clone(),
        twins: Vec::new(),
        row_advice: RowAdvice {
            rewrite: pool.map(|(_, template)| template),
            kind: sink.row.fix,
            lazy: sink.row.lazy,
            ..RowAdvice::default()
        },
        holds_gil: sink.row.thread == Some(blocklint_models::Thread::HoldsGil),
        occurrence: 0,
        reasons: Vec::new(),
        reached_by: Vec::new(),
        partly_silenced: Vec::new(),
        doubts: Vec::new(),
        aside: None,
        suppressed: suppressions.find_suppression(
            linker.program,
            last.site,
            place_of(linker, last.site).start,
            body,
            rule,
        ),
    };
    Some((finding, path_edges))
}

/// Returns the label of a labelled body as its entry sees it: conditions that no caller decides stay open.
fn entered(graph: &Graph<'_>, labelled_body: LabelledBodyId) -> Label {
    graph.labels.get(graph.labelled_body(labelled_body).label).clone()
}

/// Returns the call at start-up that makes a library cooperative in this runtime, if models know one.
fn adapter(linker: &Linker<'_>, libraries: &[String], runtime: Runtime) -> Option<String> {
    let of_runtime = |path: &&String| path.split('.').any(|part| part == runtime.as_str());
    linker.library.of(Language::Python).switches().find_map(|(switch, _)| {
        let is_adapter = switch.green.iter().any(|green| libraries.contains(green));
        if is_adapter { switch.call.iter().find(of_runtime).cloned() } else { None }
    })
}

/// Returns the runtime's own pool of real threads: its path, and the text in place of a call.
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
