//! Applying fixes: all that go together in one overlay, verified by analysing again, until nothing changes.
//!
//! Only [`write`] writes files. A fix is applied as a whole or not at all. All fixes are verified together: every file
//! still parses, the findings are gone, none is new, no coroutine is left un-awaited (in the files with findings and
//! those that change). Fixes that fail this are found by halving, taken back, and refused with the reason.

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

pub(crate) use edits::edited;
use make::Make;
pub(crate) use make::is_generated;
pub use make::{Remedies, TextOf, attach, attach_to};
use overlay::Overlay;
use program::AnalysisResult;
pub(crate) use program::{Facts, Watched};
pub use program::{Faults, Unawaited, faults};
use round::{Candidate, Round};
use selection::{Together, is_sound};
pub use together::{EditsOfFile, Glance, applicable_together, glance};
use verdict::Key;
pub use writing::{Unwritten, write};

/// Rounds after which what could still be applied is left for another run.
const ROUNDS: usize = 10;

/// The request for fixes.
#[derive(Clone, Copy, Debug)]
pub struct FixRequest<'a> {
    /// The project.
    pub project: &'a Project,
    /// The models.
    pub models: &'a Models,
    /// The rules whose findings are fixed.
    pub rules: &'a Rules,
    /// The least that is fixed.
    pub levels: Levels,
    /// True if findings that only tests, examples or a command line reach are fixed too.
    pub include_aside: bool,
    /// The least applicability of fixes that are applied; those for display never are.
    pub allowed: Applicability,
    /// How functions whose analysis fails are treated.
    pub containment: Containment,
}

/// The result of a run with fixes.
#[derive(Debug, Default)]
pub struct Fixed {
    /// The files that change, by path.
    pub changes: Vec<Change>,
    /// The findings whose fixes were applied, round by round. Their places are those before their round.
    pub findings: Vec<Finding>,
    /// The fixes that were tried and taken back.
    pub refused: Vec<Refused>,
    /// The findings that would be shown afterwards, not located.
    pub remaining: Vec<Finding>,
    /// The parts that the analysis of the unchanged files left out because it failed there.
    pub left_out: Vec<LeftOut>,
}

impl Fixed {
    /// Returns the changes in groups: those of files that one fix changes, also through a third, are to be written
    /// together.
    pub fn groups(&self) -> Vec<Vec<Change>> {
        let mut group: Vec<usize> = (0..self.changes.len()).collect();
        let at = |path: &Utf8Path| self.changes.iter().position(|change| *change.path == *path);
        for finding in &self.findings {
            let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
            let mut members = edits.filter_map(|edit| at(&edit.place.path));
            let Some(first) = members.next() else { continue };
            for other in members {
                let (from, to) = (group[other], group[first]);
                group.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
            }
        }
        let mut found: Vec<(usize, Vec<Change>)> = Vec::new();
        for (change, &of) in self.changes.iter().zip(&group) {
            match found.iter_mut().find(|(known, _)| *known == of) {
                Some((_, members)) => members.push(change.clone()),
                None => found.push((of, vec![change.clone()])),
            }
        }
        found.into_iter().map(|(_, members)| members).collect()
    }
}

/// A file that fixes change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path, absolute.
    pub path: Arc<Utf8Path>,
    /// Its bytes, as they were read.
    pub before: Vec<u8>,
    /// Its bytes afterwards.
    pub after: Vec<u8>,
    /// The text of `before`, for people.
    pub text_before: Arc<str>,
    /// The text of `after`.
    pub text_after: Arc<str>,
    /// The number of findings in the file whose fixes were applied.
    pub fixed: usize,
}

/// A fix that was taken back.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The finding, located in the changed files.
    pub finding: Finding,
    /// Why: a clause that completes "not fixed: …".
    pub reason: String,
}

/// Fixes what can be fixed, in memory.
///
/// # Errors
/// If the system starts no threads.
pub fn fix(request: FixRequest<'_>) -> Result<Fixed, Failure> {
    fix_with(request, &|remedies, findings, text_of| {
        attach_to(remedies, findings, text_of);
    })
}

/// Fixes as [`fix`] does, with fixes made by `make`.
fn fix_with(request: FixRequest<'_>, make: &Make<'_>) -> Result<Fixed, Failure> {
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
        let mut fixed = Fixed { left_out: state.left_out.clone(), ..Fixed::default() };
        for _ in 0..ROUNDS {
            let (candidates, mut refused) = candidates(&request, &state, &mut overlay, &facts, make);
            let mut together = Together::default();
            let chosen = (0..candidates.len()).filter(|&index| together.add(&candidates[index].fix)).collect();
            let (kept, taken_back) = Round::run(&mut facts, &overlay, &show, &state, &candidates, chosen);
            let taken_back = taken_back
                .into_iter()
                .map(|(index, reason)| Refused { finding: candidates[index].finding.clone(), reason });
            refused.extend(taken_back);
            // A fix that is refused now may hold once others are applied, so only the last refusals count.
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

/// Returns the findings shown whose fixes may be applied, and those that lie where nothing may be.
fn candidates(
    request: &FixRequest<'_>,
    state: &AnalysisResult,
    overlay: &mut Overlay<'_>,
    facts: &Facts<'_>,
    make: &Make<'_>,
) -> (Vec<Candidate>, Vec<Refused>) {
    let mut findings = state.shown.findings.clone();
    make(&state.remedies, &mut findings, &|path| overlay.text(path));
    let allowed = request.allowed.max(Applicability::Unsafe);
    let (mut candidates, mut refused) = (Vec::new(), Vec::new());
    // Tests, scripts and examples are not rewritten unless `--include-aside` asks for it.
    for finding in findings.into_iter().filter(|finding| request.include_aside || finding.aside.is_none()) {
        let Some(fix) = finding.fix.clone().filter(|fix| fix.applicability >= allowed && !fix.edits.is_empty()) else {
            continue;
        };
        let opened = fix.edits.iter().try_for_each(|edit| overlay.open(&edit.place.path, facts));
        let sound = if is_sound(&fix.edits) { Ok(()) } else { Err("its edits overlap".to_owned()) };
        match opened.and(sound) {
            Ok(()) => candidates.push(Candidate { key: Key::of(&finding), finding, fix }),
            Err(reason) => refused.push(Refused { finding, reason }),
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
