//! The change to begin with, chosen by the traces and causes of findings alone, because the program may be freed. The
//! summary of `check` names this change, and a plan begins with it.

use std::collections::HashMap;
use std::sync::Arc;

use blocklint_core::{Cause, Finding, Group, Span};
use blocklint_output::{Begin, BeginKind};
use camino::Utf8Path;

use super::cover::{Node, PlanFinding, Question, best_single_change};

/// The identity of a change point, by the cause, function or finding that it changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ChangeKey {
    /// The line that enters a library.
    Cause(Arc<Utf8Path>, Span, String),
    /// A function, by its qualified name.
    Function(String),
    /// The place of a finding, by its number.
    Finding(u32),
}

/// Change points and nodes of paths by number.
#[derive(Default)]
struct Numbers {
    change_points: Vec<ChangeKey>,
    number_of_change_point: HashMap<ChangeKey, u32>,
    nodes: Vec<Node>,
    number_of_node: HashMap<(u32, Option<u32>), u32>,
}

impl Numbers {
    fn intern_change_point(&mut self, key: ChangeKey) -> u32 {
        *self.number_of_change_point.entry(key.clone()).or_insert_with(|| {
            self.change_points.push(key);
            self.change_points.len() as u32 - 1
        })
    }

    fn intern_node(&mut self, key: ChangeKey, next: Option<u32>) -> u32 {
        let change_point = self.intern_change_point(key);
        *self.number_of_node.entry((change_point, next)).or_insert_with(|| {
            self.nodes.push(Node { change_point, next: next.into_iter().collect() });
            self.nodes.len() as u32 - 1
        })
    }
}

/// Returns the change that frees most functions; `None` if it ends only one finding.
pub(crate) fn change_to_begin_with(findings: &[Finding], groups: &[Group]) -> Option<Begin> {
    let mut numbers = Numbers::default();
    let mut functions: HashMap<(&Utf8Path, &str), u32> = HashMap::new();
    let planned: Vec<&Finding> = findings.iter().filter(|finding| !finding.function.is_empty()).collect();
    let plan_findings: Vec<PlanFinding> = (0u32..)
        .zip(&planned)
        .map(|(index, finding)| {
            let next_number = functions.len() as u32;
            let function = *functions.entry((&finding.place.path, &finding.function)).or_insert(next_number);
            let mut start_nodes: Vec<u32> = Vec::new();
            for (cause_index, cause) in finding.causes.iter().enumerate() {
                // The trace leads to the first cause. Of the path to another cause, only the part of the trace up to
                // the function with that cause is known.
                let last = match cause_index {
                    0 => finding.trace.len().saturating_sub(1),
                    _ => finding.trace.iter().rposition(|step| step.function == cause.function).unwrap_or(0),
                };
                let mut node = numbers.intern_node(cause_key(cause), None);
                for step in finding.trace.iter().take(last + 1).skip(1).rev() {
                    node = numbers.intern_node(ChangeKey::Function(step.function.clone()), Some(node));
                }
                start_nodes.push(node);
            }
            // A blocking call directly in a function that must not block is its own cause.
            let direct_change = match (&finding.causes[..], finding.trace.len()) {
                ([cause], 1) => numbers.intern_change_point(cause_key(cause)),
                _ => numbers.intern_change_point(ChangeKey::Finding(index)),
            };
            PlanFinding { function, start_nodes, direct_change }
        })
        .collect();
    let causes = (0u32..).zip(groups).filter_map(|(rank, group)| Some((cause_key(group.cause.as_ref()?), rank)));
    let group_ranks: HashMap<ChangeKey, u32> = causes.collect();
    let count = groups.len() as u32;
    let rank = |key: &ChangeKey| match key {
        ChangeKey::Cause(..) => group_ranks.get(key).copied().unwrap_or(count),
        ChangeKey::Function(_) => count + 1,
        ChangeKey::Finding(_) => count + 2,
    };
    let ranks: Vec<u32> = numbers.change_points.iter().map(rank).collect();
    let question = Question { nodes: &numbers.nodes, findings: &plan_findings, ranks: &ranks, first: None };
    let best_change = best_single_change(&question).filter(|best_change| best_change.findings.len() > 1)?;
    let (kind, place, function, call) = match numbers.change_points.get(best_change.change_point as usize)? {
        key @ ChangeKey::Cause(..) => {
            let cause = planned.iter().flat_map(|of| &of.causes).find(|cause| cause_key(cause) == *key)?;
            (BeginKind::Cause, Some(cause.place.clone()), cause.function.clone(), cause.call.clone())
        }
        ChangeKey::Function(name) => (BeginKind::Function, None, name.clone(), String::new()),
        ChangeKey::Finding(index) => {
            let finding = planned.get(*index as usize)?;
            let call = finding.trace.first().map_or_else(String::new, |step| step.call.clone());
            (BeginKind::Call, Some(finding.place.clone()), finding.function.clone(), call)
        }
    };
    Some(Begin { kind, place, function, call, mends: best_change.findings.len() as u32 })
}

fn cause_key(cause: &Cause) -> ChangeKey {
    ChangeKey::Cause(Arc::clone(&cause.place.path), cause.place.span, cause.call.clone())
}
