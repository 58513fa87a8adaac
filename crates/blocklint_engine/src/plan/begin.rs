//! The change to begin with, as far as the paths and causes of findings show: `check` names it, and a plan begins with
//! it.

use std::collections::HashMap;
use std::sync::Arc;

use blocklint_core::{Cause, Finding, Group, Span};
use blocklint_output::{Begin, BeginKind};
use camino::Utf8Path;

use super::cover::{Node, PlanFinding, Question, first_at_once};

/// The place that one would change, known without the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// The line that enters a library.
    Cause(Arc<Utf8Path>, Span, String),
    /// A function as a whole.
    Function(String),
    /// The place of the finding of this number.
    Own(u32),
}

/// Numbers for change points and the nodes of paths.
#[derive(Default)]
struct Numbers {
    change_points: Vec<Key>,
    of_change_point: HashMap<Key, u32>,
    nodes: Vec<Node>,
    of_node: HashMap<(u32, Option<u32>), u32>,
}

impl Numbers {
    fn change_point(&mut self, key: Key) -> u32 {
        *self.of_change_point.entry(key.clone()).or_insert_with(|| {
            self.change_points.push(key);
            self.change_points.len() as u32 - 1
        })
    }

    fn node(&mut self, key: Key, next: Option<u32>) -> u32 {
        let change_point = self.change_point(key);
        *self.of_node.entry((change_point, next)).or_insert_with(|| {
            self.nodes.push(Node { change_point, next: next.into_iter().collect() });
            self.nodes.len() as u32 - 1
        })
    }
}

/// Returns the change that frees most functions, if it ends more than one finding.
pub(crate) fn begin(findings: &[Finding], groups: &[Group]) -> Option<Begin> {
    let mut numbers = Numbers::default();
    let mut functions: HashMap<(&Utf8Path, &str), u32> = HashMap::new();
    let planned: Vec<&Finding> = findings.iter().filter(|finding| !finding.function.is_empty()).collect();
    let ones: Vec<PlanFinding> = (0u32..)
        .zip(&planned)
        .map(|(at, finding)| {
            let new = functions.len() as u32;
            let function = *functions.entry((&finding.place.path, &finding.function)).or_insert(new);
            let mut begins: Vec<u32> = Vec::new();
            for (nth, cause) in finding.causes.iter().enumerate() {
                // The path leads to the first cause; to another one as far as to the function that it stands in.
                let last = match nth {
                    0 => finding.trace.len().saturating_sub(1),
                    _ => finding.trace.iter().rposition(|step| step.function == cause.function).unwrap_or(0),
                };
                let mut node = numbers.node(cause_key(cause), None);
                for step in finding.trace.iter().take(last + 1).skip(1).rev() {
                    node = numbers.node(Key::Function(step.function.clone()), Some(node));
                }
                begins.push(node);
            }
            // A call that blocks right where it must not is its own cause.
            let own = match (&finding.causes[..], finding.trace.len()) {
                ([only], 1) => numbers.change_point(cause_key(only)),
                _ => numbers.change_point(Key::Own(at)),
            };
            PlanFinding { function, begins, own }
        })
        .collect();
    let causes = (0u32..).zip(groups).filter_map(|(at, group)| Some((cause_key(group.cause.as_ref()?), at)));
    let of_group: HashMap<Key, u32> = causes.collect();
    let count = groups.len() as u32;
    let rank = |key: &Key| match key {
        Key::Cause(..) => of_group.get(key).copied().unwrap_or(count),
        Key::Function(_) => count + 1,
        Key::Own(_) => count + 2,
    };
    let ranks: Vec<u32> = numbers.change_points.iter().map(rank).collect();
    let question = Question { nodes: &numbers.nodes, findings: &ones, ranks: &ranks, first: None };
    let first = first_at_once(&question).filter(|first| first.findings.len() > 1)?;
    let (kind, place, function, call) = match numbers.change_points.get(first.change_point as usize)? {
        key @ Key::Cause(..) => {
            let cause = planned.iter().flat_map(|of| &of.causes).find(|cause| cause_key(cause) == *key)?;
            (BeginKind::Cause, Some(cause.place.clone()), cause.function.clone(), cause.call.clone())
        }
        Key::Function(name) => (BeginKind::Function, None, name.clone(), String::new()),
        Key::Own(at) => {
            let finding = planned.get(*at as usize)?;
            let call = finding.trace.first().map_or_else(String::new, |step| step.call.clone());
            (BeginKind::Call, Some(finding.place.clone()), finding.function.clone(), call)
        }
    };
    Some(Begin { kind, place, function, call, mends: first.findings.len() as u32 })
}

fn cause_key(cause: &Cause) -> Key {
    Key::Cause(Arc::clone(&cause.place.path), cause.place.span, cause.call.clone())
}
