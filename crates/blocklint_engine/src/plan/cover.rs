//! A greedy search for the few change points that free most functions, one change after the other.
//!
//! A change point on every path of a finding *dominates* the finding: its change ends the finding. If a finding has
//! several causes, each cause gets a share of the finding. The search chooses the change point with the greatest sum,
//! then the next one. It runs once with shares and once without, and [`cover`] returns the order that frees more
//! functions in its first steps.

use std::cmp::Reverse;
use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

/// The number of first steps by which the two orders are compared. They are the work of a day or two.
const COMPARED_STEPS: usize = 5;

/// A node of the paths of findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The change point of the node, by number.
    pub(super) change_point: u32,
    /// The nodes after it on paths; none if a path ends here.
    pub(super) next: Vec<u32>,
}

/// The part of a finding that the search needs.
#[derive(Clone, Debug)]
pub(super) struct PlanFinding {
    /// The function of the finding, by number.
    pub(super) function: u32,
    /// The nodes at which its paths begin.
    pub(super) start_nodes: Vec<u32>,
    /// The change point of the finding's own place.
    pub(super) direct_change: u32,
}

/// A change point, and the findings that its change ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Covered {
    pub(super) change_point: u32,
    /// The findings that this change ends, given the changes before it.
    pub(super) findings: Vec<u32>,
    /// The functions that have no finding left after this change.
    pub(super) functions: Vec<u32>,
}

/// The input of the search for a plan.
pub(super) struct Question<'q> {
    pub(super) nodes: &'q [Node],
    pub(super) findings: &'q [PlanFinding],
    /// The rank of each change point, which decides among equals; the lowest comes first.
    pub(super) ranks: &'q [u32],
    /// The change point to begin with, if another part of the report names it already.
    pub(super) first: Option<u32>,
}

/// Returns at most `limit` changes in order; fewer if they end all findings.
pub(super) fn cover(question: &Question<'_>, limit: usize) -> Vec<Covered> {
    let with_shares = choose_in_order(question, limit, true);
    let without_shares = choose_in_order(question, limit, false);
    let freed = |steps: &[Covered]| steps.iter().take(COMPARED_STEPS).map(|step| step.functions.len()).sum::<usize>();
    if freed(&without_shares) > freed(&with_shares) { without_shares } else { with_shares }
}

/// Returns the single change that frees most functions.
pub(super) fn best_single_change(question: &Question<'_>) -> Option<Covered> {
    choose_in_order(question, 1, false).into_iter().next()
}

/// Chooses change points one after the other. With shares, a cause counts for a part of a finding that has others too.
fn choose_in_order(question: &Question<'_>, limit: usize, with_shares: bool) -> Vec<Covered> {
    let mut open: Vec<u32> = (0..question.findings.len() as u32).collect();
    let mut changed: FxHashSet<u32> = FxHashSet::default();
    let mut steps = Vec::new();
    let mut paths = OpenPaths::new(question.nodes, &changed);
    while steps.len() < limit && !open.is_empty() {
        let begun = question.first.filter(|_| steps.is_empty());
        let Some(change_point) = begun.or_else(|| best_change_point(question, &paths, &open, with_shares)) else {
            break;
        };
        changed.insert(change_point);
        paths = OpenPaths::new(question.nodes, &changed);
        let is_left = |finding: &u32| {
            let finding = &question.findings[*finding as usize];
            finding.direct_change != change_point
                && (finding.start_nodes.is_empty() || finding.start_nodes.iter().any(|node| paths.is_open(*node)))
        };
        let (stays, ended): (Vec<u32>, Vec<u32>) = open.iter().partition(|finding| is_left(finding));
        let function = |finding: &u32| question.findings[*finding as usize].function;
        let still_affected: FxHashSet<u32> = stays.iter().map(function).collect();
        let mut functions: Vec<u32> = ended.iter().map(function).filter(|of| !still_affected.contains(of)).collect();
        functions.sort_unstable();
        functions.dedup();
        steps.push(Covered { change_point, findings: ended, functions });
        open = stays;
    }
    steps
}

/// One finding in shares. The number is divisible by every number up to 12; the rounding error of more causes does no
/// harm.
const WHOLE: u64 = 27_720;

/// Returns the change point that frees most functions.
fn best_change_point(question: &Question<'_>, paths: &OpenPaths<'_>, open: &[u32], with_shares: bool) -> Option<u32> {
    let mut findings_of_function: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for &finding in open {
        findings_of_function.entry(question.findings[finding as usize].function).or_default().push(finding);
    }
    let mut worth: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
    // Computed once for equal lists, because findings of many functions lead to the same calls.
    let mut ends: FxHashMap<&[u32], Vec<u32>> = FxHashMap::default();
    for findings in findings_of_function.values() {
        let mut shares: HashMap<u32, u64> = HashMap::new();
        for &finding in findings {
            let plan_finding = &question.findings[finding as usize];
            let dominating = paths.dominating(plan_finding);
            for &change_point in &dominating {
                *shares.entry(change_point).or_default() += WHOLE;
            }
            if with_shares {
                let ends =
                    ends.entry(&plan_finding.start_nodes).or_insert_with(|| paths.ends(&plan_finding.start_nodes));
                let share = WHOLE / (ends.len() as u64).max(1);
                for &change_point in ends.iter().filter(|change_point| dominating.binary_search(change_point).is_err())
                {
                    *shares.entry(change_point).or_default() += share;
                }
            }
        }
        let all = findings.len() as u64;
        for (change_point, sum) in shares {
            let of_change_point = worth.entry(change_point).or_default();
            of_change_point.0 += if with_shares { sum / all } else { u64::from(sum == WHOLE * all) };
            of_change_point.1 += sum;
        }
    }
    let rank = |change_point: u32| question.ranks.get(change_point as usize).copied().unwrap_or(u32::MAX);
    worth
        .into_iter()
        .max_by_key(|&(change_point, of_change_point)| (of_change_point, Reverse((rank(change_point), change_point))))
        .map(|(change_point, _)| change_point)
}

/// The paths that are still open after some change points were changed.
struct OpenPaths<'q> {
    nodes: &'q [Node],
    /// For each node with an open path to an end, the change points on all of its open paths, sorted.
    dominating: Vec<Option<Vec<u32>>>,
}

impl<'q> OpenPaths<'q> {
    fn new(nodes: &'q [Node], changed: &FxHashSet<u32>) -> Self {
        let is_unchanged = |node: &Node| !changed.contains(&node.change_point);
        let mut callers: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
        for (index, node) in (0u32..).zip(nodes) {
            for &next in &node.next {
                callers[next as usize].push(index);
            }
        }
        let mut dominating: Vec<Option<Vec<u32>>> = vec![None; nodes.len()];
        let mut queue: Vec<u32> = Vec::new();
        for (index, node) in (0u32..).zip(nodes).filter(|(_, node)| node.next.is_empty() && is_unchanged(node)) {
            dominating[index as usize] = Some(vec![node.change_point]);
            queue.push(index);
        }
        // A fixed point: an unknown set counts as the set of all change points. Sets only shrink, so cycles settle.
        while let Some(index) = queue.pop() {
            for &caller in &callers[index as usize] {
                let node = &nodes[caller as usize];
                if !is_unchanged(node) {
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

    /// Returns the change points each of which ends the finding alone, sorted.
    fn dominating(&self, finding: &PlanFinding) -> Vec<u32> {
        let mut common =
            intersection(finding.start_nodes.iter().filter_map(|node| self.dominating[*node as usize].as_deref()));
        if let Err(place) = common.binary_search(&finding.direct_change) {
            common.insert(place, finding.direct_change);
        }
        common
    }

    /// Returns the change points at the ends of the open paths from some nodes, sorted.
    fn ends(&self, start_nodes: &[u32]) -> Vec<u32> {
        let mut visited: FxHashSet<u32> = FxHashSet::default();
        let mut queue: Vec<u32> = start_nodes.iter().copied().filter(|node| self.is_open(*node)).collect();
        let mut ends = Vec::new();
        while let Some(at) = queue.pop() {
            if !visited.insert(at) {
                continue;
            }
            let node = &self.nodes[at as usize];
            if node.next.is_empty() {
                ends.push(node.change_point);
            }
            queue.extend(node.next.iter().copied().filter(|next| self.is_open(*next)));
        }
        ends.sort_unstable();
        ends.dedup();
        ends
    }
}

/// Returns the numbers that all of these sorted lists contain.
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

    /// Returns a node for each list of next nodes; each node is its own change point.
    fn nodes(next: &[&[u32]]) -> Vec<Node> {
        (0u32..).zip(next).map(|(change_point, next)| Node { change_point, next: next.to_vec() }).collect()
    }

    /// Returns one finding for each list of first nodes, each in its own function.
    fn findings(nodes: &[Node], start_nodes: &[&[u32]]) -> Vec<PlanFinding> {
        let first_direct = nodes.len() as u32;
        (0u32..)
            .zip(start_nodes)
            .map(|(function, start_nodes)| PlanFinding {
                function,
                start_nodes: start_nodes.to_vec(),
                direct_change: first_direct + function,
            })
            .collect()
    }

    fn freed(nodes: &[Node], findings: &[PlanFinding], limit: usize) -> Vec<(u32, usize)> {
        let ranks: Vec<u32> = (0..(nodes.len() + findings.len()) as u32).collect();
        let steps = cover(&Question { nodes, findings, ranks: &ranks, first: None }, limit);
        steps.iter().map(|step| (step.change_point, step.functions.len())).collect()
    }

    #[test]
    fn question_can_fix_the_first_change() {
        let nodes = nodes(&[&[], &[], &[0, 1]]);
        let findings = findings(&nodes, &[&[2], &[2], &[2], &[0]]);
        let ranks: Vec<u32> = (0..(nodes.len() + findings.len()) as u32).collect();
        let question = Question { nodes: &nodes, findings: &findings, ranks: &ranks, first: Some(0) };
        let change_points: Vec<u32> = cover(&question, 9).iter().map(|step| step.change_point).collect();
        assert_eq!(change_points, [0, 1]);
    }

    #[test]
    fn a_helper_on_all_paths_comes_before_its_calls() {
        // Two blocking calls, and the helper that makes both.
        let nodes = nodes(&[&[], &[], &[0, 1]]);
        let findings = findings(&nodes, &[&[2], &[2], &[2], &[0]]);
        assert_eq!(freed(&nodes, &findings, 9), [(2, 3), (0, 1)]);
    }

    #[test]
    fn causes_that_free_only_together_come_before_a_smaller_cause() {
        // Six functions wait for two calls each, three for a third one.
        let nodes = nodes(&[&[], &[], &[]]);
        let both: &[u32] = &[0, 1];
        let third: &[u32] = &[2];
        let start_nodes: Vec<&[u32]> = [[both].repeat(8), [third].repeat(3)].concat();
        let findings = findings(&nodes, &start_nodes);
        assert_eq!(freed(&nodes, &findings, 2), [(0, 0), (1, 8)]);
    }

    #[test]
    fn cycles_settle() {
        let nodes = nodes(&[&[], &[2, 0], &[1]]);
        let findings = findings(&nodes, &[&[1], &[2]]);
        assert_eq!(freed(&nodes, &findings, 9), [(0, 2)]);
    }

    #[test]
    fn findings_without_paths_are_changed_at_their_place() {
        let findings = findings(&[], &[&[], &[]]);
        assert_eq!(freed(&[], &findings, 9), [(0, 1), (1, 1)]);
    }

    #[test]
    fn a_function_is_free_after_its_last_finding() {
        let nodes = nodes(&[&[], &[]]);
        let one =
            |start_node: u32, direct_change| PlanFinding { function: 0, start_nodes: vec![start_node], direct_change };
        let findings = [one(0, 2), one(1, 3)];
        assert_eq!(freed(&nodes, &findings, 9), [(0, 0), (1, 1)]);
    }
}
