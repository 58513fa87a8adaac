//! The walk through folders: which source files and manifests there are.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};

use blocklint_core::Language;
use camino::{Utf8Path, Utf8PathBuf};
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::Problem;
use crate::launch::is_launch;
use crate::pattern::Patterns;
use crate::problem::reason;
use crate::units::is_manifest;

/// What a walk found, in no order.
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

enum Item {
    Configuration(Utf8PathBuf),
    Source(Utf8PathBuf, Language),
    Manifest(Utf8PathBuf),
    Launch(Utf8PathBuf),
    Problem(Problem),
}

/// The language of a file by its extension. Stubs (`.pyi`) are none: they hold no body.
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
/// below it are skipped, and so is what `excluded` means.
pub(crate) fn walk(folder: &Utf8Path, excluded: &Patterns, threads: usize) -> Found {
    let real_folder = fs::canonicalize(folder).ok();
    let (sender, receiver) = channel();
    let mut builder = WalkBuilder::new(folder);
    builder.threads(threads).require_git(false).follow_links(false).filter_entry(is_entered);
    if !excluded.is_empty() {
        let excluded = excluded.clone();
        builder.filter_entry(move |entry| is_entered(entry) && !is_excluded(entry, &excluded));
    }
    builder.build_parallel().run(|| {
        let sender: Sender<Item> = sender.clone();
        let real_folder = real_folder.as_deref();
        Box::new(move |entry| {
            let item = match entry {
                Ok(entry) => visit(entry, real_folder),
                Err(error) => problem(&error, folder).map(Item::Problem),
            };
            if let Some(item) = item {
                // Fails only once the receiver is gone, which outlives the walk.
                let _ = sender.send(item);
            }
            WalkState::Continue
        })
    });
    drop(sender);
    let mut found = Found::default();
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

fn is_entered(entry: &DirEntry) -> bool {
    if entry.depth() == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    let other_peoples = ["node_modules", "site-packages", "__pycache__"];
    !other_peoples.iter().any(|name| entry.file_name() == *name) && !entry.path().join("pyvenv.cfg").is_file()
}

fn is_excluded(entry: &DirEntry, excluded: &Patterns) -> bool {
    entry.depth() > 0 && Utf8Path::from_path(entry.path()).is_some_and(|path| excluded.matches(path))
}

fn visit(entry: DirEntry, real_folder: Option<&Path>) -> Option<Item> {
    let kind = entry.file_type()?;
    let path = entry.path();
    let language = language_of(path);
    if kind.is_symlink() {
        if let Err(item) = follow(path, language.is_some(), real_folder)? {
            return Some(item);
        }
    } else if !kind.is_file() {
        return None;
    }
    let manifest = language.is_none() && is_manifest(entry.file_name());
    let launch = language.is_none() && !manifest && is_launch(entry.file_name());
    let configuration = entry.file_name() == "blocklint.toml";
    if language.is_none() && !manifest && !launch && !configuration {
        return None;
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

/// Looks behind a link. `None`: nothing to read there, because it leads to a folder (read at its own
/// place or not part of the project) or to a file that the walk meets anyway.
fn follow(link: &Path, is_source: bool, real_folder: Option<&Path>) -> Option<Result<(), Item>> {
    let target = match fs::canonicalize(link) {
        Ok(target) => target,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_source => return None,
        Err(error) => return Some(Err(Item::Problem(Problem::new(link, format!("skipped: {}", reason(&error)))))),
    };
    if target.is_dir() {
        let real_parent = link.parent().and_then(|parent| fs::canonicalize(parent).ok())?;
        let loops = real_parent.starts_with(&target);
        return loops
            .then(|| Err(Item::Problem(Problem::new(link, "skipped: the link leads back to a folder it lies in"))));
    }
    let met_anyway = real_folder.is_some_and(|folder| target.starts_with(folder));
    (target.is_file() && !met_anyway).then_some(Ok(()))
}

/// The line for what the walk could not enter. `None` for what is no one's concern, such as a bad
/// pattern in an ignore file, which git passes over too.
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
