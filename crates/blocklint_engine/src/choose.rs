//! Which findings are shown.

use std::cmp::Reverse;

use blocklint_core::{Confidence, Finding, Group, Severity};
use blocklint_rules::{Selection, UNREADABLE_SOURCE};

use crate::grouped;

/// The least that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The least severity.
    pub severity: Severity,
    /// The least confidence.
    pub confidence: Confidence,
}

impl Levels {
    /// True if a finding does not lie below them; what could not be read never does.
    fn show(self, finding: &Finding) -> bool {
        finding.severity >= self.severity && finding.confidence >= self.confidence
            || finding.rule == UNREADABLE_SOURCE.code
    }
}

/// The findings that are shown, and how many of the chosen rules lie below the levels.
#[derive(Debug)]
pub struct Chosen {
    /// The findings to show.
    pub findings: Vec<Finding>,
    /// The chosen findings, grouped by cause.
    pub groups: Vec<Group>,
    /// How many of the chosen rules lie below the levels.
    pub below: usize,
    /// How many more would be shown if they were not only for tests, examples or a command line.
    pub aside: usize,
    /// The worst of those, where nothing else was found; see [`Chosen::show_left_aside`].
    pub left_aside: Vec<Finding>,
    /// The notes of high confidence that are worth most, where nothing else was found.
    pub minor: Vec<Finding>,
    /// How many functions of the project must not block, where that was counted.
    pub must_not_block: Option<usize>,
    /// Findings that a suppression at their own place hides; for formats that list them.
    pub suppressed: Vec<Finding>,
}

/// How many findings that are left aside are shown where nothing else was found.
const MOST_LEFT_ASIDE: usize = 10;

/// How many notes are listed where nothing else was found.
const MOST_MINOR: usize = 10;

impl Chosen {
    /// Returns these findings under their causes, all of them shown, with none hidden.
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

    /// Shows what is left aside where nothing else was found, as bad as it would be otherwise; returns how many that are. They count for
    /// nothing.
    pub fn show_left_aside(&mut self) -> usize {
        if !self.findings.is_empty() {
            return 0;
        }
        self.findings = std::mem::take(&mut self.left_aside);
        for finding in &mut self.findings {
            finding.severity = finding.aside.map_or(finding.severity, |aside| aside.severity);
        }
        self.groups = grouped(&self.findings);
        self.findings.len()
    }

    /// Takes the findings out that are marked, in order; the groups follow.
    pub(crate) fn take(&mut self, marked: &[bool]) -> Vec<Finding> {
        let mut moved = vec![None; self.findings.len()];
        let (mut kept, mut taken) = (Vec::new(), Vec::new());
        for (index, finding) in std::mem::take(&mut self.findings).into_iter().enumerate() {
            if marked.get(index) == Some(&true) {
                taken.push(finding);
            } else {
                moved[index] = Some(kept.len() as u32);
                kept.push(finding);
            }
        }
        self.findings = kept;
        self.groups = followed(std::mem::take(&mut self.groups), &moved);
        taken
    }
}

/// Returns the groups with the new numbers of their findings; empty ones go.
fn followed(groups: Vec<Group>, moved: &[Option<u32>]) -> Vec<Group> {
    let groups = groups.into_iter().filter_map(|group| {
        let left = group.findings.iter().filter_map(|index| moved.get(*index as usize).copied().flatten());
        let left = left.collect::<Vec<_>>();
        (!left.is_empty()).then_some(Group { cause: group.cause, findings: left })
    });
    groups.collect()
}

/// The findings that `Chosen` only counts.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// Below the levels.
    pub(crate) below: Vec<Finding>,
    /// Only for tests, examples or a command line.
    pub(crate) aside: Vec<Finding>,
}

/// The fate of a finding in a run: shown, or hidden for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is shown.
    Shown,
    /// Its rule is not reported.
    NotSelected,
    /// A comment or the configuration silences it.
    Suppressed,
    /// It would be shown if it were not only for tests, examples or a command line.
    Aside,
    /// It lies below the levels.
    Below,
}

/// Returns what becomes of a finding.
pub(crate) fn fate_of(finding: &Finding, selection: &Selection, levels: Levels) -> Fate {
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

/// Leaves out what was not chosen, is suppressed or lies below the levels. Groups keep their order;
/// empty ones go.
pub fn choose(findings: Vec<Finding>, groups: Vec<Group>, selection: &Selection, levels: Levels) -> Chosen {
    choose_keeping(findings, groups, selection, levels).0
}

/// Chooses findings as [`choose`] does and also returns those that are only counted.
pub(crate) fn choose_keeping(
    findings: Vec<Finding>,
    groups: Vec<Group>,
    selection: &Selection,
    levels: Levels,
) -> (Chosen, Hidden) {
    let mut hidden = Hidden::default();
    let mut suppressed = Vec::new();
    let mut kept = Vec::new();
    // Old index → new one.
    let mut moved = vec![None; findings.len()];
    for (index, finding) in findings.into_iter().enumerate() {
        match fate_of(&finding, selection, levels) {
            Fate::NotSelected => {}
            Fate::Suppressed => suppressed.extend(levels.show(&finding).then_some(finding)),
            Fate::Shown => {
                moved[index] = Some(kept.len() as u32);
                kept.push(finding);
            }
            Fate::Aside => hidden.aside.push(finding),
            Fate::Below => hidden.below.push(finding),
        }
    }
    let (below, aside) = (hidden.below.len(), hidden.aside.len());
    let left_aside = if kept.is_empty() { worst(&hidden.aside) } else { Vec::new() };
    let minor = if kept.is_empty() { minor(&hidden.below) } else { Vec::new() };
    let groups = followed(groups, &moved);
    (Chosen { findings: kept, groups, below, aside, left_aside, minor, must_not_block: None, suppressed }, hidden)
}

/// Returns the worst of the findings that are left aside, in their order.
fn worst(aside: &[Finding]) -> Vec<Finding> {
    most_by(aside, MOST_LEFT_ASIDE, |finding| Some(finding.aside.map(|aside| aside.severity)))
}

/// Returns the notes of high confidence whose kinds of work are worth most, in their order.
fn minor(below: &[Finding]) -> Vec<Finding> {
    most_by(below, MOST_MINOR, |finding| {
        let is_sure = finding.severity == Severity::Note && finding.confidence == Confidence::High;
        (is_sure && finding.aside.is_none()).then(|| finding.weight.map_or(0, |weight| weight.points))
    })
}

/// Returns the findings that a measure puts first, at most so many, in their order; those without one are left out.
fn most_by<M: Ord>(findings: &[Finding], most: usize, measure: impl Fn(&Finding) -> Option<M>) -> Vec<Finding> {
    let measured = findings.iter().enumerate().filter_map(|(at, finding)| Some((Reverse(measure(finding)?), at)));
    let mut places: Vec<(Reverse<M>, usize)> = measured.collect();
    places.sort_unstable();
    places.truncate(most);
    let mut places: Vec<usize> = places.into_iter().map(|(_, at)| at).collect();
    places.sort_unstable();
    places.into_iter().map(|at| findings[at].clone()).collect()
}

/// Keeps the first findings in the order of their groups, at most so many; returns how many are removed.
pub fn cap(chosen: &mut Chosen, most: usize) -> usize {
    let all = chosen.findings.len();
    if all <= most {
        return 0;
    }
    let kept: std::collections::HashSet<u32> =
        chosen.groups.iter().flat_map(|group| group.findings.iter().copied()).take(most).collect();
    let mut moved = vec![None; all];
    let mut findings = Vec::with_capacity(most);
    for (index, finding) in std::mem::take(&mut chosen.findings).into_iter().enumerate() {
        if kept.contains(&(index as u32)) {
            moved[index] = Some(findings.len() as u32);
            findings.push(finding);
        }
    }
    chosen.findings = findings;
    for group in &mut chosen.groups {
        group.findings = group.findings.iter().filter_map(|index| moved[*index as usize]).collect();
    }
    chosen.groups.retain(|group| !group.findings.is_empty());
    all - chosen.findings.len()
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
    fn the_first_groups_are_kept_and_findings_stay_in_order() {
        let of = |rule| finding(rule, Severity::Error, Confidence::High);
        let group = |findings: &[u32]| Group { cause: None, findings: findings.to_vec() };
        let findings = vec![of(101), of(102), of(103), of(104), of(105)];
        let groups = vec![group(&[4, 1]), group(&[3, 0]), group(&[2])];
        let mut chosen = Chosen::of(findings, groups);
        assert_eq!(cap(&mut chosen, 5), 0);
        assert_eq!(cap(&mut chosen, 3), 2);
        assert_eq!(chosen.findings.iter().map(|finding| finding.rule.0).collect::<Vec<_>>(), [102, 104, 105]);
        assert_eq!(chosen.groups, [group(&[2, 0]), group(&[1])]);
    }

    #[test]
    fn groups_follow_the_findings_that_are_left() {
        let silenced = Finding {
            suppression: Some(Suppression { reason: None, source: SuppressionSource::Comment }),
            ..finding(101, Severity::Error, Confidence::High)
        };
        let findings = vec![
            finding(101, Severity::Note, Confidence::High),
            finding(102, Severity::Error, Confidence::High),
            silenced,
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
