//! A round of fixing: fixes that do not overlap are applied in the overlay and verified by one analysis. Fixes that
//! break a promise are found by halving and taken back.

use std::collections::BTreeMap;
use std::sync::Arc;

use blocklint_core::{Finding, Fix, Language};
use blocklint_facts::FileFacts;
use blocklint_python::{count_misplaced_awaits, decode};
use camino::Utf8Path;
use rayon::prelude::*;

use crate::extraction::extract_bytes;

use super::edits::apply_edits;
use super::overlay::Overlay;
use super::program::{AnalysisResult, Facts, Show};
use super::selection::Together;
use super::style;
use super::verdict::{Blame, BrokenPromise, Key, broken_promises};

/// A finding with a fix that may be applied.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) finding: Finding,
    pub(crate) fix: Fix,
    pub(crate) key: Key,
}

impl Candidate {
    fn changes(&self, path: &Utf8Path) -> bool {
        self.fix.edits.iter().any(|edit| *edit.place.path == *path)
    }
}

/// The state of a round.
pub(crate) struct Round<'r, 'a> {
    facts: &'r mut Facts<'a>,
    overlay: &'r Overlay<'a>,
    show: &'r Show<'r>,
    before: &'r AnalysisResult,
    candidates: &'r [Candidate],
    /// The largest verified set of fixes so far.
    kept: RoundResult,
    refused: Vec<(usize, String)>,
}

/// The result of a round.
#[derive(Default)]
pub(crate) struct RoundResult {
    /// The indices of the applied candidates, ascending.
    pub(crate) applied: Vec<usize>,
    /// The new bytes of the changed files.
    pub(crate) bytes: BTreeMap<Arc<Utf8Path>, Vec<u8>>,
    facts: BTreeMap<Arc<Utf8Path>, FileFacts>,
    /// The result of the analysis afterwards; `None` if no fix was applied.
    pub(crate) state: Option<AnalysisResult>,
}

impl<'r, 'a> Round<'r, 'a> {
    /// Applies the candidates of `chosen`, which do not overlap, and returns the verified ones, and the others with the
    /// reasons for their refusal. Afterwards, `facts` has the facts of the changed files.
    pub(crate) fn run(
        facts: &'r mut Facts<'a>,
        overlay: &'r Overlay<'a>,
        show: &'r Show<'r>,
        before: &'r AnalysisResult,
        candidates: &'r [Candidate],
        chosen: Vec<usize>,
    ) -> (RoundResult, Vec<(usize, String)>) {
        let mut round =
            Round { facts, overlay, show, before, candidates, kept: RoundResult::default(), refused: Vec::new() };
        round.apply_verified(chosen);
        for (path, facts) in std::mem::take(&mut round.kept.facts) {
            round.facts.replace(&path, facts);
        }
        (round.kept, round.refused)
    }

    /// Adds to `kept` those of these candidates that can be verified together with it, and refuses the others.
    fn apply_verified(&mut self, more: Vec<usize>) {
        if more.is_empty() {
            return;
        }
        let mut all = [self.kept.applied.as_slice(), &more].concat();
        all.sort_unstable();
        let broken = match self.try_together(all) {
            Ok(kept) => {
                self.kept = kept;
                return;
            }
            Err(broken) => broken,
        };
        if let [fix_index] = more[..] {
            self.refused.extend(broken.into_iter().next().map(|broken| (fix_index, broken.reason)));
            return;
        }
        let is_in_functions = |index: usize, functions: &[(Arc<Utf8Path>, String)]| {
            functions.iter().any(|(path, function)| self.candidates[index].key.is_in(path, function))
        };
        let is_blamed = |index: usize, broken: &&BrokenPromise| {
            let candidate = &self.candidates[index];
            match &broken.blame {
                Blame::Findings { key, .. } => candidate.key == *key,
                Blame::Functions(functions) => {
                    if more.iter().any(|index| is_in_functions(*index, functions)) {
                        is_in_functions(index, functions)
                    } else {
                        functions.first().is_some_and(|(path, _)| candidate.changes(path))
                    }
                }
                Blame::File(path) => candidate.changes(path),
            }
        };
        let is_sure = |broken: &&BrokenPromise| matches!(broken.blame, Blame::Findings { had_no_effect: true, .. });
        let sure_reason = |index: usize| broken.iter().filter(is_sure).find(|broken| is_blamed(index, broken));
        let refused = more.iter().filter_map(|&index| Some((index, sure_reason(index)?.reason.clone())));
        let refused: Vec<(usize, String)> = refused.collect();
        if !refused.is_empty() {
            let others = more.iter().copied().filter(|&index| sure_reason(index).is_none()).collect();
            self.refused.extend(refused);
            self.apply_verified(others);
            return;
        }
        let (blamed, others): (Vec<usize>, Vec<usize>) =
            more.iter().partition(|&&index| broken.iter().any(|broken| is_blamed(index, &broken)));
        if !blamed.is_empty() && !others.is_empty() {
            self.apply_verified(others);
            self.apply_verified(blamed);
        } else {
            let (first, second) = more.split_at(more.len() / 2);
            self.apply_verified(first.to_vec());
            self.apply_verified(second.to_vec());
        }
    }

    /// Applies these candidates together to the state before the round and verifies the result.
    fn try_together(&mut self, all: Vec<usize>) -> Result<RoundResult, Vec<BrokenPromise>> {
        let mut together = Together::default();
        for &index in &all {
            // They do not overlap, so none is rejected.
            together.add(&self.candidates[index].fix);
        }
        let files = together.files().collect::<Vec<_>>();
        let (overlay, old) = (self.overlay, &*self.facts);
        let done = files.par_iter().map(|(path, edits)| {
            let new = edit_file(overlay, old, path, edits);
            new.map_err(|reason| BrokenPromise { reason, blame: Blame::File(Arc::clone(path)) })
        });
        let (done, unwritten): (Vec<_>, Vec<_>) = done.collect::<Vec<_>>().into_iter().partition(Result::is_ok);
        let unwritten: Vec<BrokenPromise> = unwritten.into_iter().filter_map(Result::err).collect();
        if !unwritten.is_empty() {
            return Err(unwritten);
        }
        let done = done.into_iter().filter_map(Result::ok);
        let mut kept = RoundResult { applied: all, ..RoundResult::default() };
        for ((path, _), (bytes, facts)) in files.iter().zip(done) {
            kept.bytes.insert(Arc::clone(path), bytes);
            kept.facts.insert(Arc::clone(path), facts);
        }
        self.exchange_facts(&mut kept);
        let after = self.facts.analyse(Some(&self.before.watched), self.show);
        self.exchange_facts(&mut kept);
        let fixed_keys = kept.applied.iter().map(|&index| self.candidates[index].key.clone()).collect::<Vec<_>>();
        let broken = broken_promises(self.before, &after, &fixed_keys);
        if !broken.is_empty() {
            return Err(broken);
        }
        kept.state = Some(after);
        Ok(kept)
    }

    /// Exchanges the facts of the changed files with those of the project. A second call restores them.
    fn exchange_facts(&mut self, kept: &mut RoundResult) {
        for (path, facts) in &mut kept.facts {
            // The file's old facts are kept in the result until the next exchange.
            if let Some(old) = self.facts.replace(path, facts.clone()) {
                *facts = old;
            }
        }
    }
}

/// Returns the bytes of a file after edits, and its facts; an error if the file would not parse.
fn edit_file(
    overlay: &Overlay<'_>,
    old: &Facts<'_>,
    path: &Utf8Path,
    edits: &[(blocklint_core::Span, &str)],
) -> Result<(Vec<u8>, FileFacts), String> {
    let unknown = || "the file cannot be read".to_owned();
    let file = overlay.file(path).ok_or_else(unknown)?;
    let before = overlay.bytes(path).ok_or_else(unknown)?;
    let mut bytes = apply_edits(file.language, before, edits)?;
    if file.language == Language::Python {
        let count = |bytes: &[u8]| count_misplaced_awaits(&decode(bytes).text);
        let now = count(&bytes);
        if now > 0 && now > count(before) {
            return Err("an `await` would be outside of an `async` function".to_owned());
        }
    }
    if file.language == Language::Python
        && let Some(formatted) = style::formatted(path, overlay.root(), before, &bytes)
    {
        bytes = formatted;
    }
    if file.language == Language::Rust
        && let Some(formatted) = style::formatted_rust(path, overlay.root(), overlay.edition(path), before, &bytes)
    {
        bytes = formatted;
    }
    let facts = extract_bytes(file, &bytes)?;
    let known = old.of_file(path).ok_or_else(unknown)?;
    let new = facts.problems.iter().find(|problem| known.problems.iter().all(|old| old.message != problem.message));
    match new {
        Some(problem) => Err(format!("the file would no longer parse: {}", problem.message)),
        None => Ok((bytes, facts)),
    }
}
