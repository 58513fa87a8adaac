//! The gate that fixes pass before they are written: all compatible edits of all files are made in memory, the changed
//! files are read again and the whole is solved again. What does not hold is taken back.

use std::collections::BTreeMap;
use std::sync::Arc;

use blocklint_core::{Applicability, Confidence, Finding, Refusal, RuleCode};
use blocklint_models::Models;
use blocklint_project::Project;
use camino::Utf8Path;
use rustc_hash::FxHashSet;

use super::edits::Change;
use super::workspace::{State, Undo, Workspace};
use super::{attach_to, is_fixable};
use crate::{Failure, Levels, Options, Rules, on_large_stacks};

/// Fixes make room for others: a call inside another's arguments, a helper that can be awaited now. A project that goes
/// on changing for longer is not worth waiting for.
const ROUNDS: usize = 20;

/// What is applied.
pub struct Wanted<'w> {
    /// The least applicability.
    pub least: Applicability,
    /// The rules whose findings are mended.
    pub rules: &'w Rules,
    /// The least that is mended.
    pub levels: Levels,
}

/// What fixing did; nothing is written yet.
#[derive(Debug)]
pub struct Fixed {
    /// The files that changed, by path.
    pub files: Vec<FixedFile>,
    /// The findings that are gone, each with its fix.
    pub fixed: Vec<Finding>,
    /// Fixes that were taken back.
    pub refused: Vec<Refused>,
}

/// A file before and after.
#[derive(Clone, Debug)]
pub struct FixedFile {
    /// Its path.
    pub path: Arc<Utf8Path>,
    /// Its bytes when it was read.
    pub read: Arc<[u8]>,
    /// Its text when it was read.
    pub before: Arc<str>,
    /// Its text now.
    pub after: Arc<str>,
}

/// A fix that was taken back.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The finding, with its fix.
    pub finding: Finding,
    /// Why.
    pub reason: Refusal,
}

/// Applies what is wanted, in memory, until nothing changes.
///
/// # Errors
///
/// Where the system gives no threads.
pub fn apply(project: &Project, models: &Models, options: Options, wanted: &Wanted<'_>) -> Result<Fixed, Failure> {
    on_large_stacks(|| {
        let mut gate =
            Gate { workspace: Workspace::new(project, models, options), refused: Vec::new(), fixed: Vec::new() };
        let mut state = gate.workspace.solve();
        for _ in 0..ROUNDS {
            let candidates = gate.candidates(&mut state, wanted);
            if candidates.is_empty() {
                break;
            }
            match gate.round(&state, candidates) {
                Some(next) => state = next,
                None => break,
            }
        }
        let changed = gate.workspace.texts().filter(|(_, text)| text.before != text.now);
        let files = changed.map(|(path, text)| FixedFile {
            path: Arc::clone(path),
            read: Arc::clone(&text.read),
            before: Arc::clone(&text.before),
            after: Arc::clone(&text.now),
        });
        let files = files.collect();
        let refused = gate.refused.into_iter().map(|(_, refused)| refused).collect();
        Fixed { files, fixed: gate.fixed, refused }
    })
}

/// Where a finding stands: what tells it from others of one state.
type Key = (Arc<Utf8Path>, u32, RuleCode);

fn key(finding: &Finding) -> Key {
    (finding.place.path.clone(), finding.place.span.start, finding.rule)
}

struct Gate<'p> {
    workspace: Workspace<'p>,
    /// With where they stand by now.
    refused: Vec<(Key, Refused)>,
    fixed: Vec<Finding>,
}

/// Why a set of fixes does not hold.
struct Failing {
    /// Those that are known to be at fault.
    blamed: Vec<usize>,
    reason: Refusal,
}

impl Gate<'_> {
    /// The findings of a state whose fixes are tried.
    fn candidates(&mut self, state: &mut State, wanted: &Wanted<'_>) -> Vec<Finding> {
        wanted.rules.hide(&mut state.findings);
        let known: FxHashSet<&Key> = self.refused.iter().map(|(key, _)| key).collect();
        let mut findings: Vec<Finding> = state
            .findings
            .iter()
            .filter(|finding| finding.suppression.is_none() && wanted.rules.selection.contains(finding.rule))
            .filter(|finding| finding.severity >= wanted.levels.severity)
            .filter(|finding| finding.confidence >= wanted.levels.confidence)
            .filter(|finding| is_fixable(&finding.place.path))
            .filter(|finding| !known.contains(&key(finding)) && state.remedies.of(finding).is_ok())
            .cloned()
            .collect();
        let mut closed = Vec::new();
        let paths: std::collections::BTreeSet<_> = findings.iter().map(|finding| finding.place.path.clone()).collect();
        for path in paths {
            if let Err(reason) = self.workspace.open(&path) {
                closed.push((path, reason));
            }
        }
        attach_to(self.workspace.models, &state.remedies, &mut findings, |path| {
            self.workspace.text(path).or_else(|| self.workspace.closed_text(path))
        });
        findings.retain(|finding| finding.fix.as_ref().is_some_and(|fix| fix.applicability >= wanted.least));
        for finding in &findings {
            if let Some((_, reason)) = closed.iter().find(|(path, _)| *path == finding.place.path) {
                self.refuse(finding, Refusal::new(reason.clone()));
            }
        }
        findings.retain(|finding| !closed.iter().any(|(path, _)| *path == finding.place.path));
        findings
    }

    /// Tries fixes together and keeps those that hold. Nothing where none does.
    fn round(&mut self, state: &State, mut candidates: Vec<Finding>) -> Option<State> {
        // Of fixes that overlap, the first is tried now.
        let mut changes: BTreeMap<Arc<Utf8Path>, Change> = BTreeMap::new();
        candidates.retain(|finding| {
            finding
                .fix
                .as_ref()
                .is_some_and(|fix| changes.entry(finding.place.path.clone()).or_default().add(fix.edits.iter()))
        });
        let mut held = None;
        let mut accepted: Vec<usize> = Vec::new();
        let mut waiting: Vec<Vec<usize>> = vec![(0..candidates.len()).collect()];
        while let Some(mut trial) = waiting.pop() {
            if trial.is_empty() {
                continue;
            }
            let together: Vec<usize> = accepted.iter().chain(&trial).copied().collect();
            match self.attempt(state, &candidates, &together) {
                Ok(next) => {
                    accepted = together;
                    held = Some(next);
                }
                Err(failing) => {
                    let blamed: Vec<usize> = match trial.len() {
                        1 => trial.clone(),
                        _ => trial.iter().copied().filter(|at| failing.blamed.contains(at)).collect(),
                    };
                    for &at in &blamed {
                        self.refuse(&candidates[at], failing.reason.clone());
                    }
                    trial.retain(|at| !blamed.contains(at));
                    if blamed.is_empty() {
                        let rest = trial.split_off(trial.len() / 2);
                        waiting.push(rest);
                    }
                    waiting.push(trial);
                }
            }
        }
        let held = held?;
        // The state that held last is that of all accepted ones.
        let changes = self.make(&candidates, &accepted).ok()?;
        for ((path, start, _), _) in &mut self.refused {
            if let Some((change, _)) = changes.get(path) {
                *start = change.moved(*start);
            }
        }
        self.fixed.extend(accepted.iter().map(|&at| candidates[at].clone()));
        Some(held)
    }

    fn refuse(&mut self, finding: &Finding, reason: Refusal) {
        self.refused.push((key(finding), Refused { finding: finding.clone(), reason }));
    }

    /// Makes the edits of some fixes.
    fn make(&mut self, all: &[Finding], some: &[usize]) -> Result<BTreeMap<Arc<Utf8Path>, (Change, Undo)>, Failing> {
        let mut changes: BTreeMap<Arc<Utf8Path>, (Change, Vec<usize>)> = BTreeMap::new();
        for &at in some {
            let Some(fix) = &all[at].fix else { continue };
            let (change, of) = changes.entry(all[at].place.path.clone()).or_default();
            of.push(at);
            change.add(fix.edits.iter());
        }
        let mut made: BTreeMap<Arc<Utf8Path>, (Change, Undo)> = BTreeMap::new();
        for (path, (change, of)) in changes {
            let text = self.workspace.text(&path).and_then(|text| change.apply(&text));
            let replaced = match text {
                Some(text) => self.workspace.replace(&path, text.into()),
                None => Err("its edits do not fit the file".to_owned()),
            };
            match replaced {
                Ok(undo) => {
                    made.insert(path, (change, undo));
                }
                Err(reason) => {
                    for (_, undo) in made.into_values() {
                        self.workspace.undo(undo);
                    }
                    let blamed = if of.len() == 1 { of } else { Vec::new() };
                    return Err(Failing { blamed, reason: Refusal::new(reason) });
                }
            }
        }
        Ok(made)
    }

    /// Makes the edits of some fixes, looks at what is found then, and undoes them.
    fn attempt(&mut self, before: &State, all: &[Finding], some: &[usize]) -> Result<State, Failing> {
        let made = self.make(all, some)?;
        let after = self.workspace.solve();
        let verdict = compare(before, &after, all, some, &made);
        for (_, undo) in made.into_values() {
            self.workspace.undo(undo);
        }
        verdict.map(|()| after)
    }
}

/// Whether the findings of these fixes are gone and no other is new.
fn compare(
    before: &State,
    after: &State,
    all: &[Finding],
    some: &[usize],
    made: &BTreeMap<Arc<Utf8Path>, (Change, Undo)>,
) -> Result<(), Failing> {
    let moved = |path: &Arc<Utf8Path>, offset: u32| made.get(path).map_or(offset, |(change, _)| change.moved(offset));
    let fixed: FxHashSet<Key> = some.iter().map(|&at| key(&all[at])).collect();
    let expected: FxHashSet<Key> = before
        .findings
        .iter()
        .map(key)
        .filter(|key| !fixed.contains(key))
        .map(|(path, start, rule)| {
            let start = moved(&path, start);
            (path, start, rule)
        })
        .collect();
    let mut failing: Option<Failing> = None;
    for finding in &after.findings {
        if finding.suppression.is_some() || finding.confidence < Confidence::Medium || expected.contains(&key(finding))
        {
            continue;
        }
        let place = &finding.place;
        let still: Vec<usize> = some
            .iter()
            .copied()
            .filter(|&at| {
                let of = &all[at].place;
                all[at].rule == finding.rule
                    && of.path == place.path
                    && moved(&of.path, of.span.start) <= place.span.start
                    && place.span.start < moved(&of.path, of.span.end)
            })
            .collect();
        match still.is_empty() {
            false => {
                let persists = || Failing { blamed: Vec::new(), reason: Refusal::new("the finding would stay") };
                failing.get_or_insert_with(persists).blamed.extend(still);
            }
            true if failing.is_none() => {
                let name = blocklint_rules::rule(finding.rule).map_or("a rule", |rule| rule.name);
                let reason = Refusal::new(format!("another finding ({name}) would be new"));
                failing = Some(Failing { blamed: Vec::new(), reason });
            }
            true => {}
        }
    }
    failing.map_or(Ok(()), Err)
}
