//! `blocklint check --since`, `--changed` and `--staged`: analyses two states of a project, before and after a change,
//! and compares their findings. Lines are not compared.
//!
//! Facts of files that are equal in both states are extracted once. Both states are analysed with the present
//! manifests, configuration and models, so that only the change of the code makes a difference.

mod compare;
mod git;
mod worktree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use blocklint_analysis::SourceFile as Analysed;
use blocklint_core::Finding;
use blocklint_output::Sources;
use blocklint_project::{Project, SKIPPED_FOLDERS, SourceFile, language_of, read};
use camino::{Utf8Path, Utf8PathBuf};

use crate::analyse::{
    Unsolved, analyse_files, count_opened, on_large_stacks, project_layout, replace_facts, source_files,
    unread_findings,
};
use crate::cached::{extract_with_cache, finish_with_hidden};
use crate::choose::{Chosen, Hidden};
use crate::comments::named::resolve_suppressions;
use crate::comments::unread_languages;
use crate::extraction::{decode, extract_bytes};
use crate::timings::Timings;
use crate::{Failure, RunRequest, RunResult};

pub use compare::Comparison;
use git::{Entries, Git, Tree};
use worktree::Staged;

/// The choice of the two states that are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compare {
    /// The merge base of HEAD and this commit, and the work tree.
    Since(String),
    /// The last commit, and the work tree.
    Changed,
    /// The last commit, and the index.
    Staged,
}

/// The state before a change.
#[derive(Debug)]
pub struct StateBefore {
    /// The shown and hidden findings; `None` if no source file differs.
    state: Option<(Chosen, Hidden)>,
    /// The hidden findings of the state after the change.
    hidden_now: Hidden,
    /// The name of the state, for messages.
    compared_with: String,
}

/// The files of a state that differ from the work tree, by absolute path; `None` if the state does not have the file.
type Overlay = BTreeMap<Utf8PathBuf, Option<Vec<u8>>>;

/// The two states, each as its differences from the work tree.
struct ComparedStates {
    now: Overlay,
    before: Overlay,
    compared_with: String,
}

/// Analyses the project after and before a change.
///
/// # Errors
///
/// If git does not know the commit to compare with, or the system starts no threads.
pub fn run_change(request: RunRequest<'_>, compare: &Compare) -> Result<(RunResult, StateBefore), Failure> {
    let project = request.project;
    let ComparedStates { now, before, compared_with } = compared_states(project, compare).map_err(Failure::new)?;
    let facts = extract_with_cache(&request)?;
    // Fixes are edits of the work tree, so there are none if the staged files have other texts.
    let fixes = request.fixes && now.is_empty();
    let request = RunRequest { fixes, ..request };
    let (report, before) = on_large_stacks(|| {
        let unread = unread_findings(project, &facts.extracted);
        let (read, progress) = (count_opened(&facts.extracted), request.progress);
        let unread_languages = unread_languages(project, &facts.extracted);
        let mut sources = source_files(project, facts.extracted);
        apply_overlay(project, &mut sources, &now);
        let layout = project_layout(project, request.models);
        // A file that changed may have been readable before, so its error is kept for the new state only.
        let unread_in_both =
            unread.iter().filter(|finding| !before.contains_key(&*finding.place.path)).cloned().collect();
        let analyse = |sources: &[Analysed], unread: Vec<Finding>, timings: Timings| {
            let unread_languages = unread_languages.clone();
            let unsolved = Unsolved { project, unread, unread_languages, read, timings, progress };
            analyse_files(sources, &layout, request.models, request.options, unsolved)
        };
        let report = analyse(&sources, unread, facts.timings);
        let before = (!before.is_empty()).then(|| {
            apply_overlay(project, &mut sources, &before);
            analyse(&sources, unread_in_both, Timings::default())
        });
        request.options.free_or_leak(sources);
        (report, before)
    })?;
    let (mut ran, hidden_now) = finish_with_hidden(&request, report)?;
    for left_out in before.iter().flat_map(|before| &before.left_out) {
        if ran.left_out.iter().all(|part| part.name != left_out.name) {
            ran.left_out.push(left_out.clone());
        }
    }
    let texts = overlay_texts(project, now);
    let state = match before {
        Some(report) => {
            let (ran, hidden) = finish_with_hidden(&RunRequest { fixes: false, ..request }, report)?;
            Some((ran.chosen, hidden))
        }
        None => None,
    };
    Ok((RunResult { texts, cache_error: facts.cache_error, ..ran }, StateBefore { state, hidden_now, compared_with }))
}

/// Returns the texts of the files of an overlay.
fn overlay_texts(project: &Project, overlay: Overlay) -> Sources {
    let mut texts = Sources::default();
    for (path, bytes) in overlay {
        if let Some((bytes, file)) = bytes.zip(source_file_at(project, &path)) {
            let (text, cells) = decode(&file, bytes);
            texts.insert_cells(file.path, text, cells);
        }
    }
    texts
}

/// Returns the file at a path, also if the work tree no longer has it.
fn source_file_at(project: &Project, path: &Utf8Path) -> Option<SourceFile> {
    project.file_at(path).cloned().or_else(|| deleted_file(project, path))
}

/// Returns the former content of a file of the project; `None` if there was none.
///
/// # Errors
///
/// If git does not know the commit to compare with.
pub fn text_before(project: &Project, compare: &Compare, path: &Utf8Path) -> Result<Option<String>, Failure> {
    let read = || -> Result<Option<String>, String> {
        let git = Git::at(&project.root)?;
        let (commit, _) = commit_before(git, compare)?;
        text_in_commit(git, &project.root, &commit, path)
    };
    read().map_err(Failure::new)
}

/// Returns the text of a file in a commit of the repository at `folder`, or of one of its submodules.
fn text_in_commit(git: Git<'_>, folder: &Utf8Path, commit: &str, path: &Utf8Path) -> Result<Option<String>, String> {
    let Ok(inside) = path.strip_prefix(folder) else { return Ok(None) };
    let mut tree = git.tree(commit)?;
    if let Some(id) = tree.files.remove(inside) {
        return Ok(git.blobs(&[id])?.pop().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
    }
    let Some((submodule, commit)) = tree.submodules.iter().find(|(submodule, _)| inside.starts_with(submodule)) else {
        return Ok(None);
    };
    let folder = folder.join(submodule);
    match git.submodule(&folder) {
        Some(git) => text_in_commit(git, &folder, commit, path),
        None => Ok(None),
    }
}

/// Returns the commit before a change, and its name for messages.
fn commit_before(git: Git<'_>, compare: &Compare) -> Result<(String, String), String> {
    let short = |commit: &str| commit.chars().take(10).collect::<String>();
    match compare {
        Compare::Since(name) => {
            let named = git.commit(name)?;
            let commit = git.merge_base(name, &named)?;
            let compared_with =
                if commit == named { name.clone() } else { format!("the merge base {} of {name}", short(&commit)) };
            Ok((commit, compared_with))
        }
        Compare::Changed | Compare::Staged => Ok((git.head()?, "the last commit".to_owned())),
    }
}

/// Returns the differences of the two states from the work tree.
fn compared_states(project: &Project, compare: &Compare) -> Result<ComparedStates, String> {
    let git = Git::at(&project.root)?;
    let (commit, compared_with) = commit_before(git, compare)?;
    let mut states = ComparedStates { now: Overlay::new(), before: Overlay::new(), compared_with };
    let tree = git.tree(&commit)?;
    let (index, staged) = git.index()?;
    let repository = Repository { git, folder: &project.root, project, staged_only: *compare == Compare::Staged };
    repository.add_differences(&tree, &index, &index, &staged, &mut states)?;
    Ok(states)
}

/// A repository with files of the project: the project's own, or a submodule.
#[derive(Clone, Copy)]
struct Repository<'r> {
    git: Git<'r>,
    /// The folder to which its paths are relative.
    folder: &'r Utf8Path,
    project: &'r Project,
    /// True if the new state is the staged one, not the work tree.
    staged_only: bool,
}

impl Repository<'_> {
    /// Adds the differences of the files of this repository and of its submodules. `tree` is the state before the
    /// change, `staged_tree` the staged state (of a submodule: its staged commit). `index` and `staged` show which
    /// files of the work tree are unchanged and need not be read.
    fn add_differences(
        self,
        tree: &Tree,
        staged_tree: &Tree,
        index: &Tree,
        staged: &Staged,
        states: &mut ComparedStates,
    ) -> Result<(), String> {
        let overlay = |state: &Tree, applied_overlay: &Overlay| {
            StateFiles::new(self, state, index, staged)
                .with_files_of(applied_overlay, state, self.folder)
                .read_contents(self.git, applied_overlay, self.folder)
        };
        if self.staged_only {
            let is_source = |(path, _): &(&Utf8PathBuf, &String)| language_of(path).is_some();
            let differs_staged = !tree.files.iter().filter(is_source).eq(staged_tree.files.iter().filter(is_source));
            let now = overlay(staged_tree, &Overlay::new())?;
            if differs_staged {
                states.before.extend(overlay(tree, &now)?);
            }
            states.now.extend(now);
        } else {
            states.before.extend(overlay(tree, &Overlay::new())?);
        }
        for (path, staged_commit) in &index.submodules {
            let folder = self.folder.join(path);
            let Some(git) = self.git.submodule(&folder) else { continue };
            let tree_of = |commit: Option<&String>| match commit {
                Some(commit) => git.tree(commit),
                None => Ok(Tree::default()),
            };
            // If a commit was not fetched, its files are unknown, and the submodule is treated as unchanged.
            let staged_commit = staged_tree.submodules.get(path).unwrap_or(staged_commit);
            let trees = tree_of(tree.submodules.get(path)).and_then(|before| {
                let staged_tree = if self.staged_only { tree_of(Some(staged_commit))? } else { Tree::default() };
                Ok((before, staged_tree, git.index()?))
            });
            let Ok((before, staged_tree, (index, staged))) = trees else { continue };
            Repository { git, folder: &folder, ..self }.add_differences(
                &before,
                &staged_tree,
                &index,
                &staged,
                states,
            )?;
        }
        Ok(())
    }
}

/// The files of a state that may differ from the work tree.
#[derive(Default)]
struct StateFiles {
    /// The object ids of files, by path.
    present: Entries,
    /// Files that the state does not have.
    absent: Vec<Utf8PathBuf>,
}

impl StateFiles {
    fn new(repository: Repository<'_>, state: &Tree, index: &Tree, staged: &Staged) -> Self {
        let mut files = StateFiles::default();
        let submodules = || state.submodules.keys().chain(index.submodules.keys());
        let is_in_submodule = |path: &Utf8Path| submodules().any(|folder| path.starts_with(folder));
        let mut project_paths: BTreeSet<&Utf8Path> = BTreeSet::new();
        for file in &repository.project.files {
            // A file outside of the folder is in no commit of this repository.
            let Ok(path) = file.path.strip_prefix(repository.folder) else { continue };
            project_paths.insert(path);
            match state.files.get(path) {
                Some(id) if index.files.get(path) == Some(id) && staged.is_unchanged(path, &file.path) => {}
                Some(id) => {
                    files.present.insert(path.to_owned(), id.clone());
                }
                None if is_in_submodule(path) => {}
                None => files.absent.push(path.to_owned()),
            }
        }
        for (path, id) in state.files.iter().filter(|(path, _)| language_of(path).is_some() && is_walked(path)) {
            // A file on disk that discovery did not list was excluded by configuration. A file that a sparse checkout
            // leaves out is not analysed.
            let is_deleted = || !staged.left_out.contains(path) && !repository.folder.join(path).exists();
            if !project_paths.contains(&**path) && is_deleted() {
                files.present.insert(path.clone(), id.clone());
            }
        }
        files
    }

    /// Adds every file that `overlay` changes, so that applying this state undoes `overlay`.
    fn with_files_of(mut self, overlay: &Overlay, state: &Tree, root: &Utf8Path) -> Self {
        for path in overlay.keys().filter_map(|path| path.strip_prefix(root).ok()) {
            match state.files.get(path) {
                Some(id) => {
                    self.present.insert(path.to_owned(), id.clone());
                }
                None => self.absent.push(path.to_owned()),
            }
        }
        self
    }

    /// Reads the contents from git, and returns the files that differ from the work tree or that `applied_overlay` has.
    fn read_contents(self, git: Git<'_>, applied_overlay: &Overlay, root: &Utf8Path) -> Result<Overlay, String> {
        let (paths, ids): (Vec<_>, Vec<_>) = self.present.into_iter().unzip();
        let blobs = git.blobs(&ids)?;
        let present_files = paths.into_iter().map(|path| root.join(path)).zip(blobs);
        let differs = |(path, bytes): &(Utf8PathBuf, Vec<u8>)| {
            applied_overlay.contains_key(path)
                || read(path, bytes.len() as u64).map_or(true, |work_tree_bytes| work_tree_bytes != *bytes)
        };
        let present_files = present_files.filter(differs).map(|(path, bytes)| (path, Some(bytes)));
        Ok(present_files.chain(self.absent.into_iter().map(|path| (root.join(path), None))).collect())
    }
}

/// Replaces, adds and removes facts so that `sources` is the state of the overlay.
fn apply_overlay(project: &Project, sources: &mut Vec<Analysed>, overlay: &Overlay) {
    for (path, bytes) in overlay {
        let slot = sources.binary_search_by(|file| (*file.path).cmp(path));
        let file = source_file_at(project, path);
        let facts = bytes.as_ref().zip(file.as_ref());
        let limit = project.configuration.max_file_size;
        let facts = facts.filter(|(bytes, _)| bytes.len() as u64 <= limit);
        let facts = facts.and_then(|(bytes, file)| extract_bytes(file, bytes).ok());
        match (slot, facts, file) {
            (Ok(slot), Some(facts), _) => {
                replace_facts(&mut sources[slot], facts);
            }
            (Ok(slot), None, _) => {
                sources.remove(slot);
            }
            (Err(slot), Some(facts), Some(file)) => {
                let relative = file.relative.as_str().replace('\\', "/");
                let (path, index) = (Arc::clone(&file.path), OnceLock::new());
                let resolved_suppressions = resolve_suppressions(&facts);
                sources.insert(
                    slot,
                    Analysed { path, relative, facts, index, reported: file.reported, resolved_suppressions },
                );
            }
            (Err(_), ..) => {}
        }
    }
}

/// Returns a file that the work tree no longer has.
fn deleted_file(project: &Project, path: &Utf8Path) -> Option<SourceFile> {
    let relative = path.strip_prefix(&project.base).ok()?.as_str().replace('\\', "/").into();
    let language = language_of(path)?;
    Some(SourceFile {
        path: Arc::from(path),
        relative,
        language,
        reported: true,
        unit: 0,
        import_root: None,
        given: None,
    })
}

/// True if the walk of the project would find a file: the walk skips hidden folders and folders of dependencies.
fn is_walked(path: &Utf8Path) -> bool {
    let is_skipped = |name: &str| name.starts_with('.') || SKIPPED_FOLDERS.contains(&name);
    !path.components().any(|part| is_skipped(part.as_str()))
}
