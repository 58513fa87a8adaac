//! The few change points which, changed one after the other, free most functions.
//!
//! A change point that lies on every path of a finding ends it by itself (it *dominates* it); if a finding has several
//! causes, each of them gets a share of it. The change point with the greatest sum is chosen, then the next. This is
//! done once with shares and once without; the order that frees more functions in its first steps is used.

use std::cmp::Reverse;
use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

/// The steps after which the two orders are compared: work for a day or two.
const COMPARED: usize = 5;

/// A node of paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The place that a change would edit.
    pub(super) change_point: u32,
    /// Where it leads; nowhere from an end.
    pub(super) next: Vec<u32>,
}

/// A finding, as far as it matters here.
#[derive(Clone, Debug)]
pub(super) struct PlanFinding {
    /// The function that it stands in, by number.
    pub(super) function: u32,
    /// The nodes at which its paths begin.
    pub(super) begins: Vec<u32>,
    /// The change point of its own place.
    pub(super) own: u32,
}

/// A change point, and the findings that its change ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Covered {
    pub(super) change_point: u32,
    /// The findings that end with it, after the changes before it.
    pub(super) findings: Vec<u32>,
    /// The functions in which then nothing is left.
    pub(super) functions: Vec<u32>,
}

/// The input of the search for a plan.
pub(super) struct Question<'q> {
    pub(super) nodes: &'q [Node],
    pub(super) findings: &'q [PlanFinding],
    /// For each change point its rank among equals, the lowest first.
    pub(super) ranks: &'q [u32],
    /// The change point to begin with, if another part of the report names it too.
    pub(super) first: Option<u32>,
}

/// Returns at most so many changes, in order, and fewer if nothing is left.
pub(super) fn cover(question: &Question<'_>, most: usize) -> Vec<Covered> {
    let with_parts = in_order(question, most, true);
    let at_once = in_order(question, most, false);
    let freed = |steps: &[Covered]| steps.iter().take(COMPARED).map(|step| step.functions.len()).sum::<usize>();
    if freed(&at_once) > freed(&with_parts) { at_once } else { with_parts }
}

/// Returns the change that frees most by itself.
pub(super) fn first_at_once(question: &Question<'_>) -> Option<Covered> {
    in_order(question, 1, false).into_iter().next()
}

fn in_order(question: &Question<'_>, most: usize, with_parts: bool) -> Vec<Covered> {
    let mut left: Vec<u32> = (0..question.findings.len() as u32).collect();
    let mut changed: FxHashSet<u32> = FxHashSet::default();
    let mut steps = Vec::new();
    let mut paths = OpenPaths::new(question.nodes, &changed);
    while steps.len() < most && !left.is_empty() {
        let begun = question.first.filter(|_| steps.is_empty());
        let Some(change_point) = begun.or_else(|| best(question, &paths, &left, with_parts)) else { break };
        changed.insert(change_point);
        paths = OpenPaths::new(question.nodes, &changed);
        let is_left = |finding: &u32| {
            let one = &question.findings[*finding as usize];
            one.own != change_point && (one.begins.is_empty() || one.begins.iter().any(|node| paths.is_open(*node)))
        };
        let (stays, ended): (Vec<u32>, Vec<u32>) = left.iter().partition(|finding| is_left(finding));
        let function = |finding: &u32| question.findings[*finding as usize].function;
        let held: FxHashSet<u32> = stays.iter().map(function).collect();
        let mut functions: Vec<u32> = ended.iter().map(function).filter(|of| !held.contains(of)).collect();
        functions.sort_unstable();
        functions.dedup();
        steps.push(Covered { change_point, findings: ended, functions });
        left = stays;
    }
    steps
}

/// The parts of a function that one change point frees; can be divided by every number up to 12, beyond which rounding
/// does no harm.
const WHOLE: u64 = 27_720;

/// Returns the change point that frees most.
fn best(question: &Question<'_>, paths: &OpenPaths<'_>, left: &[u32], with_parts: bool) -> Option<u32> {
    let mut of_function: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for &finding in left {
        of_function.entry(question.findings[finding as usize].function).or_default().push(finding);
    }
    let mut worth: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
    // Findings of many functions lead to the same calls.
    let mut ends: FxHashMap<&[u32], Vec<u32>> = FxHashMap::default();
    for findings in of_function.values() {
        let mut parts: HashMap<u32, u64> = HashMap::new();
        for &finding in findings {
            let one = &question.findings[finding as usize];
            let dominating = paths.dominating(one);
            for &change_point in &dominating {
                *parts.entry(change_point).or_default() += WHOLE;
            }
            if with_parts {
                let ends = ends.entry(&one.begins).or_insert_with(|| paths.ends(&one.begins));
                let part = WHOLE / (ends.len() as u64).max(1);
                for &change_point in ends.iter().filter(|change_point| dominating.binary_search(change_point).is_err())
                {
                    *parts.entry(change_point).or_default() += part;
                }
            }
        }
        let all = findings.len() as u64;
        for (change_point, sum) in parts {
            let of_change_point = worth.entry(change_point).or_default();
            of_change_point.0 += if with_parts { sum / all } else { u64::from(sum == WHOLE * all) };
            of_change_point.1 += sum;
        }
    }
    let rank = |change_point: u32| question.ranks.get(change_point as usize).copied().unwrap_or(u32::MAX);
    worth
        .into_iter()
        .max_by_key(|&(change_point, of_change_point)| (of_change_point, Reverse((rank(change_point), change_point))))
        .map(|(change_point, _)| change_point)
}

/// The paths that are left when some change points are changed.
struct OpenPaths<'q> {
    nodes: &'q [Node],
    /// For each node that still leads to an end, the change points that lie on each of its paths, sorted.
    dominating: Vec<Option<Vec<u32>>>,
}

impl<'q> OpenPaths<'q> {
    fn new(nodes: &'q [Node], changed: &FxHashSet<u32>) -> Self {
        let is_there = |node: &Node| !changed.contains(&node.change_point);
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
        for (at, node) in (0u32..).zip(nodes) {
            for &next in &node.next {
                before[next as usize].push(at);
            }
        }
        let mut dominating: Vec<Option<Vec<u32>>> = vec![None; nodes.len()];
        let mut queue: Vec<u32> = Vec::new();
        for (at, node) in (0u32..).zip(nodes).filter(|(_, node)| node.next.is_empty() && is_there(node)) {
            dominating[at as usize] = Some(vec![node.change_point]);
            queue.push(at);
        }
        // A set that is not known yet counts as full, because sets only shrink, so that cycles settle.
        while let Some(at) = queue.pop() {
            for &caller in &before[at as usize] {
                let node = &nodes[caller as usize];
                if !is_there(node) {
                    continue;
                }
                let known = node.next.iter().filter_map(|next| dominating[*next as usize].as_deref());
                let mut common = intersection(known);
                if let Err(place) = common.binary_search(&node.change_point) {
                    common.insert(place, node.change_point);
                }
                if dominating[caller as usize].as_ref() != Some(&common) {
                    dominating[caller as usize] = Some(common);
                    queue.push(caller);
                }
            }
        }
        OpenPaths { nodes, dominating }
    }

    fn is_open(&self, node: u32) -> bool {
        self.dominating[node as usize].is_some()
    }

    /// Returns the change points each of which ends a finding, sorted.
    fn dominating(&self, one: &PlanFinding) -> Vec<u32> {
        let mut common = intersection(one.begins.iter().filter_map(|node| self.dominating[*node as usize].as_deref()));
        if let Err(place) = common.binary_search(&one.own) {
            common.insert(place, one.own);
        }
        common
    }

    /// Returns the change points of the ends that some nodes lead to, sorted.
    fn ends(&self, begins: &[u32]) -> Vec<u32> {
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut open: Vec<u32> = begins.iter().copied().filter(|node| self.is_open(*node)).collect();
        let mut ends = Vec::new();
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            let node = &self.nodes[at as usize];
            if node.next.is_empty() {
                ends.push(node.change_point);
            }
            open.extend(node.next.iter().copied().filter(|next| self.is_open(*next)));
        }
        ends.sort_unstable();
        ends.dedup();
        ends
    }
}

/// Returns the numbers that all of some sorted lists contain.
fn intersection<'s>(mut lists: impl Iterator<Item = &'s [u32]>) -> Vec<u32> {
    let mut common = lists.next().map(<[u32]>::to_vec).unwrap_or_default();
    for list in lists {
        common.retain(|change_point| list.binary_search(change_point).is_ok());
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns nodes of which each is its own change point, by the nodes that they lead to.
    fn nodes(next: &[&[u32]]) -> Vec<Node> {
        (0u32..).zip(next).map(|(change_point, next)| Node { change_point, next: next.to_vec() }).collect()
    }

    /// Returns one finding for each function; their own change points come after the nodes.
    fn findings(nodes: &[Node], begins: &[&[u32]]) -> Vec<PlanFinding> {
        let own = nodes.len() as u32;
        (0u32..)
            .zip(begins)
            .map(|(function, begins)| PlanFinding { function, begins: begins.to_vec(), own: own + function })
            .collect()
    }

    fn freed(nodes: &[Node], findings: &[PlanFinding], most: usize) -> Vec<(u32, usize)> {
        let ranks: Vec<u32> = (0..(nodes.len() + findings.len()) as u32).collect();
        let steps = cover(&Question { nodes, findings, ranks: &ranks, first: None }, most);
        steps.iter().map(|step| (step.change_point, step.functions.len())).collect()
    }

    #[test]
    fn the_first_change_may_be_told() {
        let nodes = nodes(&[&[], &[], &[0, 1]]);
        let findings = findings(&nodes, &[&[2], &[2], &[2], &[0]]);
        let ranks: Vec<u32> = (0..(nodes.len() + findings.len()) as u32).collect();
        let question = Question { nodes: &nodes, findings: &findings, ranks: &ranks, first: Some(0) };
        let change_points: Vec<u32> = cover(&question, 9).iter().map(|step| step.change_point).collect();
        assert_eq!(change_points, [0, 1]);
    }

    #[test]
    fn a_helper_on_all_ways_is_worth_more_than_each_of_its_calls() {
        // Two calls that block, and the helper that makes both.
        let nodes = nodes(&[&[], &[], &[0, 1]]);
        let findings = findings(&nodes, &[&[2], &[2], &[2], &[0]]);
        assert_eq!(freed(&nodes, &findings, 9), [(2, 3), (0, 1)]);
    }

    #[test]
    fn causes_that_only_free_together_come_before_a_smaller_one() {
        // Six functions wait for two calls each, three for a third one.
        let nodes = nodes(&[&[], &[], &[]]);
        let both: &[u32] = &[0, 1];
        let third: &[u32] = &[2];
        let begins: Vec<&[u32]> = [[both].repeat(8), [third].repeat(3)].concat();
        let findings = findings(&nodes, &begins);
        assert_eq!(freed(&nodes, &findings, 2), [(0, 0), (1, 8)]);
    }

    #[test]
    fn circles_settle() {
        let nodes = nodes(&[&[], &[2, 0], &[1]]);
        let findings = findings(&nodes, &[&[1], &[2]]);
        assert_eq!(freed(&nodes, &findings, 9), [(0, 2)]);
    }

    #[test]
    fn what_leads_nowhere_is_changed_where_it_stands() {
        let findings = findings(&[], &[&[], &[]]);
        assert_eq!(freed(&[], &findings, 9), [(0, 1), (1, 1)]);
    }

    #[test]
    fn a_function_is_free_when_nothing_is_left_in_it() {
        let nodes = nodes(&[&[], &[]]);
        let one = |begins: u32, own| PlanFinding { function: 0, begins: vec![begins], own };
        let findings = [one(0, 2), one(1, 3)];
        assert_eq!(freed(&nodes, &findings, 9), [(0, 0), (1, 1)]);
    }
}
