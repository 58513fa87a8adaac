//! Rule `native-call-blocks-hub` (BLT301): native calls that greenlets reach. No monkey patch makes such a call
//! cooperative, so it blocks the hub and with it all greenlets. The search has propagated the labels of these calls to
//! all callers. This file follows the graph from the calls that match a row with `native` up to the bodies that
//! greenlets enter. The finding is reported at the native call, because the edit is made there.

use std::collections::VecDeque;

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Context, Hold, Language, Mistake, Runtime, Severity, rule_of};
use blocklint_flow::callers::Callers;
use blocklint_flow::entries::greenlet::GreenletEntries;
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
use blocklint_link::effect::label::LabelHold;
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
    /// The index of the hop that the edge leads to; `None` for the body of the native call.
    below: Option<usize>,
    steps: u32,
}

/// A body that greenlets enter, with the path from it to the native call.
struct ReachedEntry {
    entry: BodyRef,
    confidence: Confidence,
    hops: u32,
    /// The index of the entry's hop.
    hop: usize,
}

/// Returns the findings for all native calls that greenlets reach.
pub(crate) fn find_blocked_hubs<'a>(
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
    let is_native_call = |index: &usize| {
        let sink = &graph.sinks[*index];
        let unit = units.of(linker, sink.site.file);
        linker.program.language(sink.site.file) == Language::Python
            && graph.labels.get(sink.label).native
            && unit.greenlets.is_some()
            && !sink.row.file.libraries.iter().any(|library| unit.green.contains(library))
            && !linker.program.is_test(sink.site.file)
    };
    let sinks: FxHashSet<u32> = (0..graph.sinks.len()).filter(is_native_call).map(|index| index as u32).collect();
    if sinks.is_empty() {
        return Vec::new();
    }
    // If only patching calls in code show that threads are greenlets, only their own programs have greenlets.
    let patching: Vec<FileId> = units.patched_in().collect();
    let patched = Patched::new(linker, &patching);
    let is_open = |file: FileId| units.of(linker, file).patched_in.is_empty();
    let is_patched = |file: FileId| is_open(file) || patched.contains(file);
    let sinks: FxHashSet<u32> =
        sinks.into_iter().filter(|sink| is_patched(graph.sinks[*sink as usize].site.file)).collect();
    let mut into_sink: FxHashMap<(SiteRef, PathId), Vec<(LabelledBodyId, FlowEdge)>> = FxHashMap::default();
    let mut callers_of_bodies: FxHashMap<LabelledBodyId, Vec<(LabelledBodyId, FlowEdge)>> = FxHashMap::default();
    for (index, labelled_body) in graph.labelled_bodies.iter().enumerate() {
        let id = LabelledBodyId(index as u32);
        for &edge in &labelled_body.edges {
            match edge.next {
                EdgeTarget::Sink(sink) if sinks.contains(&sink) => {
                    let sink = &graph.sinks[sink as usize];
                    into_sink.entry((sink.site, sink.path)).or_default().push((id, edge));
                }
                EdgeTarget::Sink(_) => {}
                EdgeTarget::LabelledBody(next) => callers_of_bodies.entry(next).or_default().push((id, edge)),
            }
        }
    }
    let callers = Callers::new(linker);
    let entries = GreenletEntries::new(linker, units, &callers);
    let mut starts: Vec<_> = into_sink.into_iter().collect();
    starts.sort_by_key(|(key, _)| *key);
    let mut findings = Vec::new();
    for ((site, _), starts) in starts {
        let (hops, mut reached) = find_reached_entries(linker, graph, &callers_of_bodies, &entries, &starts);
        reached.retain(|reached| {
            let is_used = || reached.confidence == Confidence::High || patched.uses_entry_point(linker, reached.entry);
            is_open(reached.entry.file) || patched.contains(reached.entry.file) && is_used()
        });
        reached.sort_by_key(|reached| (std::cmp::Reverse(reached.confidence), reached.hops, reached.entry));
        let mut visited = FxHashSet::default();
        reached.retain(|reached| visited.insert(reached.entry));
        if reached.is_empty() {
            continue;
        }
        let runtime = units.of(linker, site.file).greenlets.unwrap_or(Runtime::Gevent);
        findings.extend(finding(linker, suppressions, graph, causes, runtime, &hops, &reached).map(
            |(mut finding, path_edges)| {
                finding.doubts = doubts_on_path(linker, judge, graph, &path_edges);
                let path_steps = path_edges.iter().map(|edge| edge_steps(linker, graph, edge)).sum();
                if finding.confidence < confidence_of(path_steps) {
                    finding.doubts.push(Doubt::Entry(finding.root));
                }
                finding
            },
        ));
    }
    findings
}

/// Follows callers from the bodies of a native call up to the bodies that greenlets enter. Returns the hops of all
/// paths, and the entries.
fn find_reached_entries(
    linker: &Linker<'_>,
    graph: &Graph<'_>,
    callers: &FxHashMap<LabelledBodyId, Vec<(LabelledBodyId, FlowEdge)>>,
    entries: &GreenletEntries<'_, '_, '_>,
    starts: &[(LabelledBodyId, FlowEdge)],
) -> (Vec<Hop>, Vec<ReachedEntry>) {
    let mut hops: Vec<Hop> = Vec::new();
    let mut queue: VecDeque<(usize, u32)> = VecDeque::new();
    let mut visited: FxHashSet<LabelledBodyId> = FxHashSet::default();
    let mut reached = Vec::new();
    let applies_to_greenlets = |labelled_body: LabelledBodyId| {
        let label = graph.labels.get(graph.labelled_body(labelled_body).label);
        label.place.contains(Context::Greenlet, None)
    };
    for &(labelled_body, edge) in starts {
        if applies_to_greenlets(labelled_body) && visited.insert(labelled_body) {
            hops.push(Hop { labelled_body, edge, below: None, steps: edge_steps(linker, graph, &edge) });
            queue.push_back((hops.len() - 1, 1));
        }
    }
    while let Some((index, length)) = queue.pop_front() {
        let hop = hops[index];
        let body = graph.labelled_body(hop.labelled_body).node.body;
        // A function with callers is not an entry itself, unless it is certainly registered.
        let is_called = callers.get(&hop.labelled_body).is_some_and(|edges| !edges.is_empty());
        let entry = entries.find_confidence(body).filter(|confidence| *confidence == Confidence::High || !is_called);
        if let Some(of_entry) = entry {
            let confidence = of_entry.min(confidence_of(hop.steps));
            reached.push(ReachedEntry { entry: body, confidence, hops: length, hop: index });
        }
        for &(labelled_body, edge) in callers.get(&hop.labelled_body).into_iter().flatten() {
            if applies_to_greenlets(labelled_body) && visited.insert(labelled_body) {
                let steps = hop.steps + edge_steps(linker, graph, &edge);
                hops.push(Hop { labelled_body, edge, below: Some(index), steps });
                queue.push_back((hops.len() - 1, length + 1));
            }
        }
    }
    (hops, reached)
}

/// Returns the finding for a native call, and the edges of the best path from an entry. `reached` has the best entry
/// first.
fn finding(
    linker: &Linker<'_>,
    suppressions: &Suppressions,
    graph: &Graph<'_>,
    causes: &Causes,
    runtime: Runtime,
    hops: &[Hop],
    reached: &[ReachedEntry],
) -> Option<(RawFinding, Vec<FlowEdge>)> {
    let best = reached.first()?;
    let mut path_edges = vec![hops[best.hop].edge];
    let mut index = best.hop;
    while let Some(below) = hops[index].below {
        index = below;
        path_edges.push(hops[index].edge);
    }
    let last = *path_edges.last()?;
    let EdgeTarget::Sink(sink_index) = last.next else { return None };
    let sink = &graph.sinks[sink_index as usize];
    let label = graph.labels.get(graph.labelled_body(hops[best.hop].labelled_body).label).clone();
    let rule = rule_of(label.effect, true, Context::Greenlet)?;
    let body = linker.program.body_of_site(last.site);
    let call = linker.library.text(sink.path).to_string();
    let hold = match label.hold {
        LabelHold::Fixed(hold) => hold,
        LabelHold::Param { .. } => Hold::Unstated,
    };
    let trace = path_edges.iter().map(|edge| trace_step(linker, graph, edge, None)).collect();
    let pool = native_pool(linker, runtime);
    let severity = match hold {
        // In a loop a brief call is brief each time, and other greenlets run in between.
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
        causes: vec![causes.cause_of_sink[sink_index as usize]],
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
        partly_suppressed: Vec::new(),
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

/// Returns the path of the start-up call that makes a library cooperative in this runtime, if a model has one.
fn adapter(linker: &Linker<'_>, libraries: &[String], runtime: Runtime) -> Option<String> {
    let of_runtime = |path: &&String| path.split('.').any(|part| part == runtime.as_str());
    linker.library.of(Language::Python).switches().find_map(|(switch, _)| {
        let is_adapter = switch.green.iter().any(|green| libraries.contains(green));
        if is_adapter { switch.call.iter().find(of_runtime).cloned() } else { None }
    })
}

/// Returns the path of the runtime's pool of native threads, and the template that rewrites a call for it.
fn native_pool(linker: &Linker<'_>, runtime: Runtime) -> Option<(String, blocklint_models::Template)> {
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
