//! From the graph of a search to findings: one for each place and rule, with its severity, confidence, trace, causes and what mends it.
//! Finds no ways of its own, and has no words.

mod lowered;
pub(crate) mod must_not_block;
mod partly_silenced;
mod reasons;
mod same_file;

use blocklint_link::lang;
use std::cmp::Reverse;

use crate::raw_finding::RawFinding;
use blocklint_core::{
    Aside, Confidence, Effect, Fails, Hold, Language, RuleCode, Severity, Span, Starved, What, rule_of,
};
use blocklint_facts::{BodyKind, SiteKind};
use blocklint_flow::callers::Callers;
use blocklint_flow::entries::purpose::{project_serves, project_takes_arguments};
use blocklint_flow::entries::root::threads_of;
use blocklint_flow::entries::root::{Root, RootKind};
use blocklint_flow::graph::all_paths::PathNetwork;
use blocklint_flow::graph::best_path::{Causes, Cost, Paths};
use blocklint_flow::graph::raw_finding::{RawCause, RawStep};
use blocklint_flow::graph::trace::{place_of, step};
use blocklint_flow::graph::{EdgeTarget, FlowEdge, Graph};
use blocklint_flow::judge::confidence::{confidence_of, steps_of_length};
use blocklint_flow::judge::signal::Signal;
use blocklint_flow::judge::signal::signal_named;
use blocklint_flow::judge::signal::{Judge, Traced};
use blocklint_flow::judge::signals::SIGNALS;
use blocklint_flow::judge::signals::named;
use blocklint_flow::lifecycle::frequency::TimesOf;
use blocklint_flow::lifecycle::frequency::is_looped;
use blocklint_flow::lifecycle::phase::source_of_chain;
use blocklint_flow::lifecycle::phase::{Phases, When};
use blocklint_flow::search::locks::holder_of;
use blocklint_flow::search::suppressions::Suppressions;
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::linker::Linker;
use blocklint_link::linker::work::Unit;
use blocklint_link::models::unit_facts::{ByCode, Units};
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_mending::{Chains, Mending, mending, twins};
use blocklint_models::Thread;
use partly_silenced::partly_silenced;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use self::lowered::{
    join_rules_of_one_call, lower_what_fails_besides, lower_what_is_said_already, lower_what_is_short_beside_longer,
};
use self::reasons::{doubts, reasons};
use self::same_file::join_uses_of_one_file;
use crate::Options;
use crate::rules::called_instead::called_for_a_chain;
use crate::rules::large_response::{other_path, shows_by_code};
use crate::rules::mistakes::MistakeSearch;
use crate::rules::native_hub::blocked_hubs;
use crate::rules::pool_starvation::enters;
use crate::rules::unbounded_offload::Offloads;

/// One label at a place, with the way it came.
struct Candidate {
    root: BodyRef,
    kind: Root,
    handed: bool,
    label: Label,
    way: FlowEdge,
    cost: Cost,
    /// The reason of the comment that silences it, if one does.
    silenced: Option<Option<String>>,
    /// The signals that spoke where they are decided, by name.
    said: SmallVec<[&'static str; 1]>,
    /// Its severity if it were not only for tests, examples or a command line.
    aside: Option<Aside>,
}

impl Candidate {
    /// By the steps of its way, however long that is, and by what its root is.
    fn confidence(&self) -> Confidence {
        confidence_of(self.cost.steps).min(self.kind.confidence())
    }

    /// It is only for tests, for show or for a command line: a note, unless those count like all others.
    fn leave_aside(&mut self, counts: bool, because: &'static str) {
        if !counts {
            self.aside = Some(Aside { severity: self.label.severity, because });
            self.label.severity = Severity::Note;
        }
    }

    /// It is a note, by the signal of this name.
    fn make_note(&mut self, signal: &'static str) {
        self.label.severity = Severity::Note;
        self.said.push(signal);
    }

    /// Whether it is shown by default, as far as its own severity and confidence go.
    fn is_reported(&self, min_confidence: Confidence) -> bool {
        self.silenced.is_none() && self.label.severity > Severity::Note && self.confidence() >= min_confidence
    }
}

/// A call, or what it hands over, and the rule that speaks of it.
type Place = (SiteRef, Option<u32>, blocklint_core::RuleCode);

/// Findings and causes of a finished search.
pub(crate) fn findings<'a>(
    linker: &Linker<'a>,
    cuts: &Suppressions,
    judge: &Judge,
    graph: &Graph<'a>,
    options: Options,
    mut net: Option<&mut PathNetwork>,
) -> (Vec<RawFinding>, Vec<RawCause>) {
    let Options { min_confidence, account, .. } = options;
    let paths = Paths::new(linker, graph);
    let causes = Causes::new(linker, graph);
    // One finding per place and rule.
    let mut places: FxHashMap<Place, Vec<Candidate>> = FxHashMap::default();
    for hit in &graph.hits {
        linker.check_cancelled();
        let Some(rule) = rule_of(hit.label.effect, hit.label.native, hit.kind.context) else { continue };
        let Some(_at_hand) = linker.take_up(Unit::Body(hit.root)) else { continue };
        for way in placed(linker, graph, hit.root, hit.way, 0) {
            let Some(mut cost) = paths.cost(linker, graph, &way) else { continue };
            // That the literal runs there may be inferred.
            if way != hit.way {
                cost.steps += u32::from(hit.way.steps);
            }
            if linker.program.language(way.site.file) == Language::Python {
                cost.steps += cost.doubts(judge.is_on(named::TWO_OF_ONE_KIND), judge.is_on(named::LONG_WAY));
            }
            let arg = if hit.handed { way.arg } else { None };
            let silenced = match hit.cut {
                // The comment may stand where a literal is called, and the finding inside of it.
                true => {
                    let place = place_of_finding(linker, hit.way.site, arg).start;
                    Some(cuts.hides(linker.program, hit.way.site, place, hit.root, rule).flatten())
                }
                false => {
                    let place = place_of_finding(linker, way.site, arg).start;
                    let body = linker.program.body_of_site(way.site);
                    cuts.hides(linker.program, way.site, place, body, rule).or_else(|| {
                        let is_direct = matches!(way.next, EdgeTarget::Leaf(_));
                        is_direct.then(|| cuts.hides_direct(way.site.file, place, rule)).flatten()
                    })
                }
            };
            places.entry((way.site, arg, rule)).or_default().push(Candidate {
                root: hit.root,
                kind: hit.kind,
                handed: hit.handed,
                label: hit.label.clone(),
                way,
                cost,
                silenced,
                said: SmallVec::new(),
                aside: None,
            });
        }
    }
    for candidates in places.values_mut() {
        if candidates.iter().any(|candidate| candidate.silenced.is_none()) {
            candidates.retain(|candidate| candidate.silenced.is_none());
        }
    }
    // Code all of whose callers are start-up or exit is a note, what only tests or commands run is left aside; what reads a file to make
    // an object for each request is one higher.
    let callers = Callers::new(linker);
    let mut scopes = Phases::new(linker, &callers);
    let mut times = TimesOf::sure_of_once(linker, &callers);
    let mut aside: FxHashMap<BodyRef, Option<&'static Signal>> = FxHashMap::default();
    for candidates in places.values_mut() {
        for candidate in candidates {
            let Some(_at_hand) = linker.take_up(Unit::Body(candidate.root)) else { continue };
            let language = linker.program.language(candidate.root.file);
            let (ways, seen) = (paths.follow(candidate.way), candidate.label.clone());
            let traced = Traced {
                linker,
                callers: &callers,
                graph,
                root: candidate.root,
                kind: candidate.kind,
                label: &seen,
                ways: &ways,
            };
            let steps = judge.steps_on_way(&traced);
            // What is found below says less of a call: a note of Java stays one.
            let stays_note = language == Language::Java && candidate.label.severity == Severity::Note;
            let is_note = stays_note && candidate.label.effect != Effect::NestedLoop
                || language == Language::Java && judge.on_way(&traced).is_some();
            candidate.cost.steps += u32::from(steps);
            if is_note {
                candidate.label.severity = Severity::Note;
                continue;
            }
            let label = &mut candidate.label;
            if label.fails {
                if language != Language::Python
                    && fails_elsewhere(graph, &paths, candidate, &mut scopes)
                    && judge.is_on(named::FAILS_ELSEWHERE)
                {
                    candidate.make_note(named::FAILS_ELSEWHERE);
                }
                continue;
            }
            if label.severity > Severity::Note {
                let of_root = *aside.entry(candidate.root).or_insert_with(|| judge.of_root(linker, candidate.root));
                // Whoever starts an example has its routes served.
                let serves = candidate.kind.kind == RootKind::Registered;
                match of_root {
                    Some(signal) if signal.name != named::SHOWS => {
                        label.severity = Severity::Note;
                        continue;
                    }
                    Some(signal) if !serves => {
                        candidate.leave_aside(options.include_aside, signal.says);
                        continue;
                    }
                    _ => {}
                }
                // A handler that start-up code hands over runs later; one of a test does not outlive it.
                let later =
                    candidate.handed && language == Language::Java && !linker.program.is_test(candidate.root.file);
                // Unless the chain it is for looks something up, and ends with that.
                let ends = || {
                    source_of_chain(linker, candidate.way.site).is_some_and(lang::java::names::looks_something_up)
                        || linker.continues_future(candidate.way.site)
                };
                let when = match later {
                    true if ends() => scopes.of(linker.program.body_of_site(candidate.way.site)),
                    true => When::Unknown,
                    false => scopes.of_site(candidate.root, candidate.way.site),
                };
                // A command delays the one person who waits for it; at start-up and exit no one is served.
                if when == When::Once && label.effect == Effect::Wait {
                    // A task that waits without end takes a thread from the others for good.
                } else if when.is_aside() && judge.is_on(name_of(when)) {
                    candidate.said.push(name_of(when));
                    match when {
                        When::Test | When::Command | When::Apart => {
                            candidate.leave_aside(options.include_aside, says(name_of(when)));
                        }
                        _ => candidate.label.severity = Severity::Note,
                    }
                } else if when == When::Crowd && judge.is_on(named::COMMAND) {
                    candidate.label.severity = candidate.label.severity.lowered();
                    candidate.said.push(named::COMMAND);
                } else if language != Language::Java && judge.on_way(&traced).is_some() {
                    label.severity = Severity::Note;
                } else if when == When::Unknown
                    && !candidate.handed
                    && (project_serves(linker) && judge.is_on(named::ALONE)
                        || project_takes_arguments(linker) && judge.is_on(named::COMMAND))
                    && runs_once(linker, &mut times, &ways)
                {
                    if project_serves(linker) {
                        // One step less, for a program that does nothing but that is not what it could be.
                        candidate.label.severity = candidate.label.severity.lowered();
                        candidate.said.push(named::ALONE);
                    } else {
                        candidate.said.push(named::COMMAND);
                        candidate.leave_aside(options.include_aside, says(named::COMMAND));
                    }
                }
            } else if label.effect == Effect::File
                && language != Language::Java
                && makes_on_each_call(linker, graph, &paths, &candidate.way)
                && scopes.of(candidate.root) == When::Serving
                && judge.is_on(named::MADE_PER_REQUEST)
            {
                label.severity = Severity::Warning;
                candidate.said.push(named::MADE_PER_REQUEST);
            }
        }
    }
    let step = |signal: &'static str| if judge.is_on(signal) { linker.take_up(Unit::Step(signal)) } else { None };
    if let Some(_at_hand) = step(named::SAID_ALREADY) {
        lower_what_is_said_already(linker, &mut places, min_confidence);
    }
    if let Some(_at_hand) = step(named::SHORT_BESIDE_LONGER) {
        lower_what_is_short_beside_longer(linker, &mut places, min_confidence);
    }
    let joined = match step(named::SAME_FILE) {
        Some(_at_hand) => join_uses_of_one_file(linker, &mut places, min_confidence),
        None => FxHashMap::default(),
    };
    if let Some(_at_hand) = step(named::FAILS_BESIDES) {
        lower_what_fails_besides(linker, &callers, &paths, &mut places, min_confidence);
    }
    let of_one_call = match step(named::SAID_ALREADY) {
        Some(_at_hand) => join_rules_of_one_call(linker, &mut places, min_confidence),
        None => FxHashMap::default(),
    };
    let mut reach = reach_of(&causes, &places);
    let units = Units::new(linker, ByCode { shows: shows_by_code, other_path });
    let find_hubs = || blocked_hubs(linker, cuts, judge, graph, &causes, &units);
    let hubs = linker.attempt(Unit::Step("native calls that greenlets reach"), find_hubs).unwrap_or_default();
    for hub in &hubs {
        for &cause in &hub.causes {
            reach[cause as usize].insert(hub.root);
        }
    }
    let raw_causes: Vec<RawCause> = causes
        .leaves
        .iter()
        .zip(&reach)
        .map(|(&leaf, roots)| {
            let leaf = &graph.leaves[leaf as usize];
            RawCause {
                file: leaf.site.file,
                span: linker.program.site(leaf.site).span,
                function: linker.qualified_name(leaf.body(linker)),
                call: linker.library.text(leaf.path).to_string(),
                reach: roots.len() as u32,
            }
        })
        .collect();
    let mut offloads = Offloads::new(linker, &callers, graph);
    let reach = linker.reach();
    let mut search = MistakeSearch { linker, cuts, units: &units, callers: &callers, reach, offloads: &mut offloads };
    let mut misused = search.findings();
    misused.extend(hubs);
    // What is called where it should be handed over is said once.
    places.retain(|(site, ..), _| {
        let Some(_at_hand) = linker.take_up_site(*site) else { return false };
        !misused.iter().any(|one| {
            (one.site == *site || enters(linker, *site, one.site))
                && matches!(one.what, What::CalledInstead { .. } | What::Starves(Starved::OverAwait { .. }))
        })
    });
    let mut chains = Chains::default();
    let mut found: Vec<RawFinding> = places
        .into_iter()
        .filter(|((site, ..), _)| linker.is_asked(site.file))
        .filter_map(|((site, arg, rule), candidates)| {
            let _at_hand = linker.take_up_site(site)?;
            let (mut finding, best) =
                finding(linker, graph, &paths, &causes, site, arg, rule, &candidates, min_confidence);
            if !best.handed {
                finding.mending.chain = chains.of(linker, graph, &best.way, best.kind.runtime);
            }
            for way in joined.get(&(site, arg, rule)).into_iter().flatten() {
                for &cause in causes.behind(way) {
                    if !finding.causes.contains(&cause) {
                        finding.causes.push(cause);
                    }
                }
            }
            for (rule, way) in of_one_call.get(&(site, arg, rule)).into_iter().flatten() {
                for &cause in causes.behind(way) {
                    if !finding.causes.contains(&cause) {
                        finding.causes.push(cause);
                        finding.also.push((*rule, cause));
                    }
                }
            }
            finding.mending.starts = offloads.if_handed_over(finding.site);
            if finding.suppressed.is_none() {
                let ways = candidates.iter().map(|candidate| &candidate.way);
                finding.partly_silenced = partly_silenced(linker, cuts, graph, rule, ways);
            }
            if account {
                finding.reasons = reasons(linker, graph, judge, &callers, &paths, best);
                finding.doubts = doubts(linker, graph, judge, &paths, best);
            }
            if let Some(net) = net.as_deref_mut() {
                // It is there as long as one of these is.
                let least = finding.severity.min(Severity::Warning);
                let counts = |c: &&Candidate| {
                    c.silenced.is_none() && c.label.severity >= least && c.confidence() >= min_confidence
                };
                let ways = candidates.iter().filter(counts).map(|candidate| candidate.way);
                let joined = joined.get(&(site, arg, rule)).into_iter().flatten().copied();
                let of_others = of_one_call.get(&(site, arg, rule)).into_iter().flatten().map(|(_, way)| *way);
                let mut begins: Vec<u32> = ways
                    .chain([best.way])
                    .chain(joined)
                    .chain(of_others)
                    .map(|way| net.take(graph, &causes, &way))
                    .collect();
                begins.sort_unstable();
                begins.dedup();
                net.begins.insert((finding.file, finding.span, rule), begins);
            }
            Some(finding)
        })
        .collect();
    let rule = Unit::Rule(RuleCode::CALLED_INSTEAD_OF_HANDED_OVER);
    linker.attempt(rule, || called_for_a_chain(linker, cuts, &mut found));
    found.extend(misused);
    let path_of = |finding: &RawFinding| &linker.program.files[finding.file.index()].relative;
    found.sort_by(|a, b| (path_of(a), a.span, a.rule).cmp(&(path_of(b), b.span, b.rule)));
    number_occurrences(linker, &mut found);
    (found, raw_causes)
}

/// The roots that wait for each cause. What is silenced at its own place is none that waits to be mended, and what only tests,
/// examples or a command line run delays nobody.
fn reach_of(causes: &Causes, places: &FxHashMap<Place, Vec<Candidate>>) -> Vec<FxHashSet<BodyRef>> {
    let mut reach: Vec<FxHashSet<BodyRef>> = vec![FxHashSet::default(); causes.leaves.len()];
    // A root comes to the same causes by many ways.
    let mut counted: FxHashSet<(BodyRef, (bool, u32))> = FxHashSet::default();
    let waiting = |candidate: &&Candidate| candidate.silenced.is_none() && candidate.aside.is_none();
    for candidate in places.values().flatten().filter(waiting) {
        if counted.insert((candidate.root, causes.number(&candidate.way))) {
            for &cause in causes.behind(&candidate.way) {
                reach[cause as usize].insert(candidate.root);
            }
        }
    }
    reach
}

/// Whether nothing is served yet, or nothing at all: all that leads to the beginning of a way comes from where a program begins, with no
/// tasks beside it, and no loop on the way goes round as long as something holds.
fn runs_once(linker: &Linker<'_>, times: &mut TimesOf<'_, '_, '_>, ways: &[FlowEdge]) -> bool {
    // The loops first: who runs a site is followed up to where the program begins.
    !ways.iter().any(|way| is_looped(linker, way.site))
        && ways.first().is_some_and(|first| times.of_site(first.site).is_once())
}

/// Returns what the signal of a name says.
fn says(name: &str) -> &'static str {
    signal_named(name).map_or("", |at| SIGNALS[at].says)
}

/// The signal that lowers what runs then.
fn name_of(when: When) -> &'static str {
    match when {
        When::Test => named::IN_TESTS,
        When::Command | When::Crowd => named::COMMAND,
        When::Apart => named::APART,
        When::Once => named::RUNS_ONCE,
        When::StartUp | When::Serving | When::Unknown => named::START_UP,
    }
}

/// Rust and Java: whether what would fail on a thread of the runtime evidently does not: a test that did would not be there, and what
/// only deadlocks where others wait for the thread does not where nobody else is served.
fn fails_elsewhere(graph: &Graph<'_>, paths: &Paths, candidate: &Candidate, scopes: &mut Phases<'_, '_, '_>) -> bool {
    match scopes.of_site(candidate.root, candidate.way.site) {
        When::Test => true,
        when if when.is_aside() => paths.follow(candidate.way).last().is_some_and(|last| match last.next {
            EdgeTarget::Leaf(leaf) => graph.leaves[leaf as usize].row.fails == Some(Fails::Deadlocks),
            EdgeTarget::LabelledBody(_) => false,
        }),
        _ => false,
    }
}

/// The leaf at the end of a candidate's way.
fn leaf_of(paths: &Paths, candidate: &Candidate) -> Option<u32> {
    match paths.follow(candidate.way).last()?.next {
        EdgeTarget::Leaf(leaf) => Some(leaf),
        EdgeTarget::LabelledBody(_) => None,
    }
}

/// Whether a way ends at a constructor of a library's type and no branch or cached function on it may spare the call.
fn makes_on_each_call(linker: &Linker<'_>, graph: &Graph<'_>, paths: &Paths, way: &FlowEdge) -> bool {
    let ways = paths.follow(*way);
    let constructs = ways.last().is_some_and(|last| match last.next {
        EdgeTarget::Leaf(leaf) => {
            let path = graph.leaves[leaf as usize].path;
            linker.library.is_type(path)
        }
        EdgeTarget::LabelledBody(_) => false,
    });
    constructs
        && ways.iter().all(|way| {
            let body = linker.program.body_of_site(way.site);
            !linker.is_in_branch(way.site) && !linker.method_kind(body).cached
        })
}

/// The ways at which a hit is placed: a literal that the root runs in place belongs to the root.
fn placed(linker: &Linker<'_>, graph: &Graph<'_>, root: BodyRef, way: FlowEdge, depth: u32) -> Vec<FlowEdge> {
    if depth > 8 {
        return vec![way];
    }
    if let EdgeTarget::LabelledBody(state) = way.next {
        let state = &graph.states[state.0 as usize];
        let body = state.node.body;
        let row = linker.program.body(body);
        let literal = matches!(row.kind, BodyKind::Lambda | BodyKind::GeneratorExpression);
        if literal && body.file == root.file && encloses(linker, root, body) {
            return state.edges.iter().flat_map(|&inner| placed(linker, graph, root, inner, depth + 1)).collect();
        }
    }
    vec![way]
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

fn hold_of(label: &Label) -> Hold {
    match label.hold {
        LabelHold::Fixed(hold) => hold,
        LabelHold::Param { .. } => Hold::Unstated,
    }
}

#[allow(clippy::too_many_arguments)]
fn finding<'c>(
    linker: &Linker<'_>,
    graph: &Graph<'_>,
    paths: &Paths,
    causes: &Causes,
    site: SiteRef,
    arg: Option<u32>,
    rule: blocklint_core::RuleCode,
    candidates: &'c [Candidate],
    min_confidence: Confidence,
) -> (RawFinding, &'c Candidate) {
    let language = linker.program.language(site.file);
    let far = |cost: Cost| steps_of_length(language, cost.hops, cost.own);
    let confidence = |c: &Candidate| confidence_of(c.cost.steps + far(c.cost)).min(c.kind.confidence());
    let sure = |candidate: &&Candidate| confidence(candidate) >= min_confidence;
    let severity = candidates
        .iter()
        .filter(sure)
        .map(|candidate| candidate.label.severity)
        .max()
        .or_else(|| candidates.iter().map(|candidate| candidate.label.severity).max())
        .unwrap_or(Severity::Note);
    let any_sure = candidates.iter().any(|candidate| sure(&candidate));
    let of_severity = || candidates.iter().filter(|c| c.label.severity == severity && (!any_sure || sure(c)));
    // Among equally sure ways the one that holds longest, so that path and time are of one call.
    let key = |c: &&Candidate| {
        let (rank, seconds) = hold_of(&c.label).rank();
        let shortest_first = (Reverse(rank), Reverse(seconds.to_bits()));
        (Reverse(confidence(c)), c.cost.ends_at_entry, shortest_first, c.cost, c.way.arg, way_number(&c.way))
    };
    // There is a candidate of that severity: it was taken from one.
    let best = of_severity().min_by_key(key).unwrap_or(&candidates[0]);
    let hold = of_severity().map(|c| hold_of(&c.label)).fold(Hold::Unstated, Hold::longest);
    let ways = paths.follow(best.way);
    let facts = linker.program.facts(site.file);
    let span = place_of_finding(linker, site, arg);
    let trace: Vec<RawStep> =
        ways.iter().map(|way| step(linker, graph, way, way.arg.filter(|_| best.handed && *way == best.way))).collect();
    let leaf = ways.last().and_then(|way| match way.next {
        EdgeTarget::Leaf(leaf) => Some(&graph.leaves[leaf as usize]),
        EdgeTarget::LabelledBody(_) => None,
    });
    let mut sets: Vec<((bool, u32), &FlowEdge)> = candidates.iter().map(|c| (causes.number(&c.way), &c.way)).collect();
    sets.sort_unstable_by_key(|(number, _)| *number);
    sets.dedup_by_key(|(number, _)| *number);
    let mut behind: Vec<u32> = sets.iter().flat_map(|(_, way)| causes.behind(way).iter().copied()).collect();
    behind.sort_unstable();
    behind.dedup();
    if let Some(way) = ways.last()
        && let EdgeTarget::Leaf(leaf) = way.next
    {
        let first = causes.of_leaf[leaf as usize];
        behind.retain(|&cause| cause != first);
        behind.insert(0, first);
    }
    let language = facts.language;
    let call = leaf.map_or_else(String::new, |leaf| linker.library.text(leaf.path).to_string());
    let twins = leaf.map_or_else(Vec::new, |leaf| twins(linker, leaf, best.kind.runtime, language));
    let found = RawFinding {
        rule,
        severity,
        confidence: confidence(best),
        what: What::Holds,
        effect: Some(best.label.effect),
        context: Some(best.kind.context),
        runtime: threads_of(linker, site.file, best.kind.runtime),
        root: best.root,
        root_kind: Some(best.kind.kind),
        handed: best.handed,
        hold,
        fails: leaf.and_then(|leaf| blocklint_link::models::row_match::fails(leaf.row.row)),
        file: site.file,
        span,
        site,
        callee: trace.first().map_or_else(String::new, |step| step.call.clone()),
        trace,
        causes: behind,
        also: Vec::new(),
        call,
        repeats: ways.iter().any(|way| is_repeated(linker, way.site)),
        held_by: leaf.and_then(|leaf| leaf.held_by).map(|holding| holding_step(linker, holding)),
        note: leaf.and_then(|leaf| leaf.row.note.clone()),
        mending: leaf.map_or_else(Mending::default, |leaf| mending(linker, leaf, best.kind.runtime, site, &twins)),
        twins,
        holds_gil: leaf.is_some_and(|leaf| leaf.row.thread == Some(Thread::HoldsGil)),
        occurrence: 0,
        suppressed: best.silenced.clone(),
        reasons: Vec::new(),
        partly_silenced: Vec::new(),
        doubts: Vec::new(),
        aside: best.aside,
    };
    (found, best)
}

/// Returns the text that a finding points at: a call, or the callable that it hands over.
fn place_of_finding(linker: &Linker<'_>, site: SiteRef, handed: Option<u32>) -> Span {
    let row = linker.program.site(site);
    match handed {
        Some(arg) if row.kind != SiteKind::Decorate => {
            linker.program.args_of(site).get(arg as usize).map_or(row.span, |arg| arg.span)
        }
        _ => place_of(linker, site),
    }
}

/// The long call over which a lock is held elsewhere.
fn holding_step(linker: &Linker<'_>, holding: SiteRef) -> RawStep {
    let written = linker.written_site(holding);
    RawStep {
        file: holding.file,
        span: place_of(linker, holding),
        function: linker.qualified_name(holder_of(linker, holding)),
        call: written.clone(),
        written,
    }
}

/// Whether one run of its body may run a site many times.
pub(crate) fn is_repeated(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    facts.in_loop(linker.program.site(site).at.region)
}

fn way_number(way: &FlowEdge) -> (u32, u32) {
    match way.next {
        EdgeTarget::LabelledBody(state) => (0, state.0),
        EdgeTarget::Leaf(leaf) => (1, leaf),
    }
}

/// Numbers the equal calls of one body, so that a fingerprint needs no line. A name defined twice is one body here: the
/// fingerprint knows it by its name.
fn number_occurrences(linker: &Linker<'_>, found: &mut [RawFinding]) {
    let mut seen: FxHashMap<(blocklint_core::RuleCode, FileId, String, String), u32> = FxHashMap::default();
    for finding in found {
        let body = linker.qualified_name(linker.program.body_of_site(finding.site));
        let count = seen.entry((finding.rule, finding.file, body, finding.callee.clone())).or_default();
        finding.occurrence = *count;
        *count += 1;
    }
}
