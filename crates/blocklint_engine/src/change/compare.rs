//! Compares the findings of a project before and after a change, and keeps the new ones.

use std::collections::BTreeMap;

use blocklint_core::{Finding, last_name};
use blocklint_project::Project;
use camino::Utf8Path;
use rustc_hash::FxHashMap;

use super::StateBefore;
use crate::baseline::{BaselineKey, Matcher, baseline_key};
use crate::choose::Chosen;

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The number of findings that were there before the change.
    pub were_there: usize,
    /// The name of the state before the change, for messages.
    pub compared_with: String,
}

/// The causes of the findings of each owner: for each library call, the number of the project's lines that enter it. If
/// an owner has several findings, the number is that of the finding with the most lines.
type CausesOfOwner = FxHashMap<Owner, BTreeMap<String, usize>>;

/// The file, the rule and the function of a finding.
type Owner = (String, u16, String);

impl StateBefore {
    /// Removes the findings that were there before the change. New findings stay, and so do findings with a new cause,
    /// which get a note that names it. Hidden findings are counted in the same way.
    pub fn compare(&self, chosen: &mut Chosen, project: &Project) -> Comparison {
        let root = &project.root;
        let Some((before, hidden)) = &self.state else {
            let all_findings = vec![true; chosen.findings.len()];
            (chosen.below, chosen.aside) = (0, 0);
            return Comparison {
                were_there: chosen.take(&all_findings).len(),
                compared_with: self.compared_with.clone(),
            };
        };
        let is_gone = |path: &str| {
            let path = root.join(path);
            project.files.binary_search_by(|file| (*file.path).cmp(&path)).is_err()
        };
        let findings: Vec<&Finding> = chosen.findings.iter().collect();
        let match_before = |findings: &[&Finding], before: &[Finding]| {
            let mut entries: BTreeMap<BaselineKey, u32> = BTreeMap::new();
            for finding in before {
                *entries.entry(baseline_key(finding, root)).or_default() += 1;
            }
            Matcher::new(&entries).match_findings(findings, root, &|_| true, &is_gone)
        };
        let count_new = |now: &[Finding], before: &[Finding]| {
            let now: Vec<&Finding> = now.iter().collect();
            match_before(&now, before).into_iter().filter(|is_known| !is_known).count()
        };
        chosen.below = count_new(&self.hidden_now.below, &hidden.below);
        chosen.aside = count_new(&self.hidden_now.aside, &hidden.aside);
        let mut is_known = match_before(&findings, &before.findings);
        let causes = causes_by_owner(&before.findings, root);
        for (finding, is_known) in chosen.findings.iter_mut().zip(&mut is_known).filter(|(_, is_known)| **is_known) {
            if let Some(note) = note_of_new_cause(finding, &causes, root) {
                finding.notes.push(note);
                *is_known = false;
            }
        }
        Comparison { were_there: chosen.take(&is_known).len(), compared_with: self.compared_with.clone() }
    }
}

fn owner(finding: &Finding, root: &Utf8Path) -> Owner {
    let BaselineKey { file, rule, function, .. } = baseline_key(finding, root);
    (file, rule.0, function)
}

fn causes_by_owner(findings: &[Finding], root: &Utf8Path) -> CausesOfOwner {
    let mut causes = CausesOfOwner::default();
    for finding in findings {
        let counts_by_call = causes.entry(owner(finding, root)).or_default();
        for (call, count) in count_lines_by_call(finding) {
            let max_count = counts_by_call.entry(call.to_owned()).or_default();
            *max_count = (*max_count).max(count);
        }
    }
    causes
}

/// Returns the number of the project's lines that enter each library call.
fn count_lines_by_call(finding: &Finding) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for cause in &finding.causes {
        *counts.entry(cause.call.as_str()).or_default() += 1;
    }
    counts
}

/// Returns the note for a finding that was there before, but without one of its causes. Returns `None` if the function
/// was moved to another file, because its former causes are unknown.
fn note_of_new_cause(finding: &Finding, before: &CausesOfOwner, root: &Utf8Path) -> Option<String> {
    let known_counts = before.get(&owner(finding, root))?;
    let (call, _) = count_lines_by_call(finding)
        .into_iter()
        .find(|(call, count)| known_counts.get(*call).is_none_or(|old_count| old_count < count))?;
    // If several lines enter the call, the new one is unknown, because lines are not compared. The note names the last.
    let cause = finding.causes.iter().rev().find(|cause| cause.call == call)?;
    Some(format!("the finding is old; the change adds `{call}` behind it, in `{}`", last_name(&cause.function)))
}
