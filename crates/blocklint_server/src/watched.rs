//! The meaning of changes on disk.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::analysis::FilePath;
use crate::folder::Folder;
use crate::protocol::{DidChangeWatchedFilesParams, FileChangeType};
use crate::uri;
use crate::view::Documents;
use crate::worker::Job;

/// Folders in which no walk looks.
const NEVER_ENTERED: [&str; 4] = [".git", "node_modules", "site-packages", "__pycache__"];

/// From how many changed sources on the folder is looked through once, and not file by file.
const MANY: usize = 50;

/// Returns the jobs for a folder; sources that the client holds open are its own business unless they come or go.
pub(crate) fn jobs(folder: &Folder, changes: &DidChangeWatchedFilesParams, documents: &Documents) -> Vec<Job> {
    let mut changed: HashSet<FilePath> = HashSet::new();
    let mut is_other = false;
    let mut last: HashMap<Utf8PathBuf, FileChangeType> = HashMap::new();
    for change in &changes.changes {
        if let Some(path) = uri::to_path(&change.uri).filter(|path| folder.holds(path)) {
            last.insert(path, change.kind);
        }
    }
    for (path, kind) in last {
        if is_never_entered(&folder.path, &path) {
            continue;
        }
        let is_source = matches!(path.extension(), Some("py" | "ipynb" | "rs" | "java"));
        let is_known = folder.analysis.files.contains(&*path);
        let goes = kind == FileChangeType::Deleted;
        is_other |= !is_source || is_known == goes;
        if is_source && !goes && !documents.contains_key(&*path) {
            changed.insert(Arc::from(path));
        }
    }
    if is_other || changed.len() >= MANY {
        return vec![Job::Reload(changed)];
    }
    changed.into_iter().map(|path| Job::Change(path, None)).collect()
}

fn is_never_entered(folder: &Utf8Path, path: &Utf8Path) -> bool {
    let below = path.strip_prefix(folder).unwrap_or(path);
    below.components().any(|part| NEVER_ENTERED.contains(&part.as_str()))
}
