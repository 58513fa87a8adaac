//! The baseline: known findings, recognised by keys that do not change when lines move, so that a run reports only new
//! findings.

mod file;
mod matching;

use std::collections::BTreeMap;

use blocklint_core::{Finding, RuleCode, Suppression, SuppressionSource};
use blocklint_rules::UNREADABLE_SOURCE;
use camino::Utf8Path;

use crate::choose::{Chosen, Levels};

pub use file::BaselineError;
use matching::key_without_file;
pub(crate) use matching::{Matcher, baseline_key};

/// The key by which a baseline recognises a finding. It has no line, because lines move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BaselineKey {
    /// The path of the file, relative to the project root, with `/`.
    pub file: String,
    /// The rule.
    pub rule: RuleCode,
    /// The qualified name of the function that must not block.
    pub function: String,
    /// The path of the library call that blocks.
    pub cause: String,
}

/// The part of all findings that a run reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The least severity and confidence of reported findings.
    pub levels: Levels,
    /// True if findings that only tests, examples and command lines reach are reported too.
    pub aside: bool,
}

impl Coverage {
    /// True if a run with this coverage reports all findings of a run with the other coverage.
    fn includes(self, other: Coverage) -> bool {
        self.levels.severity <= other.levels.severity
            && self.levels.confidence <= other.levels.confidence
            && (self.aside || !other.aside)
    }
}

/// Known findings, which are not reported again, with their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// The coverage of the run that made the baseline. A run with less coverage cannot know that an entry is stale.
    pub coverage: Coverage,
    /// The number of findings with each key; never 0.
    pub entries: BTreeMap<BaselineKey, u32>,
}

/// The findings of a run that a baseline contains, and the entries that match no finding.
#[derive(Clone, Debug, Default)]
pub struct BaselineResult {
    /// The known findings, marked as suppressed by the baseline.
    pub findings: Vec<Finding>,
    /// The entries whose findings are gone, with their numbers.
    pub stale: Vec<(BaselineKey, u32)>,
}

/// The part of a project that a run reports. A run cannot know if an entry outside of its scope is stale.
pub struct Scope<'s> {
    /// The project root.
    pub root: &'s Utf8Path,
    /// Returns true if findings in a file are reported, by its path relative to the project root; `None` if there is no
    /// such file.
    pub reports: &'s dyn Fn(&str) -> Option<bool>,
    /// True if all files of the project are reported.
    pub is_whole: bool,
    /// Returns true if findings of a rule are reported.
    pub selects: &'s dyn Fn(RuleCode) -> bool,
    /// The coverage of the run.
    pub coverage: Coverage,
}

impl Baseline {
    /// Makes a baseline of these findings. Findings about unreadable files are left out, because they are no mistakes
    /// in code.
    pub fn of(findings: &[Finding], root: &Utf8Path, coverage: Coverage) -> Self {
        let mut entries = BTreeMap::new();
        for finding in findings.iter().filter(|finding| can_be_known(finding)) {
            *entries.entry(baseline_key(finding, root)).or_default() += 1;
        }
        Baseline { coverage, entries }
    }

    /// Returns the number of known findings.
    pub fn count(&self) -> usize {
        self.entries.values().map(|count| *count as usize).sum()
    }

    /// Removes the known findings from those that are shown, and returns them with the stale entries.
    pub fn split_known(&self, chosen: &mut Chosen, scope: &Scope<'_>) -> BaselineResult {
        let mut matcher = Matcher::new(&self.entries);
        let findings: Vec<&Finding> = chosen.findings.iter().collect();
        let can_match = |finding: &Finding| can_be_known(finding);
        let is_gone = |file: &str| (scope.reports)(file).is_none();
        let is_known = matcher.match_findings(&findings, scope.root, &can_match, &is_gone);
        let is_in_scope =
            |key: &BaselineKey| (scope.selects)(key.rule) && (scope.reports)(&key.file).unwrap_or(scope.is_whole);
        let stale = if scope.coverage.includes(self.coverage) {
            matcher.unmatched().filter(|(key, _)| is_in_scope(key)).collect()
        } else {
            Vec::new()
        };
        let mark = |mut finding: Finding| {
            finding.suppression = Some(Suppression { reason: None, source: SuppressionSource::Baseline });
            finding
        };
        let findings = chosen.take(&is_known).into_iter().map(mark).collect();
        BaselineResult { findings, stale }
    }

    /// Returns the number of findings that are not in an older baseline. A finding in a moved file is not new.
    pub fn growth(&self, older: &Baseline) -> usize {
        let totals = |baseline: &Baseline| {
            let mut totals: BTreeMap<_, u32> = BTreeMap::new();
            for (key, count) in &baseline.entries {
                *totals.entry(key_without_file(key)).or_default() += count;
            }
            totals
        };
        let old_totals = totals(older);
        let added =
            |(key, now): (_, u32)| now.saturating_sub(old_totals.get(&key).copied().unwrap_or_default()) as usize;
        totals(self).into_iter().map(added).sum()
    }

    /// Removes stale entries, and returns the number of findings that they recorded.
    pub fn prune(&mut self, stale: &[(BaselineKey, u32)]) -> usize {
        let mut pruned = 0;
        for (key, count) in stale {
            if let Some(entry_count) = self.entries.get_mut(key) {
                let removed = (*count).min(*entry_count);
                *entry_count -= removed;
                pruned += removed as usize;
            }
        }
        self.entries.retain(|_, count| *count > 0);
        pruned
    }
}

/// True if a finding can be in a baseline: it is a mistake in code, not an unreadable file.
fn can_be_known(finding: &Finding) -> bool {
    finding.rule != UNREADABLE_SOURCE.code
}
