//! The baseline: findings that were there when it was made, by what stays of them while lines move.

mod file;
mod matching;

use std::collections::BTreeMap;

use blocklint_core::{Finding, RuleCode, Suppression, SuppressionSource};
use blocklint_rules::UNREADABLE_SOURCE;
use camino::Utf8Path;

use crate::choose::{Chosen, Levels};

pub use file::BaselineError;
use matching::moved_key;
pub(crate) use matching::{Matcher, key};

/// The key by which a baseline recognises a finding. It has no line, because lines move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BaselineKey {
    /// The file in which it stands, from the project root, with `/`.
    pub file: String,
    /// The rule.
    pub rule: RuleCode,
    /// The qualified name of the function that must not block.
    pub function: String,
    /// The path of the library call behind it.
    pub cause: String,
}

/// How much of what is found is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The least that is shown.
    pub levels: Levels,
    /// True if findings that only tests, examples and command lines reach count.
    pub aside: bool,
}

impl Coverage {
    /// True if this run sees all findings that the other one sees.
    fn sees(self, other: Coverage) -> bool {
        self.levels.severity <= other.levels.severity
            && self.levels.confidence <= other.levels.confidence
            && (self.aside || !other.aside)
    }
}

/// Findings that are not reported again, and how often each is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// The part of the project that was analysed when the baseline was made. A run over a smaller part cannot tell
    /// whether an entry is stale.
    pub seen: Coverage,
    /// How many findings of each key; never 0.
    pub entries: BTreeMap<BaselineKey, u32>,
}

/// The result of a baseline for the findings of a run.
#[derive(Clone, Debug, Default)]
pub struct BaselineResult {
    /// The findings that are in it, marked so.
    pub findings: Vec<Finding>,
    /// Entries of findings that are gone, with their number.
    pub stale: Vec<(BaselineKey, u32)>,
}

/// The part of a project that a run analysed. Outside of it the run cannot tell whether an entry is stale.
pub struct Scope<'s> {
    /// The project root.
    pub root: &'s Utf8Path,
    /// Returns true if the findings of a file, from the project root, are reported: `None` if there is no such file.
    pub reports: &'s dyn Fn(&str) -> Option<bool>,
    /// True if all files of the project are reported.
    pub is_whole: bool,
    /// Returns true if findings of a rule are reported.
    pub selects: &'s dyn Fn(RuleCode) -> bool,
    /// The part of those findings that the run sees.
    pub seen: Coverage,
}

impl Baseline {
    /// Makes a baseline of these findings. Findings for unreadable files are left out, because they are no mistakes in
    /// code.
    pub fn of(findings: &[Finding], root: &Utf8Path, seen: Coverage) -> Self {
        let mut entries = BTreeMap::new();
        for finding in findings.iter().filter(|finding| can_hold(finding)) {
            *entries.entry(key(finding, root)).or_default() += 1;
        }
        Baseline { seen, entries }
    }

    /// Returns the number of findings in it.
    pub fn count(&self) -> usize {
        self.entries.values().map(|count| *count as usize).sum()
    }

    /// Takes what is in the baseline out of what is shown.
    pub fn hold(&self, chosen: &mut Chosen, scope: &Scope<'_>) -> BaselineResult {
        let mut matcher = Matcher::new(&self.entries);
        let findings: Vec<&Finding> = chosen.findings.iter().collect();
        let can = |finding: &Finding| can_hold(finding);
        let is_gone = |file: &str| (scope.reports)(file).is_none();
        let held = matcher.matches(&findings, scope.root, &can, &is_gone);
        let is_seen =
            |key: &BaselineKey| (scope.selects)(key.rule) && (scope.reports)(&key.file).unwrap_or(scope.is_whole);
        let stale = if scope.seen.sees(self.seen) {
            matcher.left().filter(|(key, _)| is_seen(key)).collect()
        } else {
            Vec::new()
        };
        let mark = |mut finding: Finding| {
            finding.suppression = Some(Suppression { reason: None, source: SuppressionSource::Baseline });
            finding
        };
        let findings = chosen.take(&held).into_iter().map(mark).collect();
        BaselineResult { findings, stale }
    }

    /// Returns the number of findings that it has in addition to an older one, moved files taken into account.
    pub fn growth(&self, older: &Baseline) -> usize {
        let totals = |baseline: &Baseline| {
            let mut totals: BTreeMap<_, u32> = BTreeMap::new();
            for (key, count) in &baseline.entries {
                *totals.entry(moved_key(key)).or_default() += count;
            }
            totals
        };
        let old = totals(older);
        let more = |(key, now): (_, u32)| now.saturating_sub(old.get(&key).copied().unwrap_or_default()) as usize;
        totals(self).into_iter().map(more).sum()
    }

    /// Takes out what is found no more. How many findings that were.
    pub fn prune(&mut self, stale: &[(BaselineKey, u32)]) -> usize {
        let mut gone = 0;
        for (key, count) in stale {
            if let Some(of) = self.entries.get_mut(key) {
                let less = (*count).min(*of);
                *of -= less;
                gone += less as usize;
            }
        }
        self.entries.retain(|_, count| *count > 0);
        gone
    }
}

fn can_hold(finding: &Finding) -> bool {
    finding.rule != UNREADABLE_SOURCE.code
}
