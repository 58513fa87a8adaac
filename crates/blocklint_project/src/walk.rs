//! Walks through the folders of a project and collects source files, manifests, launch files and configuration.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};

use blocklint_core::Language;
use camino::{Utf8Path, Utf8PathBuf};
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::Problem;
use crate::configuration::repository;
use crate::launch::is_launch;
use crate::pattern::Patterns;
use crate::problem::error_text;
use crate::units::is_manifest;

/// The files that a walk has found, in no order.
#[derive(Default, Debug)]
pub(crate) struct WalkResult {
    pub(crate) sources: Vec<(Utf8PathBuf, Language)>,
    pub(crate) manifests: Vec<Utf8PathBuf>,
    /// Files that start programs.
    pub(crate) launches: Vec<Utf8PathBuf>,
    /// Files that have only configuration (`blocklint.toml`).
    pub(crate) configurations: Vec<Utf8PathBuf>,
    pub(crate) problems: Vec<Problem>,
}

/// The greatest size of an ignore file that is read, in bytes.
const MAX_IGNORE_FILE_SIZE: u64 = 1_000_000;

/// One result of the walk.
enum Item {
    Configuration(Utf8PathBuf),
    Source(Utf8PathBuf, Language),
    Manifest(Utf8PathBuf),
    Launch(Utf8PathBuf),
    Problem(Problem),
}

/// Returns the language of a file by its extension; `None` for stubs (`.pyi`), because they have no code.
pub fn language_of(path: impl AsRef<Path>) -> Option<Language> {
    match path.as_ref().extension()?.to_str()? {
        "py" | "ipynb" => Some(Language::Python),
        "rs" => Some(Language::Rust),
        "java" => Some(Language::Java),
        _ => None,
    }
}

/// Walks through `folder` and all folders below it that are not skipped. Skipped are files and folders that an ignore
/// file matches (also without git), those that `excluded` matches, hidden folders, virtual environments,
/// [`SKIPPED_FOLDERS`], and symbolic links out of `root`. `threads` is 0 for the default number of threads.
pub(crate) fn walk(folder: &Utf8Path, root: &Utf8Path, excluded: &Patterns, threads: usize) -> WalkResult {
    let real = |folder: &Utf8Path| fs::canonicalize(folder).unwrap_or_default();
    let folders = RealFolders { walked: real(folder), root: real(root) };
    let (sender, receiver) = channel();
    let mut result = WalkResult::default();
    let mut builder = WalkBuilder::new(folder);
    builder.threads(threads).require_git(false).follow_links(false);
    let (top, repository) = (repository(root), real(repository(root)));
    let above = folder.ancestors().take_while(|above| above.starts_with(top));
    if let Some(file) = above.filter_map(|above| unusual_ignore_file(above.as_std_path(), &repository)).next() {
        builder.standard_filters(false).hidden(true);
        result.problems.push(Problem::new(
            &file,
            "no ignore file of the project is obeyed: this one is a link out of \
                                                  the repository, or no file of a usual size",
        ));
    }
    let (excluded, problem_sender) = (excluded.clone(), sender.clone());
    builder.filter_entry(move |entry| {
        if !is_entered(entry) || is_excluded(entry, &excluded) {
            return false;
        }
        let is_folder = entry.depth() > 0 && entry.file_type().is_some_and(|kind| kind.is_dir());
        let Some(file) = is_folder.then(|| unusual_ignore_file(entry.path(), &repository)).flatten() else {
            return true;
        };
        let message = "its folder is skipped: this is a link out of the repository, or no file of a usual size";
        let _ = problem_sender.send(Item::Problem(Problem::new(&file, message)));
        false
    });
    builder.build_parallel().run(|| {
        let sender: Sender<Item> = sender.clone();
        let folders = &folders;
        Box::new(move |entry| {
            let item = match entry {
                Ok(entry) => item_of_entry(entry, folders),
                Err(error) => problem(&error, folder).map(Item::Problem),
            };
            if let Some(item) = item {
                // Sending fails only without a receiver, and the receiver outlives the walk.
                let _ = sender.send(item);
            }
            WalkState::Continue
        })
    });
    // The loop below ends when all senders are dropped; the builder's filter has one of them.
    drop((sender, builder));
    for item in receiver {
        match item {
            Item::Source(path, language) => {
                // `setup.py` is a manifest and a source file.
                if path.file_name().is_some_and(|name| is_manifest(name.as_ref())) {
                    result.manifests.push(path.clone());
                }
                result.sources.push((path, language));
            }
            Item::Manifest(path) => result.manifests.push(path),
            Item::Launch(path) => result.launches.push(path),
            Item::Configuration(path) => result.configurations.push(path),
            Item::Problem(problem) => result.problems.push(problem),
        }
    }
    result
}

/// The names of folders that have installed libraries or generated files.
pub const SKIPPED_FOLDERS: [&str; 3] = ["node_modules", "site-packages", "__pycache__"];

/// The ignore files of a folder; earlier ones win.
pub(crate) const IGNORE_FILES: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// True if a folder is a virtual environment of Python.
pub(crate) fn is_environment(folder: &Path) -> bool {
    folder.join("pyvenv.cfg").is_file()
}

fn is_entered(entry: &DirEntry) -> bool {
    if entry.depth() == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    !SKIPPED_FOLDERS.iter().any(|name| entry.file_name() == *name) && !is_environment(entry.path())
}

/// Returns the first ignore file of a folder that must not be read: a symbolic link out of the repository, or no
/// regular file of a usual size. The walk would read any such file, even `/dev/zero`, and would wait for a pipe.
pub(crate) fn unusual_ignore_file(folder: &Path, repository: &Path) -> Option<PathBuf> {
    let is_usual =
        |metadata: fs::Metadata| metadata.is_dir() || metadata.is_file() && metadata.len() <= MAX_IGNORE_FILE_SIZE;
    let files = IGNORE_FILES.map(|name| folder.join(name));
    files.into_iter().find(|file| match fs::symlink_metadata(file) {
        Err(_) => false,
        Ok(metadata) if !metadata.is_symlink() => !is_usual(metadata),
        Ok(_) => match fs::canonicalize(file) {
            // All tools skip a symbolic link without a target.
            Err(_) => false,
            Ok(target) => !target.starts_with(repository) || !fs::metadata(file).is_ok_and(is_usual),
        },
    })
}

fn is_excluded(entry: &DirEntry, excluded: &Patterns) -> bool {
    !excluded.is_empty()
        && entry.depth() > 0
        && Utf8Path::from_path(entry.path()).is_some_and(|path| excluded.matches(path))
}

/// The walked folder and the project root, with symbolic links followed.
struct RealFolders {
    walked: PathBuf,
    root: PathBuf,
}

fn item_of_entry(entry: DirEntry, folders: &RealFolders) -> Option<Item> {
    let kind = entry.file_type()?;
    let path = entry.path();
    let language = language_of(path);
    if !kind.is_symlink() && !kind.is_file() {
        return None;
    }
    let is_manifest_file = language.is_none() && is_manifest(entry.file_name());
    let is_launch_file = language.is_none() && !is_manifest_file && is_launch(entry.file_name());
    let is_configuration = entry.file_name() == "blocklint.toml";
    if language.is_none() && !is_manifest_file && !is_launch_file && !is_configuration {
        return if kind.is_symlink() { Some(Item::Problem(link_loop(path)?)) } else { None };
    }
    if kind.is_symlink()
        && let Err(item) = check_link(path, language.is_some(), folders)?
    {
        // A link to a launch file outside of the project is common, so it is no problem.
        return if is_launch_file { None } else { Some(item) };
    }
    let path = match Utf8PathBuf::from_path_buf(entry.into_path()) {
        Ok(path) => path,
        Err(path) => return Some(Item::Problem(Problem::new(&path, "skipped: its name is not UTF-8"))),
    };
    Some(match language {
        Some(language) => Item::Source(path, language),
        None if is_launch_file => Item::Launch(path),
        None if is_configuration => Item::Configuration(path),
        None => Item::Manifest(path),
    })
}

/// Returns the problem of a symbolic link to a folder that contains the link.
fn link_loop(link: &Path) -> Option<Problem> {
    let target = fs::canonicalize(link).ok()?;
    let real_parent = fs::canonicalize(link.parent()?).ok()?;
    let is_loop = target.is_dir() && real_parent.starts_with(&target);
    is_loop.then(|| Problem::new(link, "skipped: the link leads back to a folder that contains it"))
}

/// Checks the target of a symbolic link. Returns `Ok` if the target is to be read, and a problem if it is outside of
/// the project or cannot be read. Returns `None` if the link is skipped: it leads to a folder, or to a file in the
/// walked folder, which the walk finds anyway.
fn check_link(link: &Path, is_source: bool, folders: &RealFolders) -> Option<Result<(), Item>> {
    let target = match fs::canonicalize(link) {
        Ok(target) => target,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_source => return None,
        Err(error) => return Some(Err(Item::Problem(Problem::new(link, format!("skipped: {}", error_text(&error)))))),
    };
    if target.is_dir() {
        return link_loop(link).map(|problem| Err(Item::Problem(problem)));
    }
    if target.starts_with(&folders.walked) || !target.is_file() {
        return None;
    }
    if !target.starts_with(&folders.root) {
        let hint = if is_source { "; it is read where the link is named" } else { "" };
        let message = format!("skipped: the link leads out of the project{hint}");
        return Some(Err(Item::Problem(Problem::new(link, message))));
    }
    Some(Ok(()))
}

/// Returns the problem of a folder or file that the walk could not read; `None` for an error without consequences, such
/// as a bad pattern in an ignore file, which git ignores too.
fn problem(error: &ignore::Error, folder: &Utf8Path) -> Option<Problem> {
    let mut path = folder.as_std_path();
    let mut error = error;
    loop {
        match error {
            ignore::Error::WithPath { path: inner, err } => {
                path = inner;
                error = err;
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => error = err,
            ignore::Error::Io(io) => return Some(Problem::new(path, format!("skipped: {}", error_text(io)))),
            ignore::Error::Loop { child, .. } => {
                return Some(Problem::new(child, "skipped: the link leads back to a folder that contains it"));
            }
            _ => return None,
        }
    }
}
