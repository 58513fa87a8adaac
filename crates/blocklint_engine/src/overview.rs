//! Which cause is to be mended first, and what is said of each.

use std::cmp::{Ordering, Reverse};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blocklint_core::{Cause, Confidence, Finding, Group, Hold, RuleCode, Severity, Span, fingerprint};
use blocklint_output::{GroupOverview, Overview, PathEdge, PathGraph, PathNode, PathNodeKind};
use camino::Utf8Path;

use crate::choose::Chosen;

/// Puts the groups into the order in which they are worth mending, and says what there is to say of each. Paths count from
/// `root`.
///
/// A cause comes first that frees more functions which must not block. One that shares a finding with `n - 1` other causes is
/// given the `n`-th part of it: only together do they free it. Among equals the one that holds a thread longer, is worse, or is
/// reached by more functions of the program comes first. Groups without a cause stay last, in their order.
pub fn overview(chosen: &mut Chosen, root: &Utf8Path) -> Overview {
    let findings = &chosen.findings;
    let behind = findings_behind(findings);
    let mut groups: Vec<(Group, Standing)> = std::mem::take(&mut chosen.groups)
        .into_iter()
        .map(|group| {
            let all = group.cause.as_ref().and_then(|cause| behind.get(&key(cause))).map_or(&[][..], Vec::as_slice);
            let standing = Standing::new(findings, &group, all);
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
        .max_by_key(|at| (overviews[*at].mends, Reverse(*at)));
    let functions = functions(findings.iter()) as u32;
    chosen.groups = groups.into_iter().map(|(group, _)| group).collect();
    Overview { groups: overviews, functions, first }
}

/// What tells one cause from another.
type Key = (Arc<Utf8Path>, Span, String);

fn key(cause: &Cause) -> Key {
    (Arc::clone(&cause.place.path), cause.place.span, cause.call.clone())
}

/// The findings behind each cause, be it that of their best path or another.
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

/// How many functions the findings stand in.
fn functions<'a>(findings: impl Iterator<Item = &'a Finding>) -> usize {
    findings.map(|finding| (&*finding.place.path, finding.function.as_str())).collect::<HashSet<_>>().len()
}

/// What decides which cause comes first.
struct Standing {
    /// The functions that it frees, each divided by the number of causes that hold it; in parts of `WHOLE`.
    frees: u64,
    hold: Hold,
    severity: Severity,
    mends: u32,
    also: Vec<u32>,
}

/// Can be divided by every number up to 12, beyond which rounding does no harm.
const WHOLE: u64 = 27_720;

impl Standing {
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
        Standing {
            frees: frees.values().sum(),
            hold,
            severity: group.findings.iter().filter_map(at).map(|of| of.severity).max().unwrap_or(Severity::Note),
            mends: all.iter().filter_map(at).filter(|finding| finding.causes.len() == 1).count() as u32,
            also: all.iter().copied().filter(|index| !own.contains(index)).collect(),
        }
    }

    fn cmp_worth(&self, other: &Self) -> Ordering {
        let ((rank, time), (other_rank, other_time)) = (self.hold.rank(), other.hold.rank());
        (self.frees.cmp(&other.frees))
            .then_with(|| rank.cmp(&other_rank))
            .then_with(|| time.total_cmp(&other_time))
            .then_with(|| self.severity.cmp(&other.severity))
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
        let length = finding.trace.len();
        let steps = finding.trace.iter().enumerate().map(|(at, step)| {
            let kind = if at == 0 { PathNodeKind::Entry } else { PathNodeKind::Step };
            ((Some(&*step.place.path), step.function.as_str()), kind)
        });
        let steps = steps.chain([((None, last.call.as_str()), PathNodeKind::Call)]);
        let mut path: Vec<u32> = Vec::with_capacity(length + 1);
        for (at, (key, kind)) in steps.enumerate() {
            let node = *nodes.entry(key).or_insert_with(|| {
                let node = PathNode { name: key.1.to_owned(), kind, distance: 0, findings: 0 };
                graph.nodes.push(node);
                graph.nodes.len() as u32 - 1
            });
            let known = &mut graph.nodes[node as usize];
            known.distance = known.distance.max((length - at) as u32);
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
    graph
}
