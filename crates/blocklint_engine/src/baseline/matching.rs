//! Matches findings with the entries of a baseline, also after a cause has changed or a file has moved.

use std::collections::BTreeMap;

use blocklint_core::{Finding, last_name};
use camino::Utf8Path;
use rustc_hash::FxHashMap;

use super::BaselineKey;

/// Returns the baseline key of a finding, with the cause of its best path.
pub(crate) fn baseline_key(finding: &Finding, root: &Utf8Path) -> BaselineKey {
    BaselineKey {
        file: relative_path(&finding.place.path, root),
        rule: finding.rule,
        function: finding.function.clone(),
        cause: library_call(finding).to_owned(),
    }
}

/// Returns the library call that blocks: the first cause, else the last call of the trace.
fn library_call(finding: &Finding) -> &str {
    let at_end = || finding.trace.last().map(|step| step.call.as_str());
    finding.causes.first().map(|cause| cause.call.as_str()).or_else(at_end).unwrap_or_default()
}

/// Returns the path relative to the project root, with `/` on every system.
pub(crate) fn relative_path(path: &Utf8Path, root: &Utf8Path) -> String {
    path.strip_prefix(root).unwrap_or(path).as_str().replace('\\', "/")
}

/// The entries of a baseline that no finding has matched yet. Each match takes one off the count of its key.
pub(crate) struct Matcher {
    unmatched: BTreeMap<BaselineKey, u32>,
}

impl Matcher {
    pub(crate) fn new(entries: &BTreeMap<BaselineKey, u32>) -> Self {
        Matcher { unmatched: entries.clone() }
    }

    /// Returns true for each finding that an entry matches. There are three passes, the surest first:
    ///
    /// 1. The key of the finding, with the cause of its best path.
    /// 2. The key with another of its causes, because a change in other code can make another path the best one.
    /// 3. An entry of a file that no longer exists, with the same rule, function name and cause, because files are
    ///    moved.
    pub(crate) fn match_findings(
        &mut self,
        findings: &[&Finding],
        root: &Utf8Path,
        can_match: &dyn Fn(&Finding) -> bool,
        is_gone: &dyn Fn(&str) -> bool,
    ) -> Vec<bool> {
        let keys: Vec<BaselineKey> = findings.iter().map(|finding| baseline_key(finding, root)).collect();
        let mut is_known: Vec<bool> =
            keys.iter().zip(findings).map(|(key, finding)| can_match(finding) && self.take_one(key)).collect();
        for (index, finding) in findings.iter().enumerate().filter(|(_, finding)| can_match(finding)) {
            let mut other_causes = finding.causes.iter().skip(1);
            is_known[index] = is_known[index]
                || other_causes
                    .any(|cause| self.take_one(&BaselineKey { cause: cause.call.clone(), ..keys[index].clone() }));
        }
        let mut moved: FxHashMap<(u16, String, String), Vec<BaselineKey>> = FxHashMap::default();
        for key in self.unmatched.keys().filter(|key| is_gone(&key.file)) {
            moved.entry(key_without_file(key)).or_default().push(key.clone());
        }
        for index in 0..findings.len() {
            if !is_known[index] && !moved.is_empty() && can_match(findings[index]) {
                let candidates = moved.get(&key_without_file(&keys[index])).map_or(&[][..], Vec::as_slice);
                is_known[index] = candidates.iter().any(|key| self.take_one(key));
            }
        }
        is_known
    }

    /// Returns the entries that match no finding, with the numbers of missing findings.
    pub(crate) fn unmatched(self) -> impl Iterator<Item = (BaselineKey, u32)> {
        self.unmatched.into_iter()
    }

    /// Takes one off the count of a key; false if there is none left.
    fn take_one(&mut self, key: &BaselineKey) -> bool {
        let Some(count) = self.unmatched.get_mut(key) else { return false };
        *count -= 1;
        if *count == 0 {
            self.unmatched.remove(key);
        }
        true
    }
}

/// Returns the part of a key that stays equal when its file is moved: rule, last name of the function, and cause.
pub(super) fn key_without_file(key: &BaselineKey) -> (u16, String, String) {
    (key.rule.0, last_name(&key.function).to_owned(), key.cause.clone())
}
