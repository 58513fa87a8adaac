//! Verifies fixes by comparing two analyses: their findings are gone, no finding is new, no coroutine is left
//! un-awaited.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blocklint_core::{Finding, RuleCode};
use camino::Utf8Path;

use super::program::AnalysisResult;

/// The properties of a finding that do not change when lines move: rule, file, function and call. Two findings may
/// share a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    rule: RuleCode,
    path: Arc<Utf8Path>,
    function: String,
    call: String,
}

impl Key {
    /// True if the finding is in the function.
    pub(crate) fn is_in(&self, path: &Utf8Path, function: &str) -> bool {
        *self.path == *path && self.function == function
    }

    pub(crate) fn of(finding: &Finding) -> Self {
        Key {
            rule: finding.rule,
            path: Arc::clone(&finding.place.path),
            function: finding.function.clone(),
            call: finding.trace.first().map_or(&finding.message, |step| &step.call).clone(),
        }
    }
}

/// A promise that applied fixes break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrokenPromise {
    /// The problem, as the reason of a refusal.
    pub(crate) reason: String,
    /// The fixes that are blamed.
    pub(crate) blame: Blame,
}

/// The fixes that are blamed for a broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The fixes of the findings with a key.
    Findings {
        /// The key that the findings share.
        key: Key,
        /// True if none of these fixes had an effect, so that all of them are refused.
        had_no_effect: bool,
    },
    /// A fix in one of these functions; if there is none, a fix that changes the file of the first function.
    Functions(Vec<(Arc<Utf8Path>, String)>),
    /// A fix that changes this file.
    File(Arc<Utf8Path>),
}

/// Compares the analyses before and after the fixes of `fixed_keys`, and returns the broken promises. Each group of
/// functions is blamed only once, because further reasons would not change the next try.
pub(crate) fn broken_promises(
    before: &AnalysisResult,
    after: &AnalysisResult,
    fixed_keys: &[Key],
) -> Vec<BrokenPromise> {
    let mut promises: Vec<BrokenPromise> = Vec::new();
    let (old, new) = (count_keys(&before.all), count_keys(&after.all));
    let count = |counts: &HashMap<Key, usize>, key: &Key| counts.get(key).copied().unwrap_or_default();
    let mut expected_counts: HashMap<&Key, usize> = HashMap::new();
    for key in fixed_keys {
        *expected_counts.entry(key).or_default() += 1;
    }
    // In the order of the fixes, so that each run refuses the same fixes.
    let mut checked: HashSet<&Key> = HashSet::new();
    for key in fixed_keys.iter().filter(|key| checked.insert(key)) {
        let (old, new) = (count(&old, key), count(&new, key));
        if new > old.saturating_sub(expected_counts[key]) {
            let blame = Blame::Findings { key: key.clone(), had_no_effect: new >= old };
            promises.push(BrokenPromise { reason: "the finding would still be there".to_owned(), blame });
        }
    }
    // A new finding may come from a fix that had no effect, so those fixes are refused first.
    if !promises.is_empty() {
        return promises;
    }
    // A fix may change the call name of another finding in the function. So a finding is new only if its function has
    // more findings of its rule than before, less the fixed ones.
    let (old_kinds, new_kinds, fixed_kinds) =
        (count_kinds(&before.all), count_kinds(&after.all), count_kinds_of_keys(fixed_keys.iter()));
    let is_more = |kind: &FindingKind<'_>| {
        let count = |counts: &HashMap<FindingKind<'_>, usize>| counts.get(kind).copied().unwrap_or_default();
        count(&new_kinds) + count(&fixed_kinds) > count(&old_kinds)
    };
    // A finding that was hidden before, below the levels, is not new.
    for finding in &after.shown.findings {
        let key = Key::of(finding);
        let is_new = !expected_counts.contains_key(&key) && count(&new, &key) > count(&old, &key);
        // A finding of the same rule that is less severe than the fixed one is a rest of it, not a new one.
        let is_rest = fixed_keys
            .iter()
            .any(|key| (key.rule, &key.path, &key.function) == (finding.rule, &finding.place.path, &finding.function))
            && before.all.iter().any(|old| {
                (old.rule, &old.place.path, &old.function) == (finding.rule, &finding.place.path, &finding.function)
                    && old.severity >= finding.severity
            });
        if is_new && !is_rest && is_more(&(key.rule, &key.path, &key.function)) {
            let reason = format!("it would bring a new finding: {} {}", finding.rule, finding.message);
            let on_path = finding.trace.iter().map(|step| (Arc::clone(&step.place.path), step.function.clone()));
            let owner = (Arc::clone(&finding.place.path), finding.function.clone());
            blame_functions(&mut promises, reason, [owner].into_iter().chain(on_path).collect());
        }
    }
    for left_out in &after.left_out {
        if let Some(place) = left_out
            .place
            .as_ref()
            .filter(|_| before.left_out.iter().all(|old_left_out| old_left_out.name != left_out.name))
        {
            let reason = format!("`{}` could no longer be analysed", left_out.name);
            blame_functions(&mut promises, reason, vec![(Arc::clone(&place.path), left_out.name.clone())]);
        }
    }
    for (key, count) in &after.unawaited {
        if *count > before.unawaited.get(key).copied().unwrap_or_default() {
            let (path, function, name) = key;
            let reason = if function.is_empty() {
                format!("it would leave the coroutine of `{name}` un-awaited")
            } else {
                format!("it would leave the coroutine of `{name}` in `{function}` un-awaited")
            };
            blame_functions(&mut promises, reason, vec![(Arc::clone(path), function.clone())]);
        }
    }
    promises
}

/// Blames the fixes in some functions, unless they are blamed already.
fn blame_functions(promises: &mut Vec<BrokenPromise>, reason: String, functions: Vec<(Arc<Utf8Path>, String)>) {
    let blame = Blame::Functions(functions);
    if !promises.iter().any(|promise| promise.blame == blame) {
        promises.push(BrokenPromise { reason, blame });
    }
}

/// The rule, file and function of a finding.
type FindingKind<'k> = (RuleCode, &'k Utf8Path, &'k str);

fn count_kinds(findings: &[Finding]) -> HashMap<FindingKind<'_>, usize> {
    let mut counts = HashMap::new();
    for finding in findings {
        *counts.entry((finding.rule, &*finding.place.path, finding.function.as_str())).or_default() += 1;
    }
    counts
}

fn count_kinds_of_keys<'k>(keys: impl Iterator<Item = &'k Key>) -> HashMap<FindingKind<'k>, usize> {
    let mut counts = HashMap::new();
    for key in keys {
        *counts.entry((key.rule, &*key.path, key.function.as_str())).or_default() += 1;
    }
    counts
}

fn count_keys(findings: &[Finding]) -> HashMap<Key, usize> {
    let mut counts = HashMap::new();
    for finding in findings {
        *counts.entry(Key::of(finding)).or_default() += 1;
    }
    counts
}
