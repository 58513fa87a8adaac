//! From remedies to fixes: by the front end of each finding's language, on one parse of each file, and only when fixes
//! are shown or applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use blocklint_core::{Finding, Fix, Refusal, Remedy, RuleCode, Span};
use blocklint_project::{Project, python_settings};
use camino::Utf8Path;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::elsewhere::Elsewhere;
use crate::sources::text_of;
use crate::words::Wanted;

/// Gives the text of a file, as the spans of its findings count it.
pub(crate) type TextOf<'t> = dyn Fn(&Utf8Path) -> Option<Arc<str>> + Sync + 't;

/// Gives findings their fixes.
pub(crate) type Make<'m> = dyn Fn(&Remedies, &mut [Finding], &TextOf<'_>) + Sync + 'm;

/// What is to be done about each finding, or why nothing is.
#[derive(Debug, Default)]
pub struct Remedies(FxHashMap<(Arc<Utf8Path>, Span, RuleCode), Result<Wanted, Refusal>>);

impl Remedies {
    pub(crate) fn insert(&mut self, finding: &Finding, remedy: Result<Wanted, Refusal>) {
        self.0.insert((finding.place.path.clone(), finding.place.span, finding.rule), remedy);
    }

    fn of(&self, finding: &Finding) -> Result<&Wanted, Refusal> {
        match self.0.get(&(finding.place.path.clone(), finding.place.span, finding.rule)) {
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
    attach_to(project, remedies, findings, &|path| Some(text_of(project, path)?.0))
}

/// The same with the texts of files from elsewhere.
pub(super) fn attach_to(
    project: &Project,
    remedies: &Remedies,
    findings: &mut [Finding],
    text_of: &TextOf<'_>,
) -> Vec<Option<Refusal>> {
    let mut refused: Vec<Option<Refusal>> = vec![None; findings.len()];
    let mut files: BTreeMap<Arc<Utf8Path>, Vec<(usize, &Wanted)>> = BTreeMap::new();
    for (at, finding) in findings.iter().enumerate() {
        match remedies.of(finding) {
            Ok(_) if !is_fixable(&finding.place.path) => {
                refused[at] = Some(Refusal::new("cells of a notebook are left to whoever runs them"));
            }
            Ok(wanted) => files.entry(finding.place.path.clone()).or_default().push((at, wanted)),
            Err(refusal) => refused[at] = Some(refusal),
        }
    }
    let places: &[Finding] = findings;
    let elsewhere = Elsewhere::new(files.values().flatten().map(|(_, wanted)| *wanted), text_of);
    let made: Vec<(usize, Result<Fix, Refusal>)> = files
        .par_iter()
        .flat_map_iter(|(path, wanted)| {
            let Some(text) = text_of(path) else {
                let gone = |(at, _): &(usize, _)| (*at, Err(Refusal::new("the file cannot be read any more")));
                return wanted.iter().map(gone).collect::<Vec<_>>();
            };
            let spans: Vec<(Span, &Remedy)> =
                wanted.iter().map(|&(at, wanted)| (places[at].place.span, &wanted.remedy)).collect();
            let oldest = python_settings(path, &project.root).oldest;
            let mended = match path.extension() {
                Some("java") => blocklint_java::fix(&text, &spans),
                Some("rs") => blocklint_rust::fix(&text, &spans, &|at| signatures(wanted[at].1, text_of)),
                _ => blocklint_python::fix(
                    &text,
                    &spans,
                    &|at, block, handles| elsewhere.refusal(wanted[at].1, path, block, handles),
                    oldest,
                ),
            };
            let fixes =
                wanted.iter().zip(mended).map(|(&(at, _), mended)| (at, mended.map(|m| m.at(&places[at].place))));
            fixes.collect()
        })
        .collect();
    for (at, fix) in made {
        match fix {
            Ok(fix) => findings[at].fix = Some(fix),
            Err(refusal) => refused[at] = Some(refusal),
        }
    }
    for (finding, refusal) in findings.iter_mut().zip(&refused) {
        finding.unfixed.clone_from(refusal);
    }
    refused
}

/// The definitions of the functions that a call itself runs.
fn signatures(wanted: &Wanted, text: &TextOf<'_>) -> Vec<String> {
    let moves = wanted.moves.iter().flatten();
    let definition = |(path, span): &(Arc<Utf8Path>, Span)| {
        text(path)?.get(span.start as usize..span.end as usize).map(str::to_owned)
    };
    moves.filter_map(definition).collect()
}

/// Whether fixes are made for a file: a notebook's cells are no file of their own.
fn is_fixable(path: &Utf8Path) -> bool {
    path.extension() != Some("ipynb")
}
