//! Which findings are among those that are known.

use std::collections::BTreeMap;

use blocklint_core::{Finding, last_name};
use camino::Utf8Path;
use rustc_hash::FxHashMap;

use super::BaselineKey;

/// Returns the baseline key of a finding, with the cause of its best path.
pub(crate) fn key(finding: &Finding, root: &Utf8Path) -> BaselineKey {
    BaselineKey {
        file: file(&finding.place.path, root),
        rule: finding.rule,
        function: finding.function.clone(),
        cause: cause(finding).to_owned(),
    }
}

/// Returns the library call behind a finding.
fn cause(finding: &Finding) -> &str {
    let at_end = || finding.trace.last().map(|step| step.call.as_str());
    finding.causes.first().map(|cause| cause.call.as_str()).or_else(at_end).unwrap_or_default()
}

/// Returns the path from the project root, as it reads on every system.
pub(crate) fn file(path: &Utf8Path, root: &Utf8Path) -> String {
    path.strip_prefix(root).unwrap_or(path).as_str().replace('\\', "/")
}

/// Keys with counts, of which each finding takes one.
pub(crate) struct Matcher {
    left: BTreeMap<BaselineKey, u32>,
}

impl Matcher {
    pub(crate) fn new(entries: &BTreeMap<BaselineKey, u32>) -> Self {
        Matcher { left: entries.clone() }
    }

    /// Returns which of the findings are known. Surer answers come first: the cause that is shown; another of its
    /// causes, for which way is the best may change with code far away; and a function of the same name where the file
    /// of an entry is gone, for files are moved.
    pub(crate) fn matches(
        &mut self,
        findings: &[&Finding],
        root: &Utf8Path,
        can: &dyn Fn(&Finding) -> bool,
        is_gone: &dyn Fn(&str) -> bool,
    ) -> Vec<bool> {
        let keys: Vec<BaselineKey> = findings.iter().map(|finding| key(finding, root)).collect();
        let mut known: Vec<bool> = keys.iter().zip(findings).map(|(key, of)| can(of) && self.take(key)).collect();
        for (at, finding) in findings.iter().enumerate().filter(|(_, finding)| can(finding)) {
            let mut others = finding.causes.iter().skip(1);
            known[at] = known[at]
                || others.any(|other| self.take(&BaselineKey { cause: other.call.clone(), ..keys[at].clone() }));
        }
        let mut moved: FxHashMap<(u16, String, String), Vec<BaselineKey>> = FxHashMap::default();
        for key in self.left.keys().filter(|key| is_gone(&key.file)) {
            moved.entry(moved_key(key)).or_default().push(key.clone());
        }
        for at in 0..findings.len() {
            if !known[at] && !moved.is_empty() && can(findings[at]) {
                let candidates = moved.get(&moved_key(&keys[at])).map_or(&[][..], Vec::as_slice);
                known[at] = candidates.iter().any(|key| self.take(key));
            }
        }
        known
    }

    /// Returns the entries that match no finding.
    pub(crate) fn left(self) -> impl Iterator<Item = (BaselineKey, u32)> {
        self.left.into_iter()
    }

    fn take(&mut self, key: &BaselineKey) -> bool {
        let Some(count) = self.left.get_mut(key) else { return false };
        *count -= 1;
        if *count == 0 {
            self.left.remove(key);
        }
        true
    }
}

/// Returns the part of a key that stays equal when its file is renamed.
pub(super) fn moved_key(key: &BaselineKey) -> (u16, String, String) {
    (key.rule.0, last_name(&key.function).to_owned(), key.cause.clone())
}
