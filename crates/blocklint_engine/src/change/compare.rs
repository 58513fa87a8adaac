//! Which findings a change brought.

use std::collections::BTreeMap;

use blocklint_core::{Finding, last_name};
use blocklint_project::Project;
use camino::Utf8Path;
use rustc_hash::FxHashMap;

use super::Before;
use crate::baseline::{BaselineKey, Matcher, key};
use crate::choose::Chosen;

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// How many findings were there before.
    pub were_there: usize,
    /// The name of the state before, for people.
    pub with: String,
}

/// Of each library call behind the findings of one owner and rule, how many of the project's own lines enter it; the most of
/// any one finding.
type Causes = FxHashMap<(String, u16, String), BTreeMap<String, usize>>;

impl Before {
    /// Keeps only the findings that the change brought: new findings, and findings with a new cause, which they name.
    /// Hidden findings are counted in the same way.
    pub fn compare(&self, chosen: &mut Chosen, project: &Project) -> Compared {
        let root = &project.root;
        let Some((before, hidden)) = &self.state else {
            let all = vec![true; chosen.findings.len()];
            (chosen.below, chosen.aside) = (0, 0);
            return Compared { were_there: chosen.take(&all).len(), with: self.with.clone() };
        };
        let is_gone = |path: &str| {
            let path = root.join(path);
            project.files.binary_search_by(|file| (*file.path).cmp(&path)).is_err()
        };
        let findings: Vec<&Finding> = chosen.findings.iter().collect();
        let known_of = |findings: &[&Finding], before: &[Finding]| {
            let mut entries: BTreeMap<BaselineKey, u32> = BTreeMap::new();
            for finding in before {
                *entries.entry(key(finding, root)).or_default() += 1;
            }
            Matcher::new(&entries).matches(findings, root, &|_| true, &is_gone)
        };
        let brought = |now: &[Finding], before: &[Finding]| {
            let now: Vec<&Finding> = now.iter().collect();
            known_of(&now, before).into_iter().filter(|known| !known).count()
        };
        chosen.below = brought(&self.hidden_now.below, &hidden.below);
        chosen.aside = brought(&self.hidden_now.aside, &hidden.aside);
        let mut known = known_of(&findings, &before.findings);
        let causes = causes(&before.findings, root);
        for (finding, known) in chosen.findings.iter_mut().zip(&mut known).filter(|(_, known)| **known) {
            if let Some(note) = added(finding, &causes, root) {
                finding.notes.push(note);
                *known = false;
            }
        }
        Compared { were_there: chosen.take(&known).len(), with: self.with.clone() }
    }
}

fn owner(finding: &Finding, root: &Utf8Path) -> (String, u16, String) {
    let BaselineKey { file, rule, function, .. } = key(finding, root);
    (file, rule.0, function)
}

fn causes(findings: &[Finding], root: &Utf8Path) -> Causes {
    let mut all = Causes::default();
    for finding in findings {
        let of_owner = all.entry(owner(finding, root)).or_default();
        for (call, count) in counts(finding) {
            let most = of_owner.entry(call.to_owned()).or_default();
            *most = (*most).max(count);
        }
    }
    all
}

fn counts(finding: &Finding) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for cause in &finding.causes {
        *counts.entry(cause.call.as_str()).or_default() += 1;
    }
    counts
}

/// Returns the note for a finding with a cause that it did not have before. If the function moved to another file, its
/// former causes are unknown.
fn added(finding: &Finding, before: &Causes, root: &Utf8Path) -> Option<String> {
    let known = before.get(&owner(finding, root))?;
    let (call, _) = counts(finding).into_iter().find(|(call, count)| known.get(*call).is_none_or(|old| old < count))?;
    // The last of several is as likely the new one as any; only lines could show which one it is.
    let cause = finding.causes.iter().rev().find(|cause| cause.call == call)?;
    Some(format!("it was there already; the change adds `{call}` behind it, in `{}`", last_name(&cause.function)))
}
