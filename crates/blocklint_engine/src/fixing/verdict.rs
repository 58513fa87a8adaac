//! The verification of fixes: their findings are gone, no finding is new, no coroutine is left un-awaited.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blocklint_core::{Finding, RuleCode};
use camino::Utf8Path;

use super::program::AnalysisResult;

/// The part of a finding that stays equal while lines move: rule, file, function and the call. Two findings may share
/// one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    rule: RuleCode,
    path: Arc<Utf8Path>,
    function: String,
    call: String,
}

impl Key {
    /// True if the finding stands in the function.
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

/// Something that fixes did not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrokenPromise {
    /// The problem, as the reason of a refusal.
    pub(crate) reason: String,
    /// Whom it is laid to.
    pub(crate) blame: Blame,
}

/// Whom a broken promise is laid to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    /// These findings' fixes; surely, where nothing of them changed.
    Findings {
        /// The key that the findings share.
        key: Key,
        /// True if all findings with the key are meant.
        surely: bool,
    },
    /// A fix that stands in one of these functions, or where none does, one that changes the file of the first.
    Functions(Vec<(Arc<Utf8Path>, String)>),
    /// A fix that changes this file.
    File(Arc<Utf8Path>),
}

/// Compares the findings before and after the fixes of `fixed_keys` were applied: all that they did not keep, each of whom it is laid
/// to once. One analysis costs as much as ten of these answers are worth.
pub(crate) fn broken(before: &AnalysisResult, after: &AnalysisResult, fixed_keys: &[Key]) -> Vec<BrokenPromise> {
    let mut all: Vec<BrokenPromise> = Vec::new();
    let (old, new) = (counted(&before.all), counted(&after.all));
    let count = |counts: &HashMap<Key, usize>, key: &Key| counts.get(key).copied().unwrap_or_default();
    let mut wanted: HashMap<&Key, usize> = HashMap::new();
    for key in fixed_keys {
        *wanted.entry(key).or_default() += 1;
    }
    // In the order of the fixes: the same refusals on every run.
    let mut told: HashSet<&Key> = HashSet::new();
    for key in fixed_keys.iter().filter(|key| told.insert(key)) {
        let (old, new) = (count(&old, key), count(&new, key));
        if new > old.saturating_sub(wanted[key]) {
            let blame = Blame::Findings { key: key.clone(), surely: new >= old };
            all.push(BrokenPromise { reason: "the finding would still be there".to_owned(), blame });
        }
    }
    // A new finding beside a fix without effect may come from that fix.
    if !all.is_empty() {
        return all;
    }
    // A neighbour may be named by another path once a value next to it comes from elsewhere; it is new where its function
    // has more of its kind than what was fixed_keys leaves.
    let (old_kinds, new_kinds, gone) = (kinds(&before.all), kinds(&after.all), kinds_of(fixed_keys.iter()));
    let is_more = |kind: &Kind<'_>| {
        let count = |counts: &HashMap<Kind<'_>, usize>| counts.get(kind).copied().unwrap_or_default();
        count(&new_kinds) + count(&gone) > count(&old_kinds)
    };
    // A finding that was there below the level shown is not new when it is shown now.
    for finding in &after.shown.findings {
        let key = Key::of(finding);
        let is_new = !wanted.contains_key(&key) && count(&new, &key) > count(&old, &key);
        // The rest of a finding that was worse: a response on a faster way.
        let is_rest = fixed_keys
            .iter()
            .any(|key| (key.rule, &key.path, &key.function) == (finding.rule, &finding.place.path, &finding.function))
            && before.all.iter().any(|old| {
                (old.rule, &old.place.path, &old.function) == (finding.rule, &finding.place.path, &finding.function)
                    && old.severity >= finding.severity
            });
        if is_new && !is_rest && is_more(&(key.rule, &key.path, &key.function)) {
            let reason = format!("it would bring a new finding: {} {}", finding.rule, finding.message);
            let on_the_way = finding.trace.iter().map(|step| (Arc::clone(&step.place.path), step.function.clone()));
            let own = (Arc::clone(&finding.place.path), finding.function.clone());
            lay_to(&mut all, reason, [own].into_iter().chain(on_the_way).collect());
        }
    }
    for one in &after.left_out {
        if let Some(place) = one.place.as_ref().filter(|_| before.left_out.iter().all(|of| of.name != one.name)) {
            let reason = format!("`{}` could not be analysed any more", one.name);
            lay_to(&mut all, reason, vec![(Arc::clone(&place.path), one.name.clone())]);
        }
    }
    for (key, count) in &after.unawaited {
        if *count > before.unawaited.get(key).copied().unwrap_or_default() {
            let (path, function, name) = key;
            let reason = match function.is_empty() {
                true => format!("it would leave the coroutine of `{name}` un-awaited"),
                false => format!("it would leave the coroutine of `{name}` in `{function}` un-awaited"),
            };
            lay_to(&mut all, reason, vec![(Arc::clone(path), function.clone())]);
        }
    }
    all
}

/// Lays something to the fixes of some functions, unless they answer for something else already.
fn lay_to(all: &mut Vec<BrokenPromise>, reason: String, functions: Vec<(Arc<Utf8Path>, String)>) {
    let blame = Blame::Functions(functions);
    if !all.iter().any(|of| of.blame == blame) {
        all.push(BrokenPromise { reason, blame });
    }
}

/// Rule, file and function.
type Kind<'k> = (RuleCode, &'k Utf8Path, &'k str);

fn kinds(findings: &[Finding]) -> HashMap<Kind<'_>, usize> {
    let mut counts = HashMap::new();
    for finding in findings {
        *counts.entry((finding.rule, &*finding.place.path, finding.function.as_str())).or_default() += 1;
    }
    counts
}

fn kinds_of<'k>(keys: impl Iterator<Item = &'k Key>) -> HashMap<Kind<'k>, usize> {
    let mut counts = HashMap::new();
    for key in keys {
        *counts.entry((key.rule, &*key.path, key.function.as_str())).or_default() += 1;
    }
    counts
}

fn counted(findings: &[Finding]) -> HashMap<Key, usize> {
    let mut counts = HashMap::new();
    for finding in findings {
        *counts.entry(Key::of(finding)).or_default() += 1;
    }
    counts
}
