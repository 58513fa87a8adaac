//! The paths of findings and their change points, as text, because the program is freed before the plan is made.

use std::sync::Arc;

use blocklint_analysis::{ChangePoint, Linker, Solved};
use blocklint_core::{Finding, Place, RuleCode, Span};
use camino::Utf8Path;
use rustc_hash::FxHashMap;

use super::cover::Node;
use crate::words::place;

/// The paths of findings.
#[derive(Debug, Default)]
pub struct FindingPaths {
    pub(super) nodes: Vec<Node>,
    pub(super) change_points: Vec<NamedChangePoint>,
    /// The nodes at which the paths of each finding begin.
    begins: FxHashMap<FindingKey, Vec<u32>>,
}

/// Where a finding stands, and its rule.
type FindingKey = (Arc<Utf8Path>, Span, RuleCode);

/// A change point with its names and place.
#[derive(Clone, Debug)]
pub(super) struct NamedChangePoint {
    /// The call, or the name of the function.
    pub(super) place: Place,
    /// The function, or the one that the call stands in.
    pub(super) function: String,
    /// The library's call, or what the call runs; none of a function as a whole.
    pub(super) call: Option<String>,
}

impl FindingPaths {
    /// Reads the paths off a solved program; `None` if the analysis was not asked for them.
    pub(crate) fn new(linker: &Linker<'_>, solved: &Solved) -> Option<Self> {
        let net = solved.path_network.as_ref()?;
        let named = |change_point: &ChangePoint| match *change_point {
            ChangePoint::Body(body) => Some(NamedChangePoint {
                place: place(linker, body.file, linker.program.body(body).name_span),
                function: linker.qualified_name(body),
                call: None,
            }),
            ChangePoint::Cause(cause) => {
                let cause = solved.causes.get(cause as usize)?;
                Some(NamedChangePoint {
                    place: place(linker, cause.file, cause.span),
                    function: cause.function.clone(),
                    call: Some(cause.call.clone()),
                })
            }
        };
        let begins = net.begins.iter().map(|(&(file, span, rule), begins)| {
            let path = Arc::clone(&linker.program.files[file.index()].path);
            ((path, span, rule), begins.clone())
        });
        Some(FindingPaths {
            nodes: net
                .nodes
                .iter()
                .map(|node| Node { change_point: node.change_point, next: node.next.clone() })
                .collect(),
            change_points: net.change_points.iter().map(named).collect::<Option<_>>()?,
            begins: begins.collect(),
        })
    }

    /// Returns the nodes at which the paths of a finding begin; none if no path was followed.
    pub(super) fn begins(&self, finding: &Finding) -> &[u32] {
        let at = (Arc::clone(&finding.place.path), finding.place.span, finding.rule);
        self.begins.get(&at).map_or(&[], Vec::as_slice)
    }
}
