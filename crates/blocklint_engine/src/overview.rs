//! Which cause is to be mended first, and what is said of each.

use std::cmp::{Ordering, Reverse};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blocklint_core::{Cause, Confidence, Finding, Group, Hold, RuleCode, Severity, Span, fingerprint};
use blocklint_output::{Begin, BeginKind, GroupOverview, Overview, PathEdge, PathGraph, PathNode, PathNodeKind};
use camino::Utf8Path;

use crate::choose::Chosen;
use crate::plan::begin;

/// Sorts the groups by what mending them is worth, and completes the overview of each. Paths count from `root`.
///
/// Causes that were observed at run time come first, the longest stall before others, because they are certain. Then
/// follow the causes of the worst findings. Among equally bad causes, the points of the kind of work decide (see
/// `rules/severity.toml`), because kinds differ most in how often an edit is worth it. Then a cause that frees more functions
/// that must not block comes first. A cause that shares a finding with `n - 1` other causes counts the `n`-th part of
/// it, because only all of them together free it. Among equals, the cause that holds a thread longer, or that more
/// functions of the program reach, comes first. Groups without a cause stay last, in their order.
pub fn overview(chosen: &mut Chosen, root: &Utf8Path) -> Overview {
    let findings = &chosen.findings;
    let behind = findings_behind(findings);
    let mut groups: Vec<(Group, CauseRank)> = std::mem::take(&mut chosen.groups)
        .into_iter()
        .map(|group| {
            let all = group.cause.as_ref().and_then(|cause| behind.get(&key(cause))).map_or(&[][..], Vec::as_slice);
            let standing = CauseRank::new(findings, &group, all);
            (group, standing)
        })
        .collect();
    // Stable: equals keep the order of their reach and place.
    groups.sort_by(|(a, of_a), (b, of_b)| match (&a.cause, &b.cause) {
        (Some(a), Some(b)) => of_b.cmp_worth(of_a).then_with(|| b.reach.cmp(&a.reach)),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    let mut seen = HashMap::new();
    let overviews = groups.iter().map(|(group, standing)| {
        let cause = group.cause.as_ref();
        let path = cause.map_or(Utf8Path::new(""), |cause| &*cause.place.path);
        let path = path.strip_prefix(root).unwrap_or(path).as_str().replace('\\', "/");
        let (function, call) = cause.map_or(("", ""), |cause| (cause.function.as_str(), cause.call.as_str()));
        let nth = seen.entry((path.clone(), function, call)).or_insert(0u32);
        let id = fingerprint(RuleCode(0), &path, function, call, *nth);
        *nth += 1;
        let of_group = || group.findings.iter().filter_map(|at| findings.get(*at as usize));
        GroupOverview {
            id,
            functions: functions(of_group()) as u32,
            mends: standing.mends,
            hold: standing.hold,
            severity: of_group().map(|finding| finding.severity).max().unwrap_or(Severity::Note),
            confidence: of_group().map(|finding| finding.confidence).max().unwrap_or(Confidence::Low),
            also: standing.also.clone(),
            graph: graph(of_group()),
        }
    });
    let overviews: Vec<GroupOverview> = overviews.collect();
    let first = (0..overviews.len())
        .filter(|at| groups[*at].0.cause.is_some() && overviews[*at].mends > 1)
        .max_by_key(|at| (overviews[*at].severity, overviews[*at].mends, Reverse(*at)));
    let functions = functions(findings.iter()) as u32;
    chosen.groups = groups.into_iter().map(|(group, _)| group).collect();
    let begin = begin(&chosen.findings, &chosen.groups).or_else(|| {
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

/// The key that distinguishes causes.
type Key = (Arc<Utf8Path>, Span, String);

fn key(cause: &Cause) -> Key {
    (Arc::clone(&cause.place.path), cause.place.span, cause.call.clone())
}

/// Returns the findings behind each cause, be it that of their best path or another.
fn findings_behind(findings: &[Finding]) -> HashMap<Key, Vec<u32>> {
    let mut behind: HashMap<Key, Vec<u32>> = HashMap::new();
    for (at, finding) in (0u32..).zip(findings) {
        for cause in &finding.causes {
            let of_cause = behind.entry(key(cause)).or_default();
            if of_cause.last() != Some(&at) {
                of_cause.push(at);
            }
        }
    }
    behind
}

/// Returns how many functions the findings stand in.
fn functions<'a>(findings: impl Iterator<Item = &'a Finding>) -> usize {
    let named = findings.filter(|finding| !finding.function.is_empty());
    named.map(|finding| (&*finding.place.path, finding.function.as_str())).collect::<HashSet<_>>().len()
}

/// The properties that decide which cause comes first.
struct CauseRank {
    /// True if the call itself was seen at run time, with the time for which it held its thread.
    confirmed: Option<(bool, f64)>,
    /// The functions that it frees, each divided by the number of causes that hold it; in parts of `WHOLE`.
    frees: u64,
    hold: Hold,
    severity: Severity,
    /// The points of the kind of its work.
    points: u32,
    mends: u32,
    also: Vec<u32>,
}

/// Can be divided by every number up to 12, beyond which rounding does no harm.
const WHOLE: u64 = 27_720;

impl CauseRank {
    /// Of a group; `all` are the findings that its cause is behind.
    fn new(findings: &[Finding], group: &Group, all: &[u32]) -> Self {
        let at = |index: &u32| findings.get(*index as usize);
        let mut frees: HashMap<(&Utf8Path, &str), u64> = HashMap::new();
        for finding in all.iter().filter_map(at) {
            let share = WHOLE / finding.causes.len().max(1) as u64;
            let of_function = frees.entry((&*finding.place.path, &*finding.function)).or_default();
            *of_function = share.max(*of_function);
        }
        let own: HashSet<u32> = group.findings.iter().copied().collect();
        let hold = group.findings.iter().filter_map(at).fold(Hold::Unstated, |hold, of| hold.longest(of.hold));
        let confirmed = group.findings.iter().filter_map(at).filter_map(|of| of.confirmed.as_ref());
        let confirmed = confirmed.map(|of| (of.exact, of.seconds.unwrap_or(0.0)));
        CauseRank {
            confirmed: confirmed.max_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.total_cmp(&b.1))),
            frees: frees.values().sum(),
            hold,
            points: group
                .findings
                .iter()
                .filter_map(at)
                .filter_map(|of| of.weight)
                .map(|of| of.points)
                .max()
                .unwrap_or(0),
            severity: group.findings.iter().filter_map(at).map(|of| of.severity).max().unwrap_or(Severity::Note),
            mends: all.iter().filter_map(at).filter(|finding| finding.causes.len() == 1).count() as u32,
            also: all.iter().copied().filter(|index| !own.contains(index)).collect(),
        }
    }

    fn cmp_worth(&self, other: &Self) -> Ordering {
        let ((rank, time), (other_rank, other_time)) = (self.hold.rank(), other.hold.rank());
        let seen = |of: &Self| of.confirmed.map(|(exact, _)| exact);
        let seconds = |of: &Self| of.confirmed.map_or(0.0, |(_, seconds)| seconds);
        (seen(self).cmp(&seen(other)))
            .then_with(|| seconds(self).total_cmp(&seconds(other)))
            .then_with(|| self.severity.cmp(&other.severity))
            .then_with(|| self.points.cmp(&other.points))
            .then_with(|| self.frees.cmp(&other.frees))
            .then_with(|| rank.cmp(&other_rank))
            .then_with(|| time.total_cmp(&other_time))
    }
}

/// Joins the traces of findings where they run through the same functions.
fn graph<'a>(findings: impl Iterator<Item = &'a Finding>) -> PathGraph {
    let mut graph = PathGraph::default();
    let mut nodes: HashMap<(Option<&Utf8Path>, &str), u32> = HashMap::new();
    let mut edges: HashMap<(u32, u32), usize> = HashMap::new();
    for finding in findings {
        let Some(last) = finding.trace.last() else {
            graph.paths.push(Vec::new());
            continue;
        };
        let steps = finding.trace.iter().enumerate().map(|(at, step)| {
            let kind = if at == 0 { PathNodeKind::Entry } else { PathNodeKind::Step };
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
            let known = &mut graph.nodes[node as usize];
            if kind == PathNodeKind::Entry {
                known.kind = kind;
            }
            // One that calls itself is passed twice.
            known.findings += u32::from(!path.contains(&node));
            path.push(node);
        }
        let mut taken = HashSet::new();
        for way in path.windows(2).map(|pair| (pair[0], pair[1])).filter(|way| taken.insert(*way)) {
            let edge = *edges.entry(way).or_insert_with(|| {
                graph.edges.push(PathEdge { from: way.0, to: way.1, findings: 0 });
                graph.edges.len() - 1
            });
            graph.edges[edge].findings += 1;
        }
        graph.paths.push(path);
    }
    let distances = distances(&graph.edges, graph.nodes.len());
    for (node, distance) in graph.nodes.iter_mut().zip(distances) {
        node.distance = distance;
    }
    graph
}

/// Returns for each node the number of calls to the end, on the longest path without a cycle.
fn distances(edges: &[PathEdge], nodes: usize) -> Vec<u32> {
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for edge in edges {
        callees[edge.from as usize].push(edge.to as usize);
    }
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        OnTheWay,
        Done,
    }
    let (mut distances, mut seen) = (vec![0; nodes], vec![Seen::Not; nodes]);
    for start in 0..nodes {
        if seen[start] != Seen::Not {
            continue;
        }
        seen[start] = Seen::OnTheWay;
        // A node, and how many of its callees were looked at.
        let mut way = vec![(start, 0)];
        while let Some((node, at)) = way.pop() {
            let Some(&callee) = callees[node].get(at) else {
                seen[node] = Seen::Done;
                if let Some((caller, _)) = way.last() {
                    distances[*caller] = distances[*caller].max(distances[node] + 1);
                }
                continue;
            };
            way.push((node, at + 1));
            match seen[callee] {
                Seen::Not => {
                    seen[callee] = Seen::OnTheWay;
                    way.push((callee, 0));
                }
                Seen::Done => distances[node] = distances[node].max(distances[callee] + 1),
                Seen::OnTheWay => {}
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

    /// Returns a finding in a function, with these causes and a trace through these functions.
    fn finding(function: &str, causes: &[&str], hold: Hold, way: &[&str]) -> Finding {
        let step = |function: &str, call: &str| Step {
            place: place(0),
            function: function.to_owned(),
            call: call.to_owned(),
            written: String::new(),
        };
        let mut functions = vec![function];
        functions.extend(way);
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
        let groups = crate::grouped(&findings);
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
        // Three functions by halves are less than two whole ones, and more than one that is stalled at two places.
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
    fn among_equals_what_holds_longest_comes_first_and_what_has_no_cause_last() {
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
    fn findings_of_another_best_path_are_told() {
        let (order, overview) =
            ranked(vec![finding("a", &["x"], Hold::Unstated, &[]), finding("b", &["y", "x"], Hold::Unstated, &[])]);
        assert_eq!(order, calls(&["x", "y"]));
        assert_eq!((overview.groups[0].also.as_slice(), overview.groups[1].also.as_slice()), (&[1][..], &[][..]));
    }

    #[test]
    fn traces_are_joined_where_they_meet() {
        let (_, overview) = ranked(vec![
            finding("a", &["get"], Hold::Unstated, &["load", "fetch"]),
            finding("b", &["get"], Hold::Unstated, &["fetch"]),
            // One that is an entry itself and lies on the path of another; and one that calls itself.
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
