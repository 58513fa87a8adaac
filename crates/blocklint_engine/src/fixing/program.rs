//! The project's facts, kept so that it can be analysed again after a few files changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use blocklint_analysis::{Layout, Names, Program, SourceFile};
use blocklint_core::{Finding, Language};
use blocklint_facts::FileFacts;
use blocklint_models::Models;
use blocklint_project::Project;
use camino::Utf8Path;

use crate::analyse::{loaded, options_of, replace_facts, told, unread};
use crate::comments::{comments, unread_languages};
use crate::contain::{Contained, LeftOut, contain, unseen_languages};
use crate::extraction::extract_all;
use crate::progress::Silent;

use super::make::Remedies;
use crate::{Options, choose::Chosen};

/// Facts of all files as they stand in the overlay.
pub(crate) struct Facts<'a> {
    project: &'a Project,
    models: &'a Models,
    options: Options,
    files: Vec<SourceFile>,
    layout: Layout,
    /// File → index in `files`.
    slots: HashMap<Arc<Utf8Path>, usize>,
    /// Findings for files that could not be read at first. Fixes keep files parseable, so these findings stay.
    unread: Vec<Finding>,
    /// The languages of which some file could not be read.
    unread_languages: Vec<Language>,
}

/// Files.
pub(crate) type Watched = BTreeSet<Arc<Utf8Path>>;

/// Which of all findings would be shown.
pub(crate) type Show<'s> = dyn Fn(Vec<Finding>) -> Chosen + Sync + 's;

/// The result of an analysis of one state of the files.
#[derive(Debug)]
pub(crate) struct AnalysisResult {
    /// All findings, at every level, sorted.
    pub(crate) all: Vec<Finding>,
    /// The remedies of the findings.
    pub(crate) remedies: Remedies,
    /// Those that would be shown.
    pub(crate) shown: Chosen,
    /// The files in which dropped coroutines were looked for.
    pub(crate) watched: Watched,
    /// Coroutines that are made and dropped there: (path, function, name called) → how many.
    pub(crate) unawaited: BTreeMap<(Arc<Utf8Path>, String, String), usize>,
    /// The parts that the analysis left out because it failed there.
    pub(crate) left_out: Vec<LeftOut>,
}

impl<'a> Facts<'a> {
    /// Extracts the facts of all files. Must run in a pool of threads with large stacks, as everything here.
    pub(crate) fn new(project: &'a Project, models: &'a Models, options: Options) -> Self {
        let (extracted, _, _) = extract_all(project, &Silent);
        let unread = unread(project, &extracted);
        let unread_languages = unread_languages(project, &extracted);
        let (files, layout) = loaded(project, models, extracted);
        let slots = files.iter().enumerate().map(|(slot, file)| (Arc::clone(&file.path), slot)).collect();
        Facts { project, models, options, files, layout, slots, unread, unread_languages }
    }

    /// Returns the facts of a file.
    pub(crate) fn of(&self, path: &Utf8Path) -> Option<&FileFacts> {
        self.slots.get(path).map(|&slot| &self.files[slot].facts)
    }

    /// Puts other facts in place of a file's and returns the old ones.
    pub(crate) fn replace(&mut self, path: &Utf8Path, facts: FileFacts) -> Option<FileFacts> {
        let file = &mut self.files[*self.slots.get(path)?];
        Some(replace_facts(file, facts))
    }

    /// Analyses the files as they stand. Dropped coroutines are looked for in the files `watched`, else in those with
    /// findings: only the same files can be compared.
    pub(crate) fn analyse(&self, watched: Option<&Watched>, show: &Show<'_>) -> AnalysisResult {
        let names = Names::new(&self.files);
        let program = Program::new(&self.files, &self.layout, &names);
        let new_linker = || blocklint_analysis::new_linker(&program, self.models);
        let contained = contain(&program, self.options, new_linker, |linker, left_out| {
            let solved = blocklint_analysis::solve(linker, options_of(self.options));
            let mut all = self.unread.clone();
            let unseen = unseen_languages(&self.unread_languages, left_out);
            let remarks = comments(&self.files, &solved, self.options.comments, &unseen, |_| true);
            let remedies = told(linker, &solved, self.project.trace_in_paths, remarks, left_out, &mut all);
            let with_findings = || all.iter().map(|finding| Arc::clone(&finding.place.path)).collect();
            let watched = watched.cloned().unwrap_or_else(with_findings);
            let mut unawaited = BTreeMap::new();
            for path in &watched {
                let relative = self.slots.get(path).map(|&slot| self.files[slot].relative.as_str());
                let Some(file) = relative.and_then(|relative| program.file_at(relative)) else { continue };
                for (function, name) in blocklint_analysis::unawaited(linker, file) {
                    *unawaited.entry((Arc::clone(path), function, name)).or_default() += 1;
                }
            }
            (all, remedies, watched, unawaited)
        });
        let Contained { done: (all, remedies, watched, unawaited), left_out, .. } = contained;
        AnalysisResult { shown: show(all.clone()), all, remedies, watched, unawaited, left_out }
    }
}
