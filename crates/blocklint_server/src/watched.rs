//! Changes of files on disk (`workspace/didChangeWatchedFiles`), as jobs for a worker.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blocklint_project::{SKIPPED_FOLDERS, language_of};
use camino::{Utf8Path, Utf8PathBuf};

use crate::analysis::FilePath;
use crate::folder::Folder;
use crate::protocol::{DidChangeWatchedFilesParams, FileChangeType};
use crate::uri;
use crate::view::Documents;
use crate::worker::Job;

/// The number of changed sources from which the whole folder is reloaded, because that is faster than file by file.
const RELOAD_THRESHOLD: usize = 50;

/// Returns the jobs for the changes in a folder. A change of an open source is skipped, because the client sends its
/// text.
pub(crate) fn jobs_for_changes(
    folder: &Folder,
    changes: &DidChangeWatchedFilesParams,
    documents: &Documents,
) -> Vec<Job> {
    let mut changed: HashSet<FilePath> = HashSet::new();
    let mut needs_reload = false;
    let mut last_kind: HashMap<Utf8PathBuf, FileChangeType> = HashMap::new();
    for change in &changes.changes {
        if let Some(path) = uri::to_path(&change.uri).filter(|path| folder.contains(path)) {
            last_kind.insert(path, change.kind);
        }
    }
    for (path, kind) in last_kind {
        if is_never_entered(&folder.path, &path) {
            continue;
        }
        let is_source = language_of(&path).is_some();
        let is_known = folder.analysis.files.contains(&*path);
        let is_deleted = kind == FileChangeType::Deleted;
        needs_reload |= !is_source || is_known == is_deleted;
        if is_source && !is_deleted && !documents.contains_key(&*path) {
            changed.insert(Arc::from(path));
        }
    }
    if needs_reload || changed.len() >= RELOAD_THRESHOLD {
        return vec![Job::Reload(changed)];
    }
    changed.into_iter().map(|path| Job::Change(path, None)).collect()
}

/// True if discovery never enters a folder of the path below `folder`.
fn is_never_entered(folder: &Utf8Path, path: &Utf8Path) -> bool {
    let relative = path.strip_prefix(folder).unwrap_or(path);
    relative.components().any(|part| part.as_str() == ".git" || SKIPPED_FOLDERS.contains(&part.as_str()))
}
