//! The walk through folders: which source files and manifests there are.

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
use crate::problem::reason;
use crate::units::is_manifest;

/// The files that a walk found, in no order.
#[derive(Default, Debug)]
pub(crate) struct Found {
    pub(crate) sources: Vec<(Utf8PathBuf, Language)>,
    pub(crate) manifests: Vec<Utf8PathBuf>,
    /// Files that say how programs are started.
    pub(crate) launches: Vec<Utf8PathBuf>,
    /// Files that hold nothing but configuration.
    pub(crate) configurations: Vec<Utf8PathBuf>,
    pub(crate) problems: Vec<Problem>,
}

/// Longer ignore files, in bytes, are not read.
const LONGEST_IGNORES: u64 = 1_000_000;

enum Item {
    Configuration(Utf8PathBuf),
    Source(Utf8PathBuf, Language),
    Manifest(Utf8PathBuf),
    Launch(Utf8PathBuf),
    Problem(Problem),
}

/// Returns the language of a file by its extension. Stubs (`.pyi`) are none: they hold no body.
pub(crate) fn language_of(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "py" | "ipynb" => Some(Language::Python),
        "rs" => Some(Language::Rust),
        "java" => Some(Language::Java),
        _ => None,
    }
}

/// Walks `folder`, which is always entered, on so many threads; 0 leaves the choice. Ignore files are obeyed, whether or not
/// git manages the folder; hidden folders, virtual environments, `site-packages` and `node_modules`
/// below it are skipped, and so is what `excluded` means, and what links lead to outside of `root`.
pub(crate) fn walk(folder: &Utf8Path, root: &Utf8Path, excluded: &Patterns, threads: usize) -> Found {
    let real = |folder: &Utf8Path| fs::canonicalize(folder).unwrap_or_default();
    let within = Within { walked: real(folder), root: real(root) };
    let (sender, receiver) = channel();
    let mut found = Found::default();
    let mut builder = WalkBuilder::new(folder);
    builder.threads(threads).require_git(false).follow_links(false);
    let (top, repository) = (repository(root), real(repository(root)));
    let above = folder.ancestors().take_while(|above| above.starts_with(top));
    if let Some(file) = above.filter_map(|above| unreadable_ignores(above.as_std_path(), &repository)).next() {
        builder.standard_filters(false).hidden(true);
        found.problems.push(Problem::new(&file, "no ignore file of the project is obeyed: this one is a link out of the repository, or no file of a usual size"));
    }
    let (excluded, refuser) = (excluded.clone(), sender.clone());
    builder.filter_entry(move |entry| {
        if !is_entered(entry) || is_excluded(entry, &excluded) {
            return false;
        }
        let is_folder = entry.depth() > 0 && entry.file_type().is_some_and(|kind| kind.is_dir());
        let Some(file) = is_folder.then(|| unreadable_ignores(entry.path(), &repository)).flatten() else {
            return true;
        };
        let told = "its folder is skipped: this is a link out of the repository, or no file of a usual size";
        let _ = refuser.send(Item::Problem(Problem::new(&file, told)));
        false
    });
    builder.build_parallel().run(|| {
        let sender: Sender<Item> = sender.clone();
        let within = &within;
        Box::new(move |entry| {
            let item = match entry {
                Ok(entry) => visit(entry, within),
                Err(error) => problem(&error, folder).map(Item::Problem),
            };
            if let Some(item) = item {
                // Fails only once the receiver is gone, which outlives the walk.
                let _ = sender.send(item);
            }
            WalkState::Continue
        })
    });
    // The filter keeps the other sender.
    drop((sender, builder));
    for item in receiver {
        match item {
            Item::Source(path, language) => {
                // setup.py is both.
                if path.file_name().is_some_and(|name| is_manifest(name.as_ref())) {
                    found.manifests.push(path.clone());
                }
                found.sources.push((path, language));
            }
            Item::Manifest(path) => found.manifests.push(path),
            Item::Launch(path) => found.launches.push(path),
            Item::Configuration(path) => found.configurations.push(path),
            Item::Problem(problem) => found.problems.push(problem),
        }
    }
    found
}

/// Names of folders that hold other people's code, or none that people write.
pub(crate) const OTHER_PEOPLES: [&str; 3] = ["node_modules", "site-packages", "__pycache__"];

/// The files of a folder that say what is ignored, the strongest first.
pub(crate) const IGNORE_FILES: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// True if a folder is a virtual environment of Python.
pub(crate) fn is_environment(folder: &Path) -> bool {
    folder.join("pyvenv.cfg").is_file()
}

fn is_entered(entry: &DirEntry) -> bool {
    if entry.depth() == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    !OTHER_PEOPLES.iter().any(|name| entry.file_name() == *name) && !is_environment(entry.path())
}

/// Returns the first of a folder's ignore files that is not to be read, before the walk reads it: it would read
/// whatever a link leads to, `/dev/zero` too, and wait for a pipe.
pub(crate) fn unreadable_ignores(folder: &Path, repository: &Path) -> Option<PathBuf> {
    let is_usual = |about: fs::Metadata| about.is_dir() || about.is_file() && about.len() <= LONGEST_IGNORES;
    let files = IGNORE_FILES.map(|name| folder.join(name));
    files.into_iter().find(|file| match fs::symlink_metadata(file) {
        Err(_) => false,
        Ok(about) if !about.is_symlink() => !is_usual(about),
        Ok(_) => match fs::canonicalize(file) {
            // A link without a target is skipped by all tools.
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

/// Folders, with all links followed.
struct Within {
    walked: PathBuf,
    root: PathBuf,
}

fn visit(entry: DirEntry, within: &Within) -> Option<Item> {
    let kind = entry.file_type()?;
    let path = entry.path();
    let language = language_of(path);
    if !kind.is_symlink() && !kind.is_file() {
        return None;
    }
    let manifest = language.is_none() && is_manifest(entry.file_name());
    let launch = language.is_none() && !manifest && is_launch(entry.file_name());
    let configuration = entry.file_name() == "blocklint.toml";
    if language.is_none() && !manifest && !launch && !configuration {
        return if kind.is_symlink() { Some(Item::Problem(loops(path)?)) } else { None };
    }
    if kind.is_symlink()
        && let Err(item) = follow(path, language.is_some(), within)?
    {
        // Scripts of other places lie in many folders; what starts a program is no part of it.
        return if launch { None } else { Some(item) };
    }
    let path = match Utf8PathBuf::from_path_buf(entry.into_path()) {
        Ok(path) => path,
        Err(path) => return Some(Item::Problem(Problem::new(&path, "skipped: its name is not UTF-8"))),
    };
    Some(match language {
        Some(language) => Item::Source(path, language),
        None if launch => Item::Launch(path),
        None if configuration => Item::Configuration(path),
        None => Item::Manifest(path),
    })
}

/// Returns the line for a link that leads back to a folder it lies in.
fn loops(link: &Path) -> Option<Problem> {
    let target = fs::canonicalize(link).ok()?;
    let real_parent = fs::canonicalize(link.parent()?).ok()?;
    let loops = target.is_dir() && real_parent.starts_with(&target);
    loops.then(|| Problem::new(link, "skipped: the link leads back to a folder it lies in"))
}

/// Looks behind a link. `None`: nothing to read there, because it leads to a folder (read at its own
/// place or not part of the project) or to a file that the walk meets anyway.
fn follow(link: &Path, is_source: bool, within: &Within) -> Option<Result<(), Item>> {
    let target = match fs::canonicalize(link) {
        Ok(target) => target,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_source => return None,
        Err(error) => return Some(Err(Item::Problem(Problem::new(link, format!("skipped: {}", reason(&error)))))),
    };
    if target.is_dir() {
        return loops(link).map(|problem| Err(Item::Problem(problem)));
    }
    if target.starts_with(&within.walked) || !target.is_file() {
        return None;
    }
    if !target.starts_with(&within.root) {
        let named = if is_source { "; it is read where the link is named" } else { "" };
        let told = format!("skipped: the link leads out of the project{named}");
        return Some(Err(Item::Problem(Problem::new(link, told))));
    }
    Some(Ok(()))
}

/// Returns the problem of a place that the walk could not enter; `None` for one without consequences, such as a bad
/// pattern in an ignore file, which git skips too.
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
            ignore::Error::Io(io) => return Some(Problem::new(path, format!("skipped: {}", reason(io)))),
            ignore::Error::Loop { child, .. } => {
                return Some(Problem::new(child, "skipped: the link leads back to a folder it lies in"));
            }
            _ => return None,
        }
    }
}
