//! What a change brought: the findings of two states of a project are compared, not their lines.
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

use crate::analyse::{Unsolved, analyse_files, layout_of, on_large_stacks, opened, source_files, unread};
use crate::cached::{finish_keeping, known_facts};
use crate::choose::{Chosen, Hidden};
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
    /// What would be shown of it, and what not; `None` where no source file differs.
    state: Option<(Chosen, Hidden)>,
    /// What is not shown of the state after it.
    hidden_now: Hidden,
    /// Its name, for people.
    with: String,
}

/// Files that hold something else than the work tree, by their absolute paths; `None` where there is no such file.
type Overlay = BTreeMap<Utf8PathBuf, Option<Vec<u8>>>;

/// Two states, each as what differs from the work tree.
struct States {
    now: Overlay,
    before: Overlay,
    with: String,
}

/// Analyses the project as it is and as it was.
///
/// # Errors
///
/// Where git does not know what to compare with, or the system gives no threads.
pub fn run_change(request: RunRequest<'_>, compare: &Compare) -> Result<(Ran, Before), Failure> {
    let project = request.project;
    let States { now, before, with } = states(project, compare).map_err(Failure::new)?;
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
        // What could not be read of a file that differs is told of the state in which it was tried.
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
        // Freeing a large program costs time that nobody waits for.
        std::mem::forget(sources);
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

/// The texts of the files that a state holds otherwise than the work tree.
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

/// The file at a path, which may be one that the work tree has no more.
fn file(project: &Project, path: &Utf8Path) -> Option<SourceFile> {
    let known = project.files.binary_search_by(|file| (*file.path).cmp(path)).ok();
    known.map(|at| project.files[at].clone()).or_else(|| deleted(project, path))
}

/// What a file of the project held before; `None` where there was none.
///
/// # Errors
///
/// Where git does not know what to compare with.
pub fn text_before(project: &Project, compare: &Compare, path: &Utf8Path) -> Result<Option<String>, Failure> {
    let read = || -> Result<Option<String>, String> {
        let git = Git::at(&project.root)?;
        let (commit, _) = commit_before(git, compare)?;
        let Ok(inside) = path.strip_prefix(&project.root) else { return Ok(None) };
        let Some(id) = git.tree(&commit)?.files.remove(inside) else { return Ok(None) };
        Ok(git.blobs(&[id])?.pop().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    read().map_err(Failure::new)
}

/// The commit before a change, and its name for people.
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

/// What differs between the two states, and between each and the work tree.
fn states(project: &Project, compare: &Compare) -> Result<States, String> {
    let git = Git::at(&project.root)?;
    let (commit, with) = commit_before(git, compare)?;
    let tree = git.tree(&commit)?;
    let (index, staged) = git.index()?;
    let overlay = |state: &Tree, over: &Overlay| {
        Wanted::new(project, state, &index, &staged).over(over, state, &project.root).fetched(git, over, &project.root)
    };
    if *compare != Compare::Staged {
        return Ok(States { before: overlay(&tree, &Overlay::new())?, now: Overlay::new(), with });
    }
    let source = |(path, _): &(&Utf8PathBuf, &String)| language(path).is_some();
    let differs_staged = !tree.files.iter().filter(source).eq(index.files.iter().filter(source));
    let now = overlay(&index, &Overlay::new())?;
    let before = if differs_staged { overlay(&tree, &now)? } else { Overlay::new() };
    Ok(States { now, before, with })
}

/// The files of a state that may not be those of the work tree.
#[derive(Default)]
struct Wanted {
    /// Paths from the root, and the numbers of what they hold.
    held: Entries,
    /// Files that the state does not have.
    absent: Vec<Utf8PathBuf>,
}

impl Wanted {
    fn new(project: &Project, state: &Tree, index: &Tree, staged: &Staged) -> Self {
        let mut wanted = Wanted::default();
        let in_other = |path: &Utf8Path| state.submodules.iter().any(|folder| path.starts_with(folder));
        let mut of_project: BTreeSet<&Utf8Path> = BTreeSet::new();
        for file in &project.files {
            // What lies outside of the root is of no commit.
            let Ok(path) = file.path.strip_prefix(&project.root) else { continue };
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
            // What is there and no file of the project is excluded; what a sparse checkout leaves out is not looked at.
            let is_looked_at = || !staged.left_out.contains(path) && !project.root.join(path).exists();
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

    /// What they hold, of those that differ from the work tree or stand in the overlay that this one is put over.
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
                sources[at].facts = facts;
                sources[at].index = OnceLock::new();
            }
            (Ok(at), None, _) => {
                sources.remove(at);
            }
            (Err(at), Some(facts), Some(file)) => {
                let relative = file.relative.as_str().replace('\\', "/");
                let (path, index) = (Arc::clone(&file.path), OnceLock::new());
                sources.insert(at, Analysed { path, relative, facts, index, reported: file.reported });
            }
            (Err(_), ..) => {}
        }
    }
}

/// A file that the work tree has no more.
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

/// Whether a walk would come to a file: what is hidden, or other people's, it passes over.
fn is_walked(path: &Utf8Path) -> bool {
    let passed = |name: &str| name.starts_with('.') || matches!(name, "node_modules" | "site-packages" | "__pycache__");
    !path.components().any(|part| passed(part.as_str()))
}
