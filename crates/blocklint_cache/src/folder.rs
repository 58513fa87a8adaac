//! The folder of a cache: its files, the check against symbolic links, and the removal of old entries.

use std::fs;
use std::io;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::files::{Files, INDEX, segments_of};
use crate::{Digest, FOLDER, stored};

/// The name of the file by which backup programs recognise a cache.
const TAG: &str = "CACHEDIR.TAG";
/// The text of the tag: the signature of <https://bford.info/cachedir/>, then the name of the program.
const TAG_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
                        # This folder is a cache of blocklint and can be removed at any time.\n";
const IGNORE: &str = ".gitignore";
const IGNORE_TEXT: &str = "# Made by blocklint.\n*\n";

/// The most whole runs that are stored.
const MOST_RUNS: usize = 24;
/// The age at which the entries of other versions are removed.
const MOST_AGE_OF_OTHER_VERSIONS: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// The age at which a file without a reference is removed. A younger one may be in use by another process.
const MOST_AGE_WITHOUT_REFERENCE: Duration = Duration::from_secs(10 * 60);

/// The cache of one project for one version of the program. Its folder is made when the first entry is stored.
#[derive(Clone, Debug)]
pub struct Cache {
    /// The folder with the tag.
    root: Utf8PathBuf,
    /// The folder of this version, in `root`.
    folder: Utf8PathBuf,
    /// True if `root` must not be a link, because it is in the project.
    is_in_project: bool,
}

impl Cache {
    /// Returns the cache at the root of a project. `version` is the name of a folder. It changes with the program and
    /// all else that facts and findings depend on.
    pub fn of_project(root: &Utf8Path, version: &str) -> Self {
        let root = root.join(FOLDER);
        Cache { folder: root.join(version), root, is_in_project: true }
    }

    /// Returns the cache of the project with this root in a folder that the user chose.
    pub fn in_folder(folder: &Utf8Path, root: &Utf8Path, version: &str) -> Self {
        let name = format!(
            "{}-{:016x}",
            root.file_name().unwrap_or("root"),
            Digest::of_bytes(root.as_str().as_bytes()).0 as u64
        );
        Cache { root: folder.to_owned(), folder: folder.join(version).join(name), is_in_project: false }
    }

    /// Returns the folder with the tag.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns the list of the files that an earlier run read.
    pub fn files(&self) -> Files {
        match self.refuse_links() {
            Ok(()) => Files::read(&self.folder),
            Err(_) => Files::empty(&self.folder),
        }
    }

    /// Removes the list of files, so that the next run reads them again.
    ///
    /// # Errors
    ///
    /// If there is no list, or it cannot be removed.
    pub fn forget_files(&self) -> io::Result<()> {
        self.create_folder()?;
        fs::remove_file(self.folder.join(INDEX))
    }

    /// Returns the stored result of the whole run with this key.
    pub fn load_run<T: DeserializeOwned>(&self, key: Digest) -> Option<T> {
        self.refuse_links().ok()?;
        stored::read(&self.run_path(key))
    }

    /// Stores the result of a whole run under a key.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn store_run<T: Serialize>(&self, key: Digest, value: &T) -> io::Result<()> {
        self.create_folder()?;
        stored::write(&self.run_path(key), value)
    }

    fn run_path(&self, key: Digest) -> Utf8PathBuf {
        self.folder.join(format!("{key}.run"))
    }

    /// Creates the folder with its tag and its `.gitignore`.
    ///
    /// # Errors
    ///
    /// If it cannot be created, or its path is a link or no folder, because a link in a repository must not make
    /// blocklint write to another folder.
    pub fn create_folder(&self) -> io::Result<()> {
        self.refuse_links()?;
        fs::create_dir_all(&self.folder)?;
        for (name, text) in [(TAG, TAG_TEXT), (IGNORE, IGNORE_TEXT)] {
            let path = self.root.join(name);
            if fs::symlink_metadata(&path).is_err() {
                stored::replace(&path, &[text.as_bytes()])?;
            }
        }
        Ok(())
    }

    /// Fails if the folder, or a folder above it that the user did not choose, is a link or no folder.
    fn refuse_links(&self) -> io::Result<()> {
        if self.is_in_project {
            refuse_link(&self.root)?;
        }
        let mut path = self.root.clone();
        for part in self.folder.strip_prefix(&self.root).unwrap_or(&self.folder).components() {
            path.push(part);
            refuse_link(&path)?;
        }
        Ok(())
    }

    /// Removes old entries: all but the newest runs, segments without a reference in the list, unfinished files, and
    /// versions that no run has used for two weeks.
    pub fn prune(&self) {
        if self.refuse_links().is_err() {
            return;
        }
        let now = SystemTime::now();
        let age = |path: &Utf8Path| {
            let changed = fs::symlink_metadata(path).and_then(|about| about.modified());
            changed.ok().and_then(|changed| now.duration_since(changed).ok()).unwrap_or_default()
        };
        let referenced: Vec<String> = segments_of(&self.folder).iter().map(|id| format!("{id:016x}.facts")).collect();
        let mut runs = Vec::new();
        for path in entries(&self.folder) {
            let name = path.file_name().unwrap_or_default();
            if path.extension() == Some("run") {
                runs.push((age(&path), path));
            } else if (path.extension() == Some("facts") && !referenced.iter().any(|segment| segment == name)
                || name.starts_with(stored::UNFINISHED))
                && age(&path) > MOST_AGE_WITHOUT_REFERENCE
            {
                let _ = fs::remove_file(&path);
            }
        }
        runs.sort();
        for (_, path) in runs.iter().skip(MOST_RUNS) {
            let _ = fs::remove_file(path);
        }
        // A folder that the user chose may contain other projects and other files.
        let below = self.folder.strip_prefix(&self.root).unwrap_or(&self.folder);
        let project: Utf8PathBuf = below.components().skip(1).collect();
        for path in entries(&self.root).iter().map(|version| version.join(&project)) {
            let path = Utf8Path::new(path.as_str().trim_end_matches(std::path::is_separator)).to_owned();
            if path == self.folder {
                continue;
            }
            let newest = entries(&path).iter().map(|path| age(path)).min().unwrap_or_else(|| age(&path));
            if newest > MOST_AGE_OF_OTHER_VERSIONS && fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir()) {
                let _ = fs::remove_dir_all(&path);
            }
        }
    }
}

fn refuse_link(path: &Utf8Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(about) if !about.is_dir() => Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder")),
        _ => Ok(()),
    }
}

/// Returns the paths of the entries of a folder.
fn entries(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    entries.filter_map(Result::ok).map(|entry| entry.path().to_owned()).collect()
}

/// A folder that is not removed, because no cache of blocklint made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotACache;

/// Removes the folder of a cache with its content. `Ok(false)` if there is no folder.
///
/// # Errors
///
/// [`NotACache`] for a link, and for a folder without the tag; else the error of the system.
pub fn clean(folder: &Utf8Path) -> Result<bool, Result<NotACache, io::Error>> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Err(error)),
        Ok(about) if !about.is_dir() => return Err(Ok(NotACache)),
        Ok(_) => {}
    }
    if stored::read_bytes(&folder.join(TAG)).is_none_or(|bytes| bytes != TAG_TEXT.as_bytes()) {
        return Err(Ok(NotACache));
    }
    fs::remove_dir_all(folder).map(|()| true).map_err(Err)
}
