//! Which findings are shown.

use blocklint_core::{Confidence, Finding, Group, Severity};
use blocklint_rules::{Selection, UNREADABLE_SOURCE};

/// The least that is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    pub(crate) severity: Severity,
    pub(crate) confidence: Confidence,
}

/// The findings that are shown, and how many of the chosen rules lie below the levels.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) findings: Vec<Finding>,
    pub(crate) groups: Vec<Group>,
    pub(crate) below: usize,
}

/// Leaves out what was not chosen, is suppressed or lies below the levels. Groups keep their order;
/// empty ones go.
pub(crate) fn choose(findings: Vec<Finding>, groups: Vec<Group>, selection: &Selection, levels: Levels) -> Chosen {
    let mut below = 0;
    let mut kept = Vec::new();
    // Old index → new one.
    let mut moved = vec![None; findings.len()];
    for (index, finding) in findings.into_iter().enumerate() {
        if finding.suppression.is_some() || !selection.contains(finding.rule) {
            continue;
        }
        let shown = finding.severity >= levels.severity && finding.confidence >= levels.confidence;
        if shown || finding.rule == UNREADABLE_SOURCE.code {
            moved[index] = Some(kept.len() as u32);
            kept.push(finding);
        } else {
            below += 1;
        }
    }
    let groups = groups.into_iter().filter_map(|group| {
        let left = group.findings.iter().filter_map(|index| moved.get(*index as usize).copied().flatten());
        let left = left.collect::<Vec<_>>();
        (!left.is_empty()).then_some(Group { cause: group.cause, findings: left })
    });
    Chosen { findings: kept, groups: groups.collect(), below }
}
