//! The overview of the causes: which one to fix first, how many functions each one frees, and the graph of its paths.

use std::cmp::{Ordering, Reverse};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blocklint_core::{Cause, Confidence, Finding, Group, Hold, RuleCode, Severity, Span, fingerprint};
use blocklint_output::{Begin, BeginKind, GroupOverview, Overview, PathEdge, PathGraph, PathNode, PathNodeKind};
use camino::Utf8Path;

use crate::choose::Chosen;
use crate::plan::change_to_begin_with;
use crate::waiting::{points_of_reach, waiting};

/// Sorts the groups by the worth of their fix, and returns the overview of each. Paths are relative to `root`.
///
/// Causes that were observed at run time come first, because they are certain; the longest stall is the first of them.
/// Then follow the causes of the worst findings. Among equally bad causes, the points of the kind of work and of the code
/// that waits decide (see `rules/severity.toml`), because kinds differ most in how often an edit is worth it. Then the
/// cause comes first that frees more functions that must not block. A cause that shares a finding with `n - 1` other causes counts the `n`-th
/// part of the function, because only all of them together free it. Among equals, the cause comes first that holds a
/// thread longer, or that more functions of the program reach. Groups without a cause stay last, in their order.
///
/// Within a group, findings that requests and messages reach come first, and those that only the start or the end of
/// the program reach come last.
pub fn overview(chosen: &mut Chosen, root: &Utf8Path) -> Overview {
    let findings = &chosen.findings;
    let findings_of_cause = findings_by_cause(findings);
    let mut groups: Vec<(Group, CauseRank)> = std::mem::take(&mut chosen.groups)
        .into_iter()
        .map(|group| {
            let cause = group.cause.as_ref();
            let all = cause.and_then(|cause| findings_of_cause.get(&cause_key(cause))).map_or(&[][..], Vec::as_slice);
            let rank = CauseRank::new(findings, &group, all);
            let group = Group { findings: order_by_waiting(findings, &group.findings), ..group };
            (group, rank)
        })
        .collect();
    // The sort is stable: equals keep the order of [`crate::group_by_cause`].
    groups.sort_by(|(a, of_a), (b, of_b)| match (&a.cause, &b.cause) {
        (Some(a), Some(b)) => of_b.cmp_worth(of_a).then_with(|| b.reach.cmp(&a.reach)),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    let mut equal_ids = HashMap::new();
    let overviews = groups.iter().map(|(group, rank)| {
        let cause = group.cause.as_ref();
        let path = cause.map_or(Utf8Path::new(""), |cause| &*cause.place.path);
        let path = path.strip_prefix(root).unwrap_or(path).as_str().replace('\\', "/");
        let (function, call) = cause.map_or(("", ""), |cause| (cause.function.as_str(), cause.call.as_str()));
        let nth = equal_ids.entry((path.clone(), function, call)).or_insert(0u32);
        let id = fingerprint(RuleCode(0), &path, function, call, *nth);
        *nth += 1;
        let of_group = || group.findings.iter().filter_map(|at| findings.get(*at as usize));
        GroupOverview {
            id,
            functions: count_functions(of_group()) as u32,
            mends: rank.mends,
            hold: rank.hold,
            severity: of_group().map(|finding| finding.severity).max().unwrap_or(Severity::Note),
            confidence: of_group().map(|finding| finding.confidence).max().unwrap_or(Confidence::Low),
            also: rank.also.clone(),
            graph: path_graph(of_group()),
        }
    });
    let overviews: Vec<GroupOverview> = overviews.collect();
    let first = (0..overviews.len())
        .filter(|index| groups[*index].0.cause.is_some() && overviews[*index].mends > 1)
        .max_by_key(|index| (overviews[*index].severity, overviews[*index].mends, Reverse(*index)));
    let functions = count_functions(findings.iter()) as u32;
    chosen.groups = groups.into_iter().map(|(group, _)| group).collect();
    let begin = change_to_begin_with(&chosen.findings, &chosen.groups).or_else(|| {
        let cause = chosen.groups.get(first?)?.cause.as_ref()?;
        Some(Begin {
            kind: BeginKind::Cause,
            place: Some(cause.place.clone()),
            function: cause.function.clone(),
            call: cause.call.clone(),
            mends: overviews.get(first?)?.mends,
        })
    });
    Overview { groups: overviews, functions, first, begin }
}

/// The identity of a cause: file, span and call.
type CauseKey = (Arc<Utf8Path>, Span, String);

fn cause_key(cause: &Cause) -> CauseKey {
    (Arc::clone(&cause.place.path), cause.place.span, cause.call.clone())
}

/// Returns the findings of each cause: a finding is listed at the cause of its best path and at those of other paths.
fn findings_by_cause(findings: &[Finding]) -> HashMap<CauseKey, Vec<u32>> {
    let mut findings_of_cause: HashMap<CauseKey, Vec<u32>> = HashMap::new();
    for (index, finding) in (0u32..).zip(findings) {
        for cause in &finding.causes {
            let list = findings_of_cause.entry(cause_key(cause)).or_default();
            if list.last() != Some(&index) {
                list.push(index);
            }
        }
    }
    findings_of_cause
}

/// Returns the number of functions that have these findings.
fn count_functions<'a>(findings: impl Iterator<Item = &'a Finding>) -> usize {
    let in_functions = findings.filter(|finding| !finding.function.is_empty());
    in_functions.map(|finding| (&*finding.place.path, finding.function.as_str())).collect::<HashSet<_>>().len()
}

/// Returns the findings of a group, those for which requests and messages wait first. Others keep their order.
fn order_by_waiting(findings: &[Finding], group: &[u32]) -> Vec<u32> {
    let mut ordered = group.to_vec();
    ordered.sort_by_key(|&index| findings.get(index as usize).map(waiting));
    ordered
}

/// The properties that decide which cause comes first.
struct CauseRank {
    /// The observation of the longest stall at run time, if there is one: true if the call itself was observed, and the
    /// time in seconds for which it held its thread.
    confirmed: Option<(bool, f64)>,
    /// The sum of its shares of the functions that it helps to free; `WHOLE` is one function.
    frees: u64,
    hold: Hold,
    severity: Severity,
    /// The points of the kind of its work and of the code that waits for it.
    points: i32,
    /// The number of findings with no other cause.
    mends: u32,
    /// The findings that have this cause on another path than their best one.
    also: Vec<u32>,
}

/// One function in shares. The number is divisible by every number up to 12; the rounding error of more causes does no
/// harm.
const WHOLE: u64 = 27_720;

impl CauseRank {
    /// Returns the rank of a group. `findings_of_cause` are the findings with its cause on any of their paths.
    fn new(findings: &[Finding], group: &Group, findings_of_cause: &[u32]) -> Self {
        let finding_at = |index: &u32| findings.get(*index as usize);
        let mut frees: HashMap<(&Utf8Path, &str), u64> = HashMap::new();
        for finding in findings_of_cause.iter().filter_map(finding_at) {
            let share = WHOLE / finding.causes.len().max(1) as u64;
            let function_share = frees.entry((&*finding.place.path, &*finding.function)).or_default();
            *function_share = share.max(*function_share);
        }
        let in_group: HashSet<u32> = group.findings.iter().copied().collect();
        let hold = group
            .findings
            .iter()
            .filter_map(finding_at)
            .fold(Hold::Unstated, |hold, finding| hold.longest(finding.hold));
        let weights = group.findings.iter().filter_map(finding_at).filter_map(|of| of.weight);
        let points_of_kind = weights.map(|weight| weight.points as i32).max().unwrap_or(0);
        let reach = group.cause.as_ref().map_or(0, |cause| cause.reach);
        let confirmed = group.findings.iter().filter_map(finding_at).filter_map(|finding| finding.confirmed.as_ref());
        let confirmed = confirmed.map(|finding| (finding.exact, finding.seconds.unwrap_or(0.0)));
        CauseRank {
            confirmed: confirmed.max_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.total_cmp(&b.1))),
            frees: frees.values().sum(),
            hold,
            points: points_of_kind + points_of_reach(reach, findings_of_cause.iter().filter_map(finding_at)),
            severity: group
                .findings
                .iter()
                .filter_map(finding_at)
                .map(|finding| finding.severity)
                .max()
                .unwrap_or(Severity::Note),
            mends: findings_of_cause.iter().filter_map(finding_at).filter(|finding| finding.causes.len() == 1).count()
                as u32,
            also: findings_of_cause.iter().copied().filter(|index| !in_group.contains(index)).collect(),
        }
    }

    fn cmp_worth(&self, other: &Self) -> Ordering {
        let ((hold_rank, hold_time), (other_hold_rank, other_hold_time)) = (self.hold.rank(), other.hold.rank());
        let is_exact = |rank: &Self| rank.confirmed.map(|(exact, _)| exact);
        let seconds = |rank: &Self| rank.confirmed.map_or(0.0, |(_, seconds)| seconds);
        (is_exact(self).cmp(&is_exact(other)))
            .then_with(|| seconds(self).total_cmp(&seconds(other)))
            .then_with(|| self.severity.cmp(&other.severity))
            .then_with(|| self.points.cmp(&other.points))
            .then_with(|| self.frees.cmp(&other.frees))
            .then_with(|| hold_rank.cmp(&other_hold_rank))
            .then_with(|| hold_time.total_cmp(&other_hold_time))
    }
}

/// Returns the traces of findings as one graph, in which a function is one node.
fn path_graph<'a>(findings: impl Iterator<Item = &'a Finding>) -> PathGraph {
    let mut graph = PathGraph::default();
    let mut nodes: HashMap<(Option<&Utf8Path>, &str), u32> = HashMap::new();
    let mut edges: HashMap<(u32, u32), usize> = HashMap::new();
    for finding in findings {
        let Some(last) = finding.trace.last() else {
            graph.paths.push(Vec::new());
            continue;
        };
        let steps = finding.trace.iter().enumerate().map(|(index, step)| {
            let kind = if index == 0 { PathNodeKind::Entry } else { PathNodeKind::Step };
            ((Some(&*step.place.path), step.function.as_str()), kind)
        });
        let steps = steps.chain([((None, last.call.as_str()), PathNodeKind::Call)]);
        let mut path: Vec<u32> = Vec::with_capacity(finding.trace.len() + 1);
        for (key, kind) in steps {
            let node = *nodes.entry(key).or_insert_with(|| {
                let node = PathNode { name: key.1.to_owned(), kind, distance: 0, findings: 0 };
                graph.nodes.push(node);
                graph.nodes.len() as u32 - 1
            });
            let path_node = &mut graph.nodes[node as usize];
            if kind == PathNodeKind::Entry {
                path_node.kind = kind;
            }
            // A recursive function occurs twice on a path.
            path_node.findings += u32::from(!path.contains(&node));
            path.push(node);
        }
        let mut counted = HashSet::new();
        for step in path.windows(2).map(|pair| (pair[0], pair[1])).filter(|step| counted.insert(*step)) {
            let edge = *edges.entry(step).or_insert_with(|| {
                graph.edges.push(PathEdge { from: step.0, to: step.1, findings: 0 });
                graph.edges.len() - 1
            });
            graph.edges[edge].findings += 1;
        }
        graph.paths.push(path);
    }
    let distances = distances_to_end(&graph.edges, graph.nodes.len());
    for (node, distance) in graph.nodes.iter_mut().zip(distances) {
        node.distance = distance;
    }
    graph
}

/// Returns the number of calls from each node to the end, on the longest path without a cycle.
fn distances_to_end(edges: &[PathEdge], nodes: usize) -> Vec<u32> {
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for edge in edges {
        callees[edge.from as usize].push(edge.to as usize);
    }
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Unvisited,
        Open,
        Done,
    }
    let (mut distances, mut visits) = (vec![0; nodes], vec![Visit::Unvisited; nodes]);
    for start in 0..nodes {
        if visits[start] != Visit::Unvisited {
            continue;
        }
        visits[start] = Visit::Open;
        // Each entry is a node of the current path, and the number of its callees that were visited.
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.pop() {
            let Some(&callee) = callees[node].get(next) else {
                visits[node] = Visit::Done;
                if let Some((caller, _)) = stack.last() {
                    distances[*caller] = distances[*caller].max(distances[node] + 1);
                }
                continue;
            };
            stack.push((node, next + 1));
            match visits[callee] {
                Visit::Unvisited => {
                    visits[callee] = Visit::Open;
                    stack.push((callee, 0));
                }
                Visit::Done => distances[node] = distances[node].max(distances[callee] + 1),
                Visit::Open => {}
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use blocklint_core::{Place, Step};

    use super::*;

    fn place(at: u32) -> Place {
        Place::unlocated(Arc::from(Utf8Path::new("/p/a.py")), Span::new(at, at + 1))
    }

    fn cause(call: &str) -> Cause {
        Cause { place: place(1000), function: "a.helper".to_owned(), call: call.to_owned(), reach: 1 }
    }

    /// Returns a finding of `function` with these causes, and a trace `through` these functions.
    fn finding(function: &str, causes: &[&str], hold: Hold, through: &[&str]) -> Finding {
        let step = |function: &str, call: &str| Step {
            place: place(0),
            function: function.to_owned(),
            call: call.to_owned(),
            written: String::new(),
        };
        let mut functions = vec![function];
        functions.extend(through);
        let calls = functions.iter().skip(1).copied().chain(causes.first().copied());
        let trace = functions.iter().zip(calls).map(|(function, call)| step(function, call)).collect();
        Finding {
            function: function.to_owned(),
            hold,
            trace,
            causes: causes.iter().map(|call| cause(call)).collect(),
            ..Finding::of_source(RuleCode(102), Severity::Error, String::new(), place(0))
        }
    }

    fn ranked(findings: Vec<Finding>) -> (Vec<Option<String>>, Overview) {
        let groups = crate::group_by_cause(&findings);
        let mut chosen = Chosen::of(findings, groups);
        let overview = overview(&mut chosen, Utf8Path::new("/p"));
        let calls = chosen.groups.iter().map(|group| group.cause.as_ref().map(|cause| cause.call.clone()));
        (calls.collect(), overview)
    }

    fn calls(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| Some((*name).to_owned())).collect()
    }

    #[test]
    fn a_cause_is_worth_the_functions_that_it_frees() {
        let of = |function, causes: &[&str]| finding(function, causes, Hold::Unstated, &[]);
        // Three halves of a function are less than two functions, and more than one function with two findings.
        let (order, overview) = ranked(vec![
            of("a", &["shared", "other"]),
            of("b", &["shared", "other"]),
            of("c", &["shared", "other"]),
            of("d", &["own"]),
            of("e", &["own"]),
            of("f", &["twice"]),
            of("f", &["twice"]),
        ]);
        assert_eq!(order, calls(&["own", "shared", "twice"]));
        assert_eq!(overview.groups.iter().map(|group| group.mends).collect::<Vec<_>>(), [2, 0, 2]);
        assert_eq!((overview.functions, overview.first), (6, Some(0)), "of equals the first");
    }

    #[test]
    fn longer_holds_come_first_and_findings_without_cause_last() {
        let of = |function, causes: &[&str], hold| finding(function, causes, hold, &[]);
        let (order, overview) = ranked(vec![
            of("z", &[], Hold::Unbounded),
            of("a", &["brief"], Hold::Brief),
            of("b", &["short"], Hold::Seconds(2.0)),
            of("c", &["long"], Hold::Seconds(30.0)),
            of("d", &["endless"], Hold::Unbounded),
        ]);
        let mut expected = calls(&["endless", "long", "short", "brief"]);
        expected.push(None);
        assert_eq!(order, expected);
        assert_eq!(overview.first, None, "no edit mends two");
        let ids: HashSet<_> = overview.groups.iter().map(|group| &group.id).collect();
        assert_eq!(ids.len(), 5);
    }

    #[test]
    fn findings_with_another_best_path_are_listed() {
        let (order, overview) =
            ranked(vec![finding("a", &["x"], Hold::Unstated, &[]), finding("b", &["y", "x"], Hold::Unstated, &[])]);
        assert_eq!(order, calls(&["x", "y"]));
        assert_eq!((overview.groups[0].also.as_slice(), overview.groups[1].also.as_slice()), (&[1][..], &[][..]));
    }

    #[test]
    fn traces_share_the_nodes_of_their_functions() {
        let (_, overview) = ranked(vec![
            finding("a", &["get"], Hold::Unstated, &["load", "fetch"]),
            finding("b", &["get"], Hold::Unstated, &["fetch"]),
            // `load` is an entry and also a step on the path of `a`; `fetch` calls itself.
            finding("load", &["get"], Hold::Unstated, &["fetch", "fetch"]),
        ]);
        let graph = &overview.groups[0].graph;
        let nodes: Vec<_> =
            graph.nodes.iter().map(|node| (&*node.name, node.kind, node.distance, node.findings)).collect();
        use PathNodeKind::{Call, Entry, Step};
        let expected =
            [("a", Entry, 3, 1), ("load", Entry, 2, 2), ("fetch", Step, 1, 3), ("get", Call, 0, 3), ("b", Entry, 2, 1)];
        assert_eq!(nodes, expected);
        assert_eq!(graph.paths, [vec![0, 1, 2, 3], vec![4, 2, 3], vec![1, 2, 2, 3]]);
        let edges: Vec<_> = graph.edges.iter().map(|edge| (edge.from, edge.to, edge.findings)).collect();
        assert_eq!(edges, [(0, 1, 1), (1, 2, 2), (2, 3, 3), (4, 2, 1), (2, 2, 1)]);
    }
}
