//! `blocklint ignore`: adds suppression comments at findings. Each comment is tried: the file must parse as before, and
//! the comment must cover the line of the finding. Otherwise the comment is tried at another place.
//!
//! If a call breaks several rules, only the worst finding is shown, and after its suppression the next one. So the
//! project is analysed again with the new comments until no finding is left.

mod lines;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use blocklint_core::Finding;
use blocklint_models::Models;
use blocklint_output::Sources;
use blocklint_project::{Project, read};
use blocklint_rules::UNREADABLE_SOURCE;
use camino::Utf8Path;

use crate::analyse::{group_by_cause, on_large_stacks};
use crate::choose::{Chosen, Levels, choose};
use crate::extraction::decode;
use crate::fixing::{Facts, Watched};
use crate::sources::locate_one;
use crate::{Change, Failure, Options, Rules};
use lines::Line;
use page::Page;

/// The greatest number of rounds. Each round suppresses at least one more rule of a line, and few lines break more than
/// two.
const MAX_ROUNDS: usize = 20;

/// The reason why a finding about an unreadable file (BLT902) gets no comment.
const UNREADABLE: &str = "a comment cannot suppress this finding, because the file was not read; `exclude` or \
                          `per-file-ignores` leaves the file out";

/// The request to ignore findings.
#[derive(Clone, Copy)]
pub struct IgnoreRequest<'a> {
    /// The project.
    pub project: &'a Project,
    /// The models.
    pub models: &'a Models,
    /// The rules whose findings are ignored.
    pub rules: &'a Rules,
    /// The least severity and confidence of findings that are suppressed.
    pub levels: Levels,
    /// The options of the analysis that found the findings.
    pub options: Options,
    /// The findings to suppress.
    pub findings: &'a [Finding],
    /// Removes findings that need no comment: those of a baseline, or those that were there before a change.
    pub leave_out: &'a (dyn Fn(&mut Chosen) + Sync),
    /// The reason to write after the rules, in one line; empty for none.
    pub reason: &'a str,
}

/// The comments to write; nothing is written yet.
#[derive(Debug, Default)]
pub struct IgnoreResult {
    /// The files that change, by path. `fixed` counts findings.
    pub changes: Vec<Change>,
    /// The findings that get a comment.
    pub findings: Vec<Finding>,
    /// The findings for which no comment could be placed.
    pub unplaced: Vec<Unplaced>,
}

/// A finding for which no comment could be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Unplaced {
    /// The finding. Its rows are those of the file with the new comments.
    pub finding: Finding,
    /// The reason, as a clause that completes "not ignored: …".
    pub reason: String,
}

/// The files that got comments.
type Pages<'p> = BTreeMap<Arc<Utf8Path>, Page<'p>>;

/// Adds comments in memory and returns the changed files.
///
/// # Errors
/// If the system starts no threads.
pub fn ignore_findings(request: IgnoreRequest<'_>) -> Result<IgnoreResult, Failure> {
    on_large_stacks(|| {
        let show = |mut findings: Vec<Finding>| -> Chosen {
            request.rules.suppress_per_file(&mut findings);
            let groups = group_by_cause(&findings);
            let mut chosen = choose(findings, groups, &request.rules.selection, request.levels);
            (request.leave_out)(&mut chosen);
            chosen
        };
        let mut pages = Pages::new();
        let mut facts = None;
        let mut ignored = IgnoreResult::default();
        let mut remaining = request.findings.to_vec();
        for _ in 0..MAX_ROUNDS {
            // A finding without a place had none in earlier rounds either, so only the last round counts.
            ignored.unplaced.clear();
            let placed = add_comments(request, &remaining, &mut pages, &mut ignored.unplaced);
            if placed.is_empty() {
                break;
            }
            let changed: BTreeSet<_> = placed.iter().map(|finding| Arc::clone(&finding.place.path)).collect();
            ignored.findings.extend(placed);
            let facts = facts.get_or_insert_with(|| Facts::new(request.project, request.models, request.options));
            for path in &changed {
                let Some(page) = pages.get(path) else { continue };
                facts.replace(path, page.facts.clone());
            }
            remaining = facts.analyse(Some(&Watched::new()), &show).shown.findings;
        }
        locate(request.project, &pages, &mut ignored.unplaced);
        ignored.changes = changes(pages, &ignored.findings);
        ignored
    })
}

/// Adds comments for findings. Returns the findings that got one, and adds the others to `unplaced`.
fn add_comments<'p>(
    request: IgnoreRequest<'p>,
    findings: &[Finding],
    pages: &mut Pages<'p>,
    unplaced: &mut Vec<Unplaced>,
) -> Vec<Finding> {
    let mut by_file: BTreeMap<&Arc<Utf8Path>, Vec<&Finding>> = BTreeMap::new();
    let refuse = |finding: &&Finding, reason: &str| Unplaced { finding: (*finding).clone(), reason: reason.to_owned() };
    for finding in findings {
        if finding.rule == UNREADABLE_SOURCE.code {
            unplaced.push(refuse(&finding, UNREADABLE))
        } else {
            by_file.entry(&finding.place.path).or_default().push(finding)
        }
    }
    let mut placed = Vec::new();
    for (path, findings) in by_file {
        let page = match pages.remove(path).map_or_else(|| open(request.project, path), Ok) {
            Ok(page) => pages.entry(Arc::clone(path)).or_insert(page),
            Err(reason) => {
                unplaced.extend(findings.iter().map(|finding| refuse(finding, &reason)));
                continue;
            }
        };
        // The findings by the offset of the line on which they begin.
        let mut lines: BTreeMap<u32, Vec<&Finding>> = BTreeMap::new();
        for finding in findings {
            lines.entry(page.line_of(finding.place.span.start)).or_default().push(finding);
        }
        let lines = lines.into_values().map(|findings| {
            let offset = findings.iter().map(|finding| finding.place.span.start).min().unwrap_or_default();
            Line { offset, rules: findings.iter().map(|finding| finding.rule).collect(), findings }
        });
        lines::ignore_lines(page, lines.collect(), request.reason, &mut |findings, result| match result {
            Ok(()) => placed.extend(findings.into_iter().cloned()),
            Err(reason) => unplaced.extend(findings.iter().map(|finding| refuse(finding, &reason))),
        });
    }
    placed
}

fn open<'p>(project: &'p Project, path: &Utf8Path) -> Result<Page<'p>, String> {
    let file = project.file_at(path).ok_or("it is outside of the project")?;
    if file.is_notebook() {
        return Err("cells of a notebook are not edited".to_owned());
    }
    let bytes = read(path, project.configuration.max_file_size).map_err(|_| "the file can no longer be read")?;
    Page::new(file, bytes)
}

/// Computes rows and columns in the files with the new comments.
fn locate(project: &Project, pages: &Pages<'_>, unplaced: &mut [Unplaced]) {
    let mut sources = Sources::default();
    for (path, page) in pages {
        sources.insert(Arc::clone(path), Arc::clone(&page.text));
    }
    for Unplaced { finding, .. } in unplaced {
        // The comments have moved the unreadable part, so its place is taken from the new facts.
        if finding.rule == UNREADABLE_SOURCE.code
            && let Some(problem) = pages.get(&finding.place.path).and_then(|page| page.facts.problems.first())
        {
            finding.place.span = problem.span;
        }
        locate_one(project, &mut finding.place, &mut sources);
    }
}

fn changes(pages: Pages<'_>, findings: &[Finding]) -> Vec<Change> {
    let changed = pages.into_iter().filter(|(_, page)| page.bytes != page.before);
    let changes = changed.map(|(path, page)| Change {
        fixed: findings.iter().filter(|finding| finding.place.path == path).count(),
        text_before: decode(page.file, page.before.clone()).0,
        text_after: decode(page.file, page.bytes.clone()).0,
        before: page.before,
        after: page.bytes,
        path,
    });
    changes.collect()
}
