//! Applies fixes in memory and verifies them by a new analysis, in rounds, until no fix is left.
//!
//! Only [`write`] writes files. All edits of a fix are applied, or none. A round verifies its fixes together: every
//! file still parses, the findings are gone, none is new, and no coroutine is left un-awaited in the files with
//! findings and in those that change. Fixes that break this are found by halving, taken back, and refused with the
//! reason.

pub(crate) mod chains;
mod edits;
mod elsewhere;
mod make;
mod overlay;
pub(crate) mod planned_edit;
mod program;
mod round;
mod rustfmt;
mod selection;
mod style;
#[cfg(test)]
mod tests;
mod together;
mod verdict;
mod writing;

use std::collections::BTreeMap;
use std::sync::Arc;

use blocklint_analysis::Containment;
use blocklint_core::{Applicability, Finding};
use blocklint_models::Models;
use blocklint_project::Project;
use camino::Utf8Path;

use crate::analyse::{group_by_cause, on_large_stacks};
use crate::choose::{Chosen, Levels, choose};
use crate::contain::LeftOut;
use crate::{CommentChecks, Failure, Options, Rules};

pub(crate) use edits::apply_edits;
use make::Make;
pub(crate) use make::is_generated;
pub use make::{Remedies, TextOf, attach_fixes, attach_fixes_to};
use overlay::Overlay;
use program::AnalysisResult;
pub(crate) use program::{Facts, Watched};
pub use program::{Faults, Unawaited, find_faults};
use round::{Candidate, Round};
use selection::{Together, is_sound};
pub use together::{EditsOfFile, ParseCounts, applicable_together, parse_counts};
use verdict::Key;
pub use writing::{Unwritten, write};

/// The greatest number of rounds. Fixes that are left are applied by another run.
const MAX_ROUNDS: usize = 10;

/// The request for fixes.
#[derive(Clone, Copy, Debug)]
pub struct FixRequest<'a> {
    /// The project.
    pub project: &'a Project,
    /// The models.
    pub models: &'a Models,
    /// The rules whose findings are fixed.
    pub rules: &'a Rules,
    /// The least severity and confidence of findings that are fixed.
    pub levels: Levels,
    /// True if findings that only tests, examples or a command line reach are fixed too.
    pub include_aside: bool,
    /// The least applicability of fixes that are applied. Fixes for display are never applied.
    pub allowed: Applicability,
    /// How functions whose analysis fails are treated.
    pub containment: Containment,
}

/// The result of a run with fixes.
#[derive(Debug, Default)]
pub struct FixResult {
    /// The files that change, by path.
    pub changes: Vec<Change>,
    /// The findings whose fixes were applied, round by round. Their places are those before their round.
    pub findings: Vec<Finding>,
    /// The fixes that were tried and taken back.
    pub refused: Vec<RefusedFix>,
    /// The findings that `check` would show afterwards. Their places have no rows and columns yet.
    pub remaining: Vec<Finding>,
    /// The parts that the analysis of the unchanged files left out because it failed there.
    pub left_out: Vec<LeftOut>,
}

impl FixResult {
    /// Returns the changes in groups that must be written together. Two files are in one group if one fix changes both,
    /// or if a chain of such files connects them.
    pub fn groups(&self) -> Vec<Vec<Change>> {
        let mut group: Vec<usize> = (0..self.changes.len()).collect();
        let index_of = |path: &Utf8Path| self.changes.iter().position(|change| *change.path == *path);
        for finding in &self.findings {
            let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
            let mut members = edits.filter_map(|edit| index_of(&edit.place.path));
            let Some(first) = members.next() else { continue };
            for member in members {
                let (from, to) = (group[member], group[first]);
                group
                    .iter_mut()
                    .filter(|group_number| **group_number == from)
                    .for_each(|group_number| *group_number = to);
            }
        }
        let mut groups: Vec<(usize, Vec<Change>)> = Vec::new();
        for (change, &group_number) in self.changes.iter().zip(&group) {
            match groups.iter_mut().find(|(number, _)| *number == group_number) {
                Some((_, members)) => members.push(change.clone()),
                None => groups.push((group_number, vec![change.clone()])),
            }
        }
        groups.into_iter().map(|(_, members)| members).collect()
    }
}

/// A file that fixes or suppression comments change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path, absolute.
    pub path: Arc<Utf8Path>,
    /// Its bytes, as they were read.
    pub before: Vec<u8>,
    /// Its bytes afterwards.
    pub after: Vec<u8>,
    /// The text of `before`, for diffs.
    pub text_before: Arc<str>,
    /// The text of `after`.
    pub text_after: Arc<str>,
    /// The number of findings in the file whose fixes were applied.
    pub fixed: usize,
}

/// A fix that was taken back.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedFix {
    /// The finding, with its place in the changed files.
    pub finding: Finding,
    /// The reason, as a clause that completes "not fixed: …".
    pub reason: String,
}

/// Applies fixes in memory and returns the changes of files.
///
/// # Errors
/// If the system starts no threads.
pub fn fix(request: FixRequest<'_>) -> Result<FixResult, Failure> {
    fix_with(request, &|remedies, findings, text_of| {
        attach_fixes_to(remedies, findings, text_of);
    })
}

/// Applies fixes as [`fix`] does, with `make` for attaching fixes to findings.
fn fix_with(request: FixRequest<'_>, make: &Make<'_>) -> Result<FixResult, Failure> {
    on_large_stacks(|| {
        let comments = CommentChecks::new(request.project, &request.rules.selection);
        let include_aside = request.include_aside;
        let containment = request.containment;
        let options = Options { comments, include_aside, containment, ..Options::new(request.levels.confidence) };
        let mut facts = Facts::new(request.project, request.models, options);
        let mut overlay = Overlay::new(request.project);
        let show = |mut findings: Vec<Finding>| -> Chosen {
            request.rules.suppress_per_file(&mut findings);
            let groups = group_by_cause(&findings);
            choose(findings, groups, &request.rules.selection, request.levels)
        };
        let mut state = facts.analyse(None, &show);
        let mut fixed = FixResult { left_out: state.left_out.clone(), ..FixResult::default() };
        for _ in 0..MAX_ROUNDS {
            let (candidates, mut refused) = candidates(&request, &state, &mut overlay, &facts, make);
            let mut together = Together::default();
            let chosen = (0..candidates.len()).filter(|&index| together.add(&candidates[index].fix)).collect();
            let (kept, taken_back) = Round::run(&mut facts, &overlay, &show, &state, &candidates, chosen);
            let taken_back = taken_back
                .into_iter()
                .map(|(index, reason)| RefusedFix { finding: candidates[index].finding.clone(), reason });
            refused.extend(taken_back);
            // A fix that is refused now may succeed after others were applied, so only the last round's refusals count.
            fixed.refused = refused;
            let Some(after) = kept.state else { break };
            overlay.keep(kept.bytes);
            fixed.findings.extend(kept.applied.iter().map(|&index| candidates[index].finding.clone()));
            state = after;
        }
        fixed.refused.sort_by(|a, b| {
            (&a.finding.place.path, a.finding.place.span).cmp(&(&b.finding.place.path, b.finding.place.span))
        });
        for refused in &mut fixed.refused {
            let place = &mut refused.finding.place;
            if let Some(text) = overlay.text(&place.path) {
                place.locate(&text);
            }
        }
        fixed.remaining = state.shown.findings;
        fixed.changes = changes(overlay, &fixed.findings);
        fixed
    })
}

/// Returns the shown findings whose fixes may be applied, and the fixes that are refused, because a file may not be
/// changed or because their edits overlap.
fn candidates(
    request: &FixRequest<'_>,
    state: &AnalysisResult,
    overlay: &mut Overlay<'_>,
    facts: &Facts<'_>,
    make: &Make<'_>,
) -> (Vec<Candidate>, Vec<RefusedFix>) {
    let mut findings = state.shown.findings.clone();
    make(&state.remedies, &mut findings, &|path| overlay.text(path));
    let allowed = request.allowed.max(Applicability::Unsafe);
    let (mut candidates, mut refused) = (Vec::new(), Vec::new());
    // Tests, scripts and examples are not changed without `--include-aside`.
    for finding in findings.into_iter().filter(|finding| request.include_aside || finding.aside.is_none()) {
        let Some(fix) = finding.fix.clone().filter(|fix| fix.applicability >= allowed && !fix.edits.is_empty()) else {
            continue;
        };
        let opened = fix.edits.iter().try_for_each(|edit| overlay.open(&edit.place.path, facts));
        let sound = if is_sound(&fix.edits) { Ok(()) } else { Err("its edits overlap".to_owned()) };
        match opened.and(sound) {
            Ok(()) => candidates.push(Candidate { key: Key::of(&finding), finding, fix }),
            Err(reason) => refused.push(RefusedFix { finding, reason }),
        }
    }
    (candidates, refused)
}

fn changes(overlay: Overlay<'_>, fixed_findings: &[Finding]) -> Vec<Change> {
    let mut counts: BTreeMap<&Utf8Path, usize> = BTreeMap::new();
    for finding in fixed_findings {
        *counts.entry(&finding.place.path).or_default() += 1;
    }
    overlay
        .changed()
        .into_iter()
        .map(|(path, contents, [text_before, text_after])| Change {
            fixed: counts.get(&*path).copied().unwrap_or_default(),
            before: contents.before,
            after: contents.now,
            text_before,
            text_after,
            path,
        })
        .collect()
}
