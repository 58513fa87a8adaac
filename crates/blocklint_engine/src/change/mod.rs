//! The findings that a change brought: the findings of two states of a project are compared, not their lines.
//!
//! Facts of files that both states share are made once. Manifests, configuration and models count as they are now in both: what is
//! asked is what the change of the code brought.

mod compare;
mod git;
mod worktree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use blocklint_analysis::SourceFile as Analysed;
use blocklint_core::{Finding, Language};
use blocklint_output::Sources;
use blocklint_project::{Project, SourceFile, read};
use camino::{Utf8Path, Utf8PathBuf};

use crate::analyse::{
    Unsolved, analyse_files, layout_of, on_large_stacks, opened, replace_facts, source_files, unread,
};
use crate::cached::{finish_keeping, known_facts};
use crate::choose::{Chosen, Hidden};
use crate::comments::named::silencing_comments;
use crate::comments::unread_languages;
use crate::extraction::{decode, extract_bytes};
use crate::timings::Timings;
use crate::{Failure, Ran, RunRequest};

pub use compare::Compared;
use git::{Entries, Git, Tree};
use worktree::Staged;

/// Which two states are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compare {
    /// The commit at which the current one left this one, and the work tree.
    Since(String),
    /// The last commit, and the work tree.
    Changed,
    /// The last commit, and what is staged.
    Staged,
}

/// The state before a change.
#[derive(Debug)]
pub struct Before {
    /// Its shown and hidden findings; `None` if no source file differs.
    state: Option<(Chosen, Hidden)>,
    /// The hidden findings of the state after the change.
    hidden_now: Hidden,
    /// Its name, for people.
    with: String,
}

/// Files that hold something else than the work tree, by their absolute paths; `None` where there is no such file.
type Overlay = BTreeMap<Utf8PathBuf, Option<Vec<u8>>>;

/// Two states, each as what differs from the work tree.
struct ComparedStates {
    now: Overlay,
    before: Overlay,
    with: String,
}

/// Analyses the project as it is and as it was.
///
/// # Errors
///
/// If git does not know the commit to compare with, or the system starts no threads.
pub fn run_change(request: RunRequest<'_>, compare: &Compare) -> Result<(Ran, Before), Failure> {
    let project = request.project;
    let ComparedStates { now, before, with } = states(project, compare).map_err(Failure::new)?;
    let facts = known_facts(&request)?;
    // The texts of staged files are not those of the work tree.
    let fixes = request.fixes && now.is_empty();
    let request = RunRequest { fixes, ..request };
    let (report, before) = on_large_stacks(|| {
        let unread = unread(project, &facts.extracted);
        let (read, progress) = (opened(&facts.extracted), request.progress);
        let unread_languages = unread_languages(project, &facts.extracted);
        let mut sources = source_files(project, facts.extracted);
        replace(project, &mut sources, &now);
        let layout = layout_of(project, request.models);
        // An unreadable file that differs is reported for the state in which it was read.
        let same = unread.iter().filter(|finding| !before.contains_key(&*finding.place.path)).cloned().collect();
        let analyse = |sources: &[Analysed], unread: Vec<Finding>, timings: Timings| {
            let unread_languages = unread_languages.clone();
            let unsolved = Unsolved { project, unread, unread_languages, read, timings, progress };
            analyse_files(sources, &layout, request.models, request.options, unsolved)
        };
        let report = analyse(&sources, unread, facts.timings);
        let before = (!before.is_empty()).then(|| {
            replace(project, &mut sources, &before);
            analyse(&sources, same, Timings::default())
        });
        request.options.free(sources);
        (report, before)
    })?;
    let (mut ran, hidden_now) = finish_keeping(&request, report)?;
    for left_out in before.iter().flat_map(|before| &before.left_out) {
        if ran.left_out.iter().all(|of| of.what != left_out.what) {
            ran.left_out.push(left_out.clone());
        }
    }
    let texts = texts(project, now);
    let state = match before {
        Some(report) => {
            let (ran, hidden) = finish_keeping(&RunRequest { fixes: false, ..request }, report)?;
            Some((ran.chosen, hidden))
        }
        None => None,
    };
    Ok((Ran { texts, unkept: facts.unkept, ..ran }, Before { state, hidden_now, with }))
}

/// Returns the texts of the files that a state holds otherwise than the work tree.
fn texts(project: &Project, overlay: Overlay) -> Sources {
    let mut texts = Sources::default();
    for (path, bytes) in overlay {
        if let Some((bytes, file)) = bytes.zip(file(project, &path)) {
            let (text, cells) = decode(&file, bytes);
            texts.insert_cells(file.path, text, cells);
        }
    }
    texts
}

/// Returns the file at a path, which may be one that the work tree has no more.
fn file(project: &Project, path: &Utf8Path) -> Option<SourceFile> {
    project.file_at(path).cloned().or_else(|| deleted(project, path))
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
        text_in(git, &project.root, &commit, path)
    };
    read().map_err(Failure::new)
}

/// Returns what a file held in a commit of the repository at a folder, or in the submodule that the commit has there.
fn text_in(git: Git<'_>, folder: &Utf8Path, commit: &str, path: &Utf8Path) -> Result<Option<String>, String> {
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
        Some(git) => text_in(git, &folder, commit, path),
        None => Ok(None),
    }
}

/// Returns the commit before a change, and its name for people.
fn commit_before(git: Git<'_>, compare: &Compare) -> Result<(String, String), String> {
    let short = |commit: &str| commit.chars().take(10).collect::<String>();
    match compare {
        Compare::Since(name) => {
            let named = git.commit(name)?;
            let commit = git.merge_base(name, &named)?;
            let with = match commit == named {
                true => name.clone(),
                false => format!("the merge base {} of {name}", short(&commit)),
            };
            Ok((commit, with))
        }
        Compare::Changed | Compare::Staged => Ok((git.head()?, "the last commit".to_owned())),
    }
}

/// Returns the differences between the two states, and between each and the work tree.
fn states(project: &Project, compare: &Compare) -> Result<ComparedStates, String> {
    let git = Git::at(&project.root)?;
    let (commit, with) = commit_before(git, compare)?;
    let mut states = ComparedStates { now: Overlay::new(), before: Overlay::new(), with };
    let tree = git.tree(&commit)?;
    let (index, staged) = git.index()?;
    let of = Repository { git, folder: &project.root, project, staged_only: *compare == Compare::Staged };
    of.compare(&tree, &index, &index, &staged, &mut states)?;
    Ok(states)
}

/// One repository of those that a project lies in: its own, or a submodule.
#[derive(Clone, Copy)]
struct Repository<'r> {
    git: Git<'r>,
    /// The folder that its paths count from.
    folder: &'r Utf8Path,
    project: &'r Project,
    /// True if the new state is the staged one, not the work tree.
    staged_only: bool,
}

impl Repository<'_> {
    /// Adds how the files of this repository and of its submodules differ. `tree` is the state before, `new` what is
    /// staged, for a submodule the commit that is staged; `index` and `staged` show which files of the work tree need
    /// not be read.
    fn compare(
        self,
        tree: &Tree,
        new: &Tree,
        index: &Tree,
        staged: &Staged,
        states: &mut ComparedStates,
    ) -> Result<(), String> {
        let overlay = |state: &Tree, over: &Overlay| {
            StateFiles::new(self, state, index, staged).over(over, state, self.folder).fetched(
                self.git,
                over,
                self.folder,
            )
        };
        if self.staged_only {
            let source = |(path, _): &(&Utf8PathBuf, &String)| language(path).is_some();
            let differs_staged = !tree.files.iter().filter(source).eq(new.files.iter().filter(source));
            let now = overlay(new, &Overlay::new())?;
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
            let of_commit = |commit: Option<&String>| match commit {
                Some(commit) => git.tree(commit),
                None => Ok(Tree::default()),
            };
            // A commit that was not fetched cannot be compared with: the submodule counts as unchanged.
            let staged_commit = new.submodules.get(path).unwrap_or(staged_commit);
            let trees = of_commit(tree.submodules.get(path)).and_then(|before| {
                let new = if self.staged_only { of_commit(Some(staged_commit))? } else { Tree::default() };
                Ok((before, new, git.index()?))
            });
            let Ok((before, new, (index, staged))) = trees else { continue };
            Repository { git, folder: &folder, ..self }.compare(&before, &new, &index, &staged, states)?;
        }
        Ok(())
    }
}

/// The files of a state that may not be those of the work tree.
#[derive(Default)]
struct StateFiles {
    /// Paths from the root, and the numbers of their content.
    held: Entries,
    /// Files that the state does not have.
    absent: Vec<Utf8PathBuf>,
}

impl StateFiles {
    fn new(of: Repository<'_>, state: &Tree, index: &Tree, staged: &Staged) -> Self {
        let mut wanted = StateFiles::default();
        let submodules = || state.submodules.keys().chain(index.submodules.keys());
        let in_other = |path: &Utf8Path| submodules().any(|folder| path.starts_with(folder));
        let mut of_project: BTreeSet<&Utf8Path> = BTreeSet::new();
        for file in &of.project.files {
            // A file outside of the folder is of no commit.
            let Ok(path) = file.path.strip_prefix(of.folder) else { continue };
            of_project.insert(path);
            match state.files.get(path) {
                Some(id) if index.files.get(path) == Some(id) && staged.is_as_seen(path, &file.path) => {}
                Some(id) => {
                    wanted.held.insert(path.to_owned(), id.clone());
                }
                None if in_other(path) => {}
                None => wanted.absent.push(path.to_owned()),
            }
        }
        for (path, id) in state.files.iter().filter(|(path, _)| language(path).is_some() && is_walked(path)) {
            // An existing file outside the project's files is excluded; a file that a sparse checkout leaves out is not
            // looked at.
            let is_looked_at = || !staged.left_out.contains(path) && !of.folder.join(path).exists();
            if !of_project.contains(&**path) && is_looked_at() {
                wanted.held.insert(path.clone(), id.clone());
            }
        }
        wanted
    }

    /// Adds the files of another overlay, which this one is put over.
    fn over(mut self, other: &Overlay, state: &Tree, root: &Utf8Path) -> Self {
        for path in other.keys().filter_map(|path| path.strip_prefix(root).ok()) {
            match state.files.get(path) {
                Some(id) => {
                    self.held.insert(path.to_owned(), id.clone());
                }
                None => self.absent.push(path.to_owned()),
            }
        }
        self
    }

    /// Returns the contents of files that differ from the work tree or stand in the overlay below this one.
    fn fetched(self, git: Git<'_>, over: &Overlay, root: &Utf8Path) -> Result<Overlay, String> {
        let (paths, ids): (Vec<_>, Vec<_>) = self.held.into_iter().unzip();
        let blobs = git.blobs(&ids)?;
        let held = paths.into_iter().map(|path| root.join(path)).zip(blobs);
        let differs = |(path, bytes): &(Utf8PathBuf, Vec<u8>)| {
            over.contains_key(path) || read(path, bytes.len() as u64).map_or(true, |of_tree| of_tree != *bytes)
        };
        let held = held.filter(differs).map(|(path, bytes)| (path, Some(bytes)));
        Ok(held.chain(self.absent.into_iter().map(|path| (root.join(path), None))).collect())
    }
}

/// Puts the files of a state in place of what they are.
fn replace(project: &Project, sources: &mut Vec<Analysed>, overlay: &Overlay) {
    for (path, bytes) in overlay {
        let at = sources.binary_search_by(|file| (*file.path).cmp(path));
        let file = file(project, path);
        let facts = bytes.as_ref().zip(file.as_ref());
        let limit = project.configuration.max_file_size;
        let facts = facts.filter(|(bytes, _)| bytes.len() as u64 <= limit);
        let facts = facts.and_then(|(bytes, file)| extract_bytes(file, bytes).ok());
        match (at, facts, file) {
            (Ok(at), Some(facts), _) => {
                replace_facts(&mut sources[at], facts);
            }
            (Ok(at), None, _) => {
                sources.remove(at);
            }
            (Err(at), Some(facts), Some(file)) => {
                let relative = file.relative.as_str().replace('\\', "/");
                let (path, index) = (Arc::clone(&file.path), OnceLock::new());
                let silencing = silencing_comments(&facts);
                sources.insert(at, Analysed { path, relative, facts, index, reported: file.reported, silencing });
            }
            (Err(_), ..) => {}
        }
    }
}

/// Returns a file that the work tree has no more.
fn deleted(project: &Project, path: &Utf8Path) -> Option<SourceFile> {
    let relative = path.strip_prefix(&project.base).ok()?.as_str().replace('\\', "/").into();
    let language = language(path)?;
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

fn language(path: &Utf8Path) -> Option<Language> {
    match path.extension()? {
        "py" | "ipynb" => Some(Language::Python),
        "rs" => Some(Language::Rust),
        "java" => Some(Language::Java),
        _ => None,
    }
}

/// True if a walk reaches a file. It skips hidden folders and folders of dependencies.
fn is_walked(path: &Utf8Path) -> bool {
    let passed = |name: &str| name.starts_with('.') || matches!(name, "node_modules" | "site-packages" | "__pycache__");
    !path.components().any(|part| passed(part.as_str()))
}
