//! From remedies to fixes: by the front end of each finding's language, on one parse of each file, and only when fixes
//! are shown or applied.

use std::sync::Arc;

use blocklint_core::{Applicability, Finding, Fix, Place, Refusal, Remedy, RuleCode, Span};
use blocklint_project::Project;
use camino::Utf8Path;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::chains::{Chains, preferred};
use super::elsewhere::BindingsElsewhere;
use crate::comments::{CommentEdit, fix_of_comment};
use crate::fixing::planned_edit::PlannedEdit;
use crate::sources::text_of;

/// Gives the text of a file, as the spans of its findings count it.
pub type TextOf<'t> = dyn Fn(&Utf8Path) -> Option<Arc<str>> + Sync + 't;

/// Gives findings their fixes.
pub(crate) type Make<'m> = dyn Fn(&Remedies, &mut [Finding], &TextOf<'_>) + Sync + 'm;

/// The remedy of each finding, or the reason for having none.
#[derive(Debug, Default)]
pub struct Remedies {
    of_code: FxHashMap<FindingKey, Result<PlannedEdit, Refusal>>,
    of_comments: FxHashMap<FindingKey, CommentEdit>,
}

/// A file, and the findings in it by number, with what is to be done about each.
type FileFindings<'w> = (Arc<Utf8Path>, Vec<(usize, &'w PlannedEdit)>);

/// Where a finding stands, and its rule.
type FindingKey = (Arc<Utf8Path>, Span, RuleCode);

impl Remedies {
    pub(crate) fn insert(&mut self, finding: &Finding, remedy: Result<PlannedEdit, Refusal>) {
        self.of_code.insert((finding.place.path.clone(), finding.place.span, finding.rule), remedy);
    }

    /// Returns these remedies, with newer ones for the findings in some files.
    #[must_use]
    pub fn with_newer(&self, newer: Remedies, is_newer: impl Fn(&Utf8Path) -> bool) -> Remedies {
        let Remedies { mut of_code, mut of_comments } = newer;
        let older = |(path, ..): &FindingKey| !is_newer(path);
        of_code
            .extend(self.of_code.iter().filter(|(at, _)| older(at)).map(|(at, remedy)| (at.clone(), remedy.clone())));
        of_comments
            .extend(self.of_comments.iter().filter(|(at, _)| older(at)).map(|(at, edit)| (at.clone(), edit.clone())));
        Remedies { of_code, of_comments }
    }

    /// Of a finding about a comment, which needs no front end.
    pub(crate) fn insert_comment_edit(&mut self, finding: &Finding, edit: Option<CommentEdit>) {
        if let Some(edit) = edit {
            self.of_comments.insert((finding.place.path.clone(), finding.place.span, finding.rule), edit);
        }
    }

    /// Returns the files whose texts decide whether edits of these findings can be made: those of functions that would
    /// move to a thread or become `async`, and of code that may mention these.
    pub fn files_that_decide<'r>(&'r self, findings: &'r [Finding]) -> impl Iterator<Item = &'r Arc<Utf8Path>> {
        let wanted = findings.iter().filter_map(|finding| self.of(finding).ok());
        wanted.flat_map(|wanted| {
            let chained = wanted.chain.iter().flat_map(|chain| &chain.files);
            wanted.functions().map(|(path, _)| path).chain(chained)
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

/// Gives the findings their fixes: one parse of each file that has one. Nothing is verified: that is the gate's matter,
/// where fixes are applied. Gives back why the others have none, in the order of the findings. Must not run on a thread
/// with a small stack ([`crate::on_large_stacks`]).
pub fn attach(project: &Project, remedies: &Remedies, findings: &mut [Finding]) -> Vec<Option<Refusal>> {
    attach_to(remedies, findings, &|path| Some(text_of(project, path)?.0))
}

/// Attaches fixes as [`attach`] does, with `text_of` for the texts of files.
pub fn attach_to(remedies: &Remedies, findings: &mut [Finding], text_of: &TextOf<'_>) -> Vec<Option<Refusal>> {
    let mut refused: Vec<Option<Refusal>> = vec![None; findings.len()];
    let mut files: FxHashMap<Box<str>, FileFindings<'_>> = FxHashMap::default();
    for (at, finding) in findings.iter_mut().enumerate() {
        if let Some(edit) = remedies.of_comment(finding).filter(|_| is_fixable(&finding.place.path)) {
            finding.fix = text_of(&finding.place.path).and_then(|text| fix_of_comment(&text, &finding.place, edit));
            if finding.fix.is_none() {
                refused[at] = Some(Refusal::new("the file cannot be read any more"));
            }
            continue;
        }
        match remedies.of(finding) {
            Ok(_) if !is_fixable(&finding.place.path) => {
                refused[at] = Some(Refusal::new("cells of a notebook are not edited"));
            }
            Ok(wanted) => {
                let path = &finding.place.path;
                let of_file = files.entry(path.as_str().into()).or_insert_with(|| (path.clone(), Vec::new()));
                of_file.1.push((at, wanted));
            }
            Err(refusal) => refused[at] = Some(refusal),
        }
    }
    let places: &[Finding] = findings;
    let elsewhere =
        BindingsElsewhere::new(files.values().flat_map(|(_, of_file)| of_file).map(|(_, wanted)| *wanted), text_of);
    let chains = Chains::new(files.values().flat_map(|(_, of_file)| of_file).map(|(_, wanted)| *wanted), text_of);
    let made: Vec<(usize, Result<Fix, Refusal>)> = files
        .par_iter()
        .flat_map_iter(|(_, (path, wanted))| {
            let Some(text) = text_of(path) else {
                let gone = |(at, _): &(usize, _)| (*at, Err(Refusal::new("the file cannot be read any more")));
                return wanted.iter().map(gone).collect::<Vec<_>>();
            };
            if is_generated(&text) {
                let refuse = |(at, _): &(usize, _)| (*at, Err(Refusal::new("the file is generated")));
                return wanted.iter().map(refuse).collect::<Vec<_>>();
            }
            let spans: Vec<(Span, &Remedy)> =
                wanted.iter().map(|&(at, wanted)| (places[at].place.span, &wanted.remedy)).collect();
            let oldest = wanted.iter().find_map(|(_, wanted)| wanted.oldest);
            let written = match path.extension() {
                Some("java") => blocklint_java::fix(&text, &spans),
                Some("rs") => blocklint_rust::fix(&text, &spans, &|at| called_by(wanted[at].1, text_of)),
                _ => {
                    let elsewhere = blocklint_python::Elsewhere {
                        refusal: &|at, block, handles| elsewhere.refusal(wanted[at].1, path, block, handles),
                        is_moment: &|at| wanted[at].1.is_cheaper,
                        is_short: &|at| wanted[at].1.short,
                        holds: &|at, with: Span| {
                            wanted[at].1.held.iter().any(|of| with.contains(*of) && with.end == of.end)
                        },
                    };
                    blocklint_python::fix(&text, &spans, &elsewhere, oldest)
                }
            };
            let fixes = wanted.iter().zip(written).map(|(&(at, wanted), written)| {
                (at, preferred(wanted, chains.of(wanted), written.map(|edit| edit.into_fix(&places[at].place))))
            });
            fixes.collect()
        })
        .collect();
    for (at, fix) in made {
        match fix {
            Ok(fix) => findings[at].fix = Some(fix),
            Err(refusal) => refused[at] = Some(refusal),
        }
    }
    for (at, use_of_it) in half_done(findings, files.values()) {
        findings[at].fix = None;
        refused[at] = Some(Refusal::with_place(
            "other calls here on the same object or file would still block the thread",
            use_of_it,
        ));
    }
    for (finding, refusal) in findings.iter_mut().zip(&refused) {
        finding.unfixed.clone_from(refusal);
    }
    refused
}

/// Returns the findings whose edits leave a blocking use of the call's result behind, with the place of that use.
fn half_done<'f>(findings: &[Finding], files: impl Iterator<Item = &'f FileFindings<'f>>) -> Vec<(usize, Place)> {
    let mut found = Vec::new();
    for (path, wanted) in files {
        let fix_of = |at: usize| {
            let fix = findings[at].fix.as_ref();
            fix.filter(|fix| fix.applicability > Applicability::Display)
        };
        let mut left: Vec<_> = wanted.iter().filter_map(|(at, wanted)| Some((*at, wanted, fix_of(*at)?))).collect();
        // A fix that is refused for this leaves others for the next try.
        loop {
            let left_spans: FxHashSet<Span> = left.iter().map(|(at, ..)| findings[*at].place.span).collect();
            let before = left.len();
            left.retain(|(at, wanted, fix)| {
                let moves =
                    |of: &Span| left_spans.contains(of) || fix.edits.iter().any(|edit| edit.place.span.contains(*of));
                let stays = wanted.uses.iter().chain(&wanted.opened).find(|of| !moves(of));
                found.extend(stays.map(|stays| (*at, Place::unlocated(Arc::clone(path), *stays))));
                stays.is_none()
            });
            if left.len() == before {
                break;
            }
        }
    }
    found
}

/// Returns the definitions of the functions that a call runs, as far as they matter to its edit.
fn called_by(wanted: &PlannedEdit, text: &TextOf<'_>) -> blocklint_rust::Called {
    let definition = |(path, span): &(Arc<Utf8Path>, Span)| {
        text(path)?.get(span.start as usize..span.end as usize).map(str::to_owned)
    };
    blocklint_rust::Called {
        itself: wanted.moves.iter().flatten().filter_map(definition).collect(),
        on_the_way: wanted.on_path.iter().filter_map(definition).collect(),
    }
}

/// True if the first lines of a file show that a program wrote it.
pub(crate) fn is_generated(text: &str) -> bool {
    const LINES: usize = 20;
    const SAYING: &[&str] = &["do not edit", "@generated", "auto-generated", "autogenerated", "code generated by"];
    text.lines().take(LINES).map(str::to_ascii_lowercase).any(|line| SAYING.iter().any(|words| line.contains(words)))
}

/// True if a file can have fixes; a notebook's cells are no file of their own.
fn is_fixable(path: &Utf8Path) -> bool {
    path.extension() != Some("ipynb")
}
