//! Chooses the findings that are shown, by selected rules, suppressions, and the least severity and confidence.

use std::cmp::Reverse;

use blocklint_core::{Confidence, Finding, Group, Severity};
use blocklint_rules::{Selection, UNREADABLE_SOURCE};

use crate::group_by_cause;
use crate::waiting::points_of_reach;

/// The least severity and confidence of shown findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The least severity.
    pub severity: Severity,
    /// The least confidence.
    pub confidence: Confidence,
}

impl Levels {
    /// True if a finding is at these levels or above. Findings about unreadable files (BLT902) always are.
    fn show(self, finding: &Finding) -> bool {
        finding.severity >= self.severity && finding.confidence >= self.confidence
            || finding.rule == UNREADABLE_SOURCE.code
    }
}

/// The findings that are shown, and the numbers of those that are not.
#[derive(Debug)]
pub struct Chosen {
    /// The findings to show.
    pub findings: Vec<Finding>,
    /// The groups of the shown findings by cause.
    pub groups: Vec<Group>,
    /// The number of findings of selected rules that are below the levels.
    pub below: usize,
    /// The number of findings that are hidden because only tests, examples or a command line reach them.
    pub aside: usize,
    /// If nothing is shown: the worst of the findings in `aside`. See [`Chosen::show_left_aside`].
    pub left_aside: Vec<Finding>,
    /// If nothing is shown: the notes of high confidence that have most points.
    pub minor: Vec<Finding>,
    /// The number of functions that must not block, if it was counted.
    pub must_not_block: Option<usize>,
    /// Findings that a comment or the configuration suppresses, for formats that list them.
    pub suppressed: Vec<Finding>,
}

/// The greatest length of [`Chosen::left_aside`].
const MAX_LEFT_ASIDE: usize = 10;

/// The greatest length of [`Chosen::most_valuable_notes`].
const MAX_MINOR: usize = 10;

impl Chosen {
    /// Returns a choice that shows all of these findings.
    pub(crate) fn of(findings: Vec<Finding>, groups: Vec<Group>) -> Self {
        Chosen {
            findings,
            groups,
            below: 0,
            aside: 0,
            left_aside: Vec::new(),
            minor: Vec::new(),
            must_not_block: None,
            suppressed: Vec::new(),
        }
    }

    /// Shows the findings of `left_aside` if nothing else is shown, with the severity that they would have in other
    /// code. Returns their number; 0 if other findings are shown.
    pub fn show_left_aside(&mut self) -> usize {
        if !self.findings.is_empty() {
            return 0;
        }
        self.findings = std::mem::take(&mut self.left_aside);
        for finding in &mut self.findings {
            finding.severity = finding.aside.map_or(finding.severity, |aside| aside.severity);
        }
        self.groups = group_by_cause(&self.findings);
        self.findings.len()
    }

    /// Removes the marked findings, also from the groups, and returns them in order.
    pub(crate) fn take(&mut self, marked: &[bool]) -> Vec<Finding> {
        let mut new_indices = vec![None; self.findings.len()];
        let (mut kept, mut taken) = (Vec::new(), Vec::new());
        for (index, finding) in std::mem::take(&mut self.findings).into_iter().enumerate() {
            if marked.get(index) == Some(&true) {
                taken.push(finding);
            } else {
                new_indices[index] = Some(kept.len() as u32);
                kept.push(finding);
            }
        }
        self.findings = kept;
        self.groups = renumber_groups(std::mem::take(&mut self.groups), &new_indices);
        taken
    }
}

/// Returns the groups with the new indices of their findings, without empty groups. `new_indices` has `None` for
/// findings that were removed.
fn renumber_groups(groups: Vec<Group>, new_indices: &[Option<u32>]) -> Vec<Group> {
    let groups = groups.into_iter().filter_map(|group| {
        let findings = group.findings.iter().filter_map(|index| new_indices.get(*index as usize).copied().flatten());
        let findings = findings.collect::<Vec<_>>();
        (!findings.is_empty()).then_some(Group { cause: group.cause, findings })
    });
    groups.collect()
}

/// The findings that [`Chosen`] only counts.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// Findings below the levels.
    pub(crate) below: Vec<Finding>,
    /// Findings that only tests, examples or a command line reach.
    pub(crate) aside: Vec<Finding>,
}

/// The fate of a finding in a run: shown, or hidden for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The finding is shown.
    Shown,
    /// Its rule is not reported.
    NotSelected,
    /// A comment or the configuration suppresses it.
    Suppressed,
    /// It would be shown if other code than tests, examples or a command line reached it.
    Aside,
    /// It is below the levels.
    Below,
}

/// Returns the fate of a finding.
pub(crate) fn fate(finding: &Finding, selection: &Selection, levels: Levels) -> Fate {
    if !selection.contains(finding.rule) {
        Fate::NotSelected
    } else if finding.suppression.is_some() {
        Fate::Suppressed
    } else if levels.show(finding) {
        Fate::Shown
    } else if finding.confidence >= levels.confidence
        && finding.aside.is_some_and(|aside| aside.severity >= levels.severity)
    {
        Fate::Aside
    } else {
        Fate::Below
    }
}

/// Chooses the findings to show: those of selected rules that are not suppressed and not below the levels. Groups keep
/// their order.
pub fn choose(findings: Vec<Finding>, groups: Vec<Group>, selection: &Selection, levels: Levels) -> Chosen {
    choose_with_hidden(findings, groups, selection, levels).0
}

/// Chooses findings as [`choose`] does, and also returns those that are only counted.
pub(crate) fn choose_with_hidden(
    findings: Vec<Finding>,
    groups: Vec<Group>,
    selection: &Selection,
    levels: Levels,
) -> (Chosen, Hidden) {
    let mut hidden = Hidden::default();
    let mut suppressed = Vec::new();
    let mut kept = Vec::new();
    let mut new_indices = vec![None; findings.len()];
    for (index, finding) in findings.into_iter().enumerate() {
        match fate(&finding, selection, levels) {
            Fate::NotSelected => {}
            Fate::Suppressed => suppressed.extend(levels.show(&finding).then_some(finding)),
            Fate::Shown => {
                new_indices[index] = Some(kept.len() as u32);
                kept.push(finding);
            }
            Fate::Aside => hidden.aside.push(finding),
            Fate::Below => hidden.below.push(finding),
        }
    }
    let (below, aside) = (hidden.below.len(), hidden.aside.len());
    let left_aside = if kept.is_empty() { worst_left_aside(&hidden.aside) } else { Vec::new() };
    let minor = if kept.is_empty() { most_valuable_notes(&hidden.below) } else { Vec::new() };
    let groups = renumber_groups(groups, &new_indices);
    (Chosen { findings: kept, groups, below, aside, left_aside, minor, must_not_block: None, suppressed }, hidden)
}

/// Returns the worst findings of those that are left aside, in their order.
fn worst_left_aside(aside: &[Finding]) -> Vec<Finding> {
    first_by(aside, MAX_LEFT_ASIDE, |finding| Some(finding.aside.map(|aside| aside.severity)))
}

/// Returns the notes of high confidence that have most points, in their order.
fn most_valuable_notes(below: &[Finding]) -> Vec<Finding> {
    first_by(below, MAX_MINOR, |finding| {
        let is_sure = finding.severity == Severity::Note && finding.confidence == Confidence::High;
        let of_kind = || finding.weight.map_or(0, |weight| weight.points as i32);
        let reach = || finding.causes.first().map_or(0, |cause| cause.reach);
        (is_sure && finding.aside.is_none()).then(|| of_kind() + points_of_reach(reach(), std::iter::once(finding)))
    })
}

/// Returns the `most` findings with the greatest measure, in their order. A finding whose measure is `None` is left
/// out.
fn first_by<M: Ord>(
    findings: &[Finding],
    max_findings: usize,
    measure: impl Fn(&Finding) -> Option<M>,
) -> Vec<Finding> {
    let measured = findings.iter().enumerate().filter_map(|(index, finding)| Some((Reverse(measure(finding)?), index)));
    let mut ranked: Vec<(Reverse<M>, usize)> = measured.collect();
    ranked.sort_unstable();
    ranked.truncate(max_findings);
    let mut indices: Vec<usize> = ranked.into_iter().map(|(_, index)| index).collect();
    indices.sort_unstable();
    indices.into_iter().map(|index| findings[index].clone()).collect()
}

/// Keeps the first `most` findings in the order of their groups. Returns the number of removed findings.
pub fn limit_findings(chosen: &mut Chosen, max_findings: usize) -> usize {
    let total = chosen.findings.len();
    if total <= max_findings {
        return 0;
    }
    let kept: std::collections::HashSet<u32> =
        chosen.groups.iter().flat_map(|group| group.findings.iter().copied()).take(max_findings).collect();
    let mut new_indices = vec![None; total];
    let mut findings = Vec::with_capacity(max_findings);
    for (index, finding) in std::mem::take(&mut chosen.findings).into_iter().enumerate() {
        if kept.contains(&(index as u32)) {
            new_indices[index] = Some(findings.len() as u32);
            findings.push(finding);
        }
    }
    chosen.findings = findings;
    for group in &mut chosen.groups {
        group.findings = group.findings.iter().filter_map(|index| new_indices[*index as usize]).collect();
    }
    chosen.groups.retain(|group| !group.findings.is_empty());
    total - chosen.findings.len()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use blocklint_core::{Place, RuleCode, Span, Suppression, SuppressionSource};
    use camino::Utf8Path;

    use super::*;

    fn finding(rule: u16, severity: Severity, confidence: Confidence) -> Finding {
        let place = Place::unlocated(Arc::from(Utf8Path::new("/a.py")), Span::default());
        Finding { confidence, ..Finding::of_source(RuleCode(rule), severity, String::new(), place) }
    }

    #[test]
    fn limit_keeps_the_first_groups_and_the_order_of_findings() {
        let of = |rule| finding(rule, Severity::Error, Confidence::High);
        let group = |findings: &[u32]| Group { cause: None, findings: findings.to_vec() };
        let findings = vec![of(101), of(102), of(103), of(104), of(105)];
        let groups = vec![group(&[4, 1]), group(&[3, 0]), group(&[2])];
        let mut chosen = Chosen::of(findings, groups);
        assert_eq!(limit_findings(&mut chosen, 5), 0);
        assert_eq!(limit_findings(&mut chosen, 3), 2);
        assert_eq!(chosen.findings.iter().map(|finding| finding.rule.0).collect::<Vec<_>>(), [102, 104, 105]);
        assert_eq!(chosen.groups, [group(&[2, 0]), group(&[1])]);
    }

    #[test]
    fn groups_have_only_the_findings_that_are_shown() {
        let suppressed = Finding {
            suppression: Some(Suppression { reason: None, source: SuppressionSource::Comment }),
            ..finding(101, Severity::Error, Confidence::High)
        };
        let findings = vec![
            finding(101, Severity::Note, Confidence::High),
            finding(102, Severity::Error, Confidence::High),
            suppressed,
            finding(103, Severity::Error, Confidence::Low),
            finding(902, Severity::Note, Confidence::High),
            finding(104, Severity::Warning, Confidence::Medium),
        ];
        let group = |findings: &[u32]| Group { cause: None, findings: findings.to_vec() };
        let groups = vec![group(&[0, 3]), group(&[2, 5, 1]), group(&[4])];
        let ignore = ["BLT102".to_owned()];
        let selection = Selection::new(&[], &[], &ignore).expect("known rules");
        let levels = Levels { severity: Severity::Warning, confidence: Confidence::Medium };
        let chosen = choose(findings, groups, &selection, levels);
        assert_eq!(chosen.findings.iter().map(|finding| finding.rule.0).collect::<Vec<_>>(), [902, 104]);
        assert_eq!(chosen.groups, [group(&[1]), group(&[0])]);
        assert_eq!(chosen.suppressed.iter().map(|finding| finding.rule.0).collect::<Vec<_>>(), [101]);
        assert_eq!(chosen.below, 2, "what is ignored or silenced does not lie below a level");
    }
}
