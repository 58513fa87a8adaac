//! Makes fixes out of remedies: the front end of each language writes the edits, with one parse of each file. This
//! happens only when fixes are shown or applied.

use std::sync::Arc;

use blocklint_core::{Applicability, Finding, Fix, Place, Refusal, Remedy, RuleCode, Span};
use blocklint_project::Project;
use camino::Utf8Path;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::chains::{Chains, preferred_fix};
use super::elsewhere::BindingsElsewhere;
use crate::comments::{CommentEdit, fix_of_comment};
use crate::fixing::planned_edit::PlannedEdit;
use crate::sources::text_of;

/// Returns the text of a file to which the spans of its findings refer.
pub type TextOf<'t> = dyn Fn(&Utf8Path) -> Option<Arc<str>> + Sync + 't;

/// Attaches fixes to findings.
pub(crate) type Make<'m> = dyn Fn(&Remedies, &mut [Finding], &TextOf<'_>) + Sync + 'm;

/// The remedy of each finding, or the reason why it has none.
#[derive(Debug, Default)]
pub struct Remedies {
    of_code: FxHashMap<FindingKey, Result<PlannedEdit, Refusal>>,
    of_comments: FxHashMap<FindingKey, CommentEdit>,
}

/// A file with its findings (by index) and their planned edits.
type FileFindings<'w> = (Arc<Utf8Path>, Vec<(usize, &'w PlannedEdit)>);

/// The place and the rule of a finding.
type FindingKey = (Arc<Utf8Path>, Span, RuleCode);

impl Remedies {
    pub(crate) fn insert(&mut self, finding: &Finding, remedy: Result<PlannedEdit, Refusal>) {
        self.of_code.insert((finding.place.path.clone(), finding.place.span, finding.rule), remedy);
    }

    /// Returns these remedies, with newer ones for the findings in some files.
    #[must_use]
    pub fn with_newer(&self, newer: Remedies, is_newer: impl Fn(&Utf8Path) -> bool) -> Remedies {
        let Remedies { mut of_code, mut of_comments } = newer;
        let is_older = |(path, ..): &FindingKey| !is_newer(path);
        of_code.extend(
            self.of_code.iter().filter(|(key, _)| is_older(key)).map(|(key, remedy)| (key.clone(), remedy.clone())),
        );
        of_comments.extend(
            self.of_comments.iter().filter(|(key, _)| is_older(key)).map(|(key, edit)| (key.clone(), edit.clone())),
        );
        Remedies { of_code, of_comments }
    }

    /// Adds the edit of a finding about a comment, which needs no front end.
    pub(crate) fn insert_comment_edit(&mut self, finding: &Finding, edit: Option<CommentEdit>) {
        if let Some(edit) = edit {
            self.of_comments.insert((finding.place.path.clone(), finding.place.span, finding.rule), edit);
        }
    }

    /// Returns the files whose texts decide if these findings can be fixed: the files of functions that would move to a
    /// thread or become `async`, and the files that may mention such functions.
    pub fn files_that_decide<'r>(&'r self, findings: &'r [Finding]) -> impl Iterator<Item = &'r Arc<Utf8Path>> {
        let planned_edits = findings.iter().filter_map(|finding| self.of(finding).ok());
        planned_edits.flat_map(|planned_edits| {
            let chained = planned_edits.chain.iter().flat_map(|chain| &chain.files);
            planned_edits.functions().map(|(path, _)| path).chain(chained)
        })
    }

    fn of_comment(&self, finding: &Finding) -> Option<&CommentEdit> {
        self.of_comments.get(&(finding.place.path.clone(), finding.place.span, finding.rule))
    }

    fn of(&self, finding: &Finding) -> Result<&PlannedEdit, Refusal> {
        match self.of_code.get(&(finding.place.path.clone(), finding.place.span, finding.rule)) {
            Some(Ok(remedy)) => Ok(remedy),
            Some(Err(refusal)) => Err(refusal.clone()),
            None => Err(Refusal::new("this rule has no fix")),
        }
    }
}

/// Attaches fixes to findings, with one parse of each file. Returns for each finding the reason why it has no fix. The
/// fixes are not verified ([`crate::fix`] does that). Needs a thread with a large stack ([`crate::on_large_stacks`]).
pub fn attach_fixes(project: &Project, remedies: &Remedies, findings: &mut [Finding]) -> Vec<Option<Refusal>> {
    attach_fixes_to(remedies, findings, &|path| Some(text_of(project, path)?.0))
}

/// Attaches fixes as [`attach_fixes`] does; `text_of` returns the texts of files.
pub fn attach_fixes_to(remedies: &Remedies, findings: &mut [Finding], text_of: &TextOf<'_>) -> Vec<Option<Refusal>> {
    let mut refused: Vec<Option<Refusal>> = vec![None; findings.len()];
    let mut files: FxHashMap<Box<str>, FileFindings<'_>> = FxHashMap::default();
    for (index, finding) in findings.iter_mut().enumerate() {
        if let Some(edit) = remedies.of_comment(finding).filter(|_| is_fixable(&finding.place.path)) {
            finding.fix = text_of(&finding.place.path).and_then(|text| fix_of_comment(&text, &finding.place, edit));
            if finding.fix.is_none() {
                refused[index] = Some(Refusal::new("the file can no longer be read"));
            }
            continue;
        }
        match remedies.of(finding) {
            Ok(_) if !is_fixable(&finding.place.path) => {
                refused[index] = Some(Refusal::new("cells of a notebook are not edited"));
            }
            Ok(planned) => {
                let path = &finding.place.path;
                let of_file = files.entry(path.as_str().into()).or_insert_with(|| (path.clone(), Vec::new()));
                of_file.1.push((index, planned));
            }
            Err(refusal) => refused[index] = Some(refusal),
        }
    }
    let places: &[Finding] = findings;
    let elsewhere =
        BindingsElsewhere::new(files.values().flat_map(|(_, edits)| edits).map(|(_, planned)| *planned), text_of);
    let chains = Chains::new(files.values().flat_map(|(_, edits)| edits).map(|(_, planned)| *planned), text_of);
    let fixes: Vec<(usize, Result<Fix, Refusal>)> = files
        .par_iter()
        .flat_map_iter(|(_, (path, edits))| {
            let Some(text) = text_of(path) else {
                let refuse = |(index, _): &(usize, _)| (*index, Err(Refusal::new("the file can no longer be read")));
                return edits.iter().map(refuse).collect::<Vec<_>>();
            };
            if is_generated(&text) {
                let refuse = |(index, _): &(usize, _)| (*index, Err(Refusal::new("the file is generated")));
                return edits.iter().map(refuse).collect::<Vec<_>>();
            }
            let spans: Vec<(Span, &Remedy)> =
                edits.iter().map(|&(index, planned)| (places[index].place.span, &planned.remedy)).collect();
            let oldest = edits.iter().find_map(|(_, planned)| planned.oldest);
            let written = match path.extension() {
                Some("java") => blocklint_java::fix(&text, &spans),
                Some("rs") => blocklint_rust::fix(&text, &spans, &|nth| called_functions(edits[nth].1, text_of)),
                _ => {
                    let elsewhere = blocklint_python::Elsewhere {
                        refusal: &|nth, block, handles| elsewhere.refusal(edits[nth].1, path, block, handles),
                        is_moment: &|nth| edits[nth].1.is_cheaper,
                        is_short: &|nth| edits[nth].1.costs_like_handover,
                        holds: &|nth, statement: Span| {
                            let mut blocks = edits[nth].1.unsplittable_with_blocks.iter();
                            blocks.any(|block| statement.contains(*block) && statement.end == block.end)
                        },
                    };
                    blocklint_python::fix(&text, &spans, &elsewhere, oldest)
                }
            };
            let fixes = edits.iter().zip(written).map(|(&(index, planned), written)| {
                let written = written.map(|edit| edit.into_fix(&places[index].place));
                (index, preferred_fix(planned, chains.fix_of_chain(planned), written))
            });
            fixes.collect()
        })
        .collect();
    for (index, fix) in fixes {
        match fix {
            Ok(fix) => findings[index].fix = Some(fix),
            Err(refusal) => refused[index] = Some(refusal),
        }
    }
    for (index, blocking_use) in fixes_with_leftovers(findings, files.values()) {
        findings[index].fix = None;
        refused[index] = Some(Refusal::with_place(
            "other calls of this function on the same object or file would still block the thread",
            blocking_use,
        ));
    }
    for (finding, refusal) in findings.iter_mut().zip(&refused) {
        finding.unfixed.clone_from(refusal);
    }
    refused
}

/// Returns the findings whose fixes leave a blocking use of the call's result behind, with the place of this use.
fn fixes_with_leftovers<'f>(
    findings: &[Finding],
    files: impl Iterator<Item = &'f FileFindings<'f>>,
) -> Vec<(usize, Place)> {
    let mut leftovers = Vec::new();
    for (path, planned_edits) in files {
        let fix_of = |index: usize| {
            let fix = findings[index].fix.as_ref();
            fix.filter(|fix| fix.applicability > Applicability::Display)
        };
        let mut kept_fixes: Vec<_> = planned_edits
            .iter()
            .filter_map(|(index, planned_edits)| Some((*index, planned_edits, fix_of(*index)?)))
            .collect();
        // Removing one fix may leave uses of another fix behind, so this repeats until nothing changes.
        loop {
            let kept_spans: FxHashSet<Span> =
                kept_fixes.iter().map(|(index, ..)| findings[*index].place.span).collect();
            let count_before = kept_fixes.len();
            kept_fixes.retain(|(index, planned_edits, fix)| {
                let moves = |use_span: &Span| {
                    kept_spans.contains(use_span) || fix.edits.iter().any(|edit| edit.place.span.contains(*use_span))
                };
                let blocking_use =
                    planned_edits.uses.iter().chain(&planned_edits.opening_call).find(|use_span| !moves(use_span));
                leftovers.extend(
                    blocking_use.map(|blocking_use| (*index, Place::unlocated(Arc::clone(path), *blocking_use))),
                );
                blocking_use.is_none()
            });
            if kept_fixes.len() == count_before {
                break;
            }
        }
    }
    leftovers
}

/// Returns the source texts of the functions that a call runs.
fn called_functions(planned_edit: &PlannedEdit, text: &TextOf<'_>) -> blocklint_rust::Called {
    let definition = |(path, span): &(Arc<Utf8Path>, Span)| {
        text(path)?.get(span.start as usize..span.end as usize).map(str::to_owned)
    };
    blocklint_rust::Called {
        itself: planned_edit.moves.iter().flatten().filter_map(definition).collect(),
        on_the_way: planned_edit.on_path.iter().filter_map(definition).collect(),
    }
}

/// True if the first lines of a file say that it is generated.
pub(crate) fn is_generated(text: &str) -> bool {
    const LINES: usize = 20;
    const MARKERS: &[&str] = &["do not edit", "@generated", "auto-generated", "autogenerated", "code generated by"];
    text.lines().take(LINES).map(str::to_ascii_lowercase).any(|line| MARKERS.iter().any(|words| line.contains(words)))
}

/// True if a file can have fixes; notebooks cannot.
fn is_fixable(path: &Utf8Path) -> bool {
    path.extension() != Some("ipynb")
}
