//! The paths of findings with the names and places of their change points. They are copied out of the program, because
//! it is freed before the plan is made.

use std::sync::Arc;

use blocklint_analysis::{ChangePoint, Linker, Solved};
use blocklint_core::{Finding, Place, RuleCode, Span};
use camino::Utf8Path;
use rustc_hash::FxHashMap;

use super::cover::Node;
use crate::words::place_of;

/// The paths of all findings as one graph.
#[derive(Debug, Default)]
pub struct FindingPaths {
    pub(super) nodes: Vec<Node>,
    pub(super) change_points: Vec<NamedChangePoint>,
    /// The nodes at which the paths of each finding begin.
    start_nodes: FxHashMap<FindingKey, Vec<u32>>,
}

/// The place and the rule of a finding.
type FindingKey = (Arc<Utf8Path>, Span, RuleCode);

/// A change point with its name and place.
#[derive(Clone, Debug)]
pub(super) struct NamedChangePoint {
    /// The place of the call, or of the name in the function's definition.
    pub(super) place: Place,
    /// The function, or the function that contains the call.
    pub(super) function: String,
    /// The called path (`requests.get`); `None` if the change point is a function.
    pub(super) call: Option<String>,
}

impl FindingPaths {
    /// Copies the paths of a solved program; `None` if the analysis kept no paths.
    pub(crate) fn new(linker: &Linker<'_>, solved: &Solved) -> Option<Self> {
        let net = solved.path_network.as_ref()?;
        let named = |change_point: &ChangePoint| match *change_point {
            ChangePoint::Body(body) => Some(NamedChangePoint {
                place: place_of(linker, body.file, linker.program.body(body).name_span),
                function: linker.qualified_name(body),
                call: None,
            }),
            ChangePoint::Cause(cause) => {
                let cause = solved.causes.get(cause as usize)?;
                Some(NamedChangePoint {
                    place: place_of(linker, cause.file, cause.span),
                    function: cause.function.clone(),
                    call: Some(cause.call.clone()),
                })
            }
        };
        let start_nodes = net.start_nodes.iter().map(|(&(file, span, rule), start_nodes)| {
            let path = Arc::clone(&linker.program.files[file.index()].path);
            ((path, span, rule), start_nodes.clone())
        });
        Some(FindingPaths {
            nodes: net
                .nodes
                .iter()
                .map(|node| Node { change_point: node.change_point, next: node.next.clone() })
                .collect(),
            change_points: net.change_points.iter().map(named).collect::<Option<_>>()?,
            start_nodes: start_nodes.collect(),
        })
    }

    /// Returns the nodes at which the paths of a finding begin; none if it has no path.
    pub(super) fn start_nodes(&self, finding: &Finding) -> &[u32] {
        let key = (Arc::clone(&finding.place.path), finding.place.span, finding.rule);
        self.start_nodes.get(&key).map_or(&[], Vec::as_slice)
    }
}
