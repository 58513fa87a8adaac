//! The facts of a project during fixing: a few files are replaced, and the project is analysed again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use blocklint_analysis::{Layout, Linker, Names, Program, SourceFile};
use blocklint_core::{Confidence, Finding, Language};
use blocklint_facts::FileFacts;
use blocklint_models::Models;
use blocklint_project::Project;
use camino::Utf8Path;

use crate::analyse::{
    analysis_options, merge_findings, on_large_stacks, replace_facts, source_files_and_layout, unread_findings,
};
use crate::comments::{comment_findings, unread_languages};
use crate::contain::{Contained, LeftOut, contain, unseen_languages};
use crate::extraction::extract_all;
use crate::progress::Silent;

use super::make::Remedies;
use crate::{Failure, Options, choose::Chosen};

/// The facts of all files in their present state.
pub(crate) struct Facts<'a> {
    project: &'a Project,
    models: &'a Models,
    options: Options,
    files: Vec<SourceFile>,
    layout: Layout,
    /// The index of each path in `files`.
    slots: HashMap<Arc<Utf8Path>, usize>,
    /// The findings about files that could not be read at first. Fixes keep files parseable, so these findings stay.
    unread: Vec<Finding>,
    /// The languages with at least one file that could not be read.
    unread_languages: Vec<Language>,
}

/// The files in which un-awaited coroutines are counted.
pub(crate) type Watched = BTreeSet<Arc<Utf8Path>>;

/// The number of un-awaited coroutines, by file, function and called name.
pub type Unawaited = BTreeMap<(Arc<Utf8Path>, String, String), usize>;

/// Returns the findings that would be shown.
pub(crate) type Show<'s> = dyn Fn(Vec<Finding>) -> Chosen + Sync + 's;

/// The result of an analysis of one state of the files.
#[derive(Debug)]
pub(crate) struct AnalysisResult {
    /// All findings of every severity and confidence, sorted.
    pub(crate) all: Vec<Finding>,
    /// The remedies of the findings.
    pub(crate) remedies: Remedies,
    /// The findings that would be shown.
    pub(crate) shown: Chosen,
    /// The files in which un-awaited coroutines were counted.
    pub(crate) watched: Watched,
    /// The un-awaited coroutines in these files.
    pub(crate) unawaited: Unawaited,
    /// The parts that the analysis left out because it failed there.
    pub(crate) left_out: Vec<LeftOut>,
}

impl<'a> Facts<'a> {
    /// Extracts the facts of all files. This and all other functions of the type must run in a pool of threads with
    /// large stacks.
    pub(crate) fn new(project: &'a Project, models: &'a Models, options: Options) -> Self {
        let (extracted, _, _) = extract_all(project, &Silent);
        let unread = unread_findings(project, &extracted);
        let unread_languages = unread_languages(project, &extracted);
        let (files, layout) = source_files_and_layout(project, models, extracted);
        let slots = files.iter().enumerate().map(|(slot, file)| (Arc::clone(&file.path), slot)).collect();
        Facts { project, models, options, files, layout, slots, unread, unread_languages }
    }

    /// Returns the facts of a file.
    pub(crate) fn of_file(&self, path: &Utf8Path) -> Option<&FileFacts> {
        self.slots.get(path).map(|&slot| &self.files[slot].facts)
    }

    /// Replaces the facts of a file and returns the old ones.
    pub(crate) fn replace(&mut self, path: &Utf8Path, facts: FileFacts) -> Option<FileFacts> {
        let file = &mut self.files[*self.slots.get(path)?];
        Some(replace_facts(file, facts))
    }

    /// Analyses the files in their present state. Un-awaited coroutines are counted in the files of `watched`, or, if
    /// it is `None`, in the files with findings. Two results can be compared only if the files are equal.
    pub(crate) fn analyse(&self, watched: Option<&Watched>, show: &Show<'_>) -> AnalysisResult {
        let names = Names::new(&self.files);
        let program = Program::new(&self.files, &self.layout, &names);
        let new_linker = || blocklint_analysis::new_linker(&program, self.models);
        let contained = contain(&program, self.options, new_linker, |linker, left_out| {
            let solved = blocklint_analysis::solve(linker, analysis_options(self.options));
            let unseen = unseen_languages(&self.unread_languages, left_out);
            let remarks = comment_findings(&self.files, &solved, self.options.comments, &unseen, |_| true);
            let trace_in_paths = self.project.trace_in_paths;
            let (all, remedies) =
                merge_findings(linker, &solved, trace_in_paths, remarks, left_out, self.unread.clone());
            let with_findings = || all.iter().map(|finding| Arc::clone(&finding.place.path)).collect();
            let watched = watched.cloned().unwrap_or_else(with_findings);
            let unawaited = self.unawaited(linker, &program, &watched);
            (all, remedies, watched, unawaited)
        });
        let Contained { done: (all, remedies, watched, unawaited), left_out, .. } = contained;
        AnalysisResult { shown: show(all.clone()), all, remedies, watched, unawaited, left_out }
    }

    /// Returns the un-awaited coroutines in some files.
    fn unawaited(&self, linker: &Linker<'_>, program: &Program<'_>, files: &Watched) -> Unawaited {
        let mut counts = Unawaited::new();
        for path in files {
            let relative = self.slots.get(path).map(|&slot| self.files[slot].relative.as_str());
            let Some(file) = relative.and_then(|relative| program.file_at(relative)) else { continue };
            for (function, name) in blocklint_analysis::find_unawaited(linker, file) {
                *counts.entry((Arc::clone(path), function, name)).or_default() += 1;
            }
        }
        counts
    }
}

/// The faults of a project's files. Tests compare them before and after fixes, independently of the verification of
/// [`crate::fix`].
#[derive(Debug, Default)]
pub struct Faults {
    /// The files that do not parse completely, even if no rule reports it.
    pub unparsed: BTreeSet<Arc<Utf8Path>>,
    /// The un-awaited coroutines in all files.
    pub unawaited: Unawaited,
}

/// Returns the faults of a project's files.
///
/// # Errors
/// If the system starts no threads.
pub fn find_faults(project: &Project, models: &Models) -> Result<Faults, Failure> {
    on_large_stacks(|| {
        let facts = Facts::new(project, models, Options::new(Confidence::Low));
        let names = Names::new(&facts.files);
        let program = Program::new(&facts.files, &facts.layout, &names);
        let linker = blocklint_analysis::new_linker(&program, models);
        let files = facts.slots.keys().cloned().collect();
        let unparsed = facts.unread.iter().map(|finding| Arc::clone(&finding.place.path)).collect();
        Faults { unparsed, unawaited: facts.unawaited(&linker, &program, &files) }
    })
}
