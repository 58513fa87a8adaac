//! The folder of a cache: what lies in it, who may write it, what goes.

use std::fs;
use std::io;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::files::INDEX;
use crate::files::{Files, segments_of};
use crate::{Digest, FOLDER, stored};

/// The name of the file by which backup programs recognise a cache.
const TAG: &str = "CACHEDIR.TAG";
/// The first bytes of the tag, by <https://bford.info/cachedir/>; then whose it is.
const TAG_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
                        # This folder is a cache of blocklint and can be removed at any time.\n";
const IGNORE: &str = ".gitignore";
const IGNORE_TEXT: &str = "# Made by blocklint.\n*\n";

/// Whole runs that are kept.
const MOST_RUNS: usize = 24;
/// After this time what other versions left goes.
const OTHER_VERSIONS: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// The age at which a file without a reference is removed. A younger one may be in use by another process.
const GRACE: Duration = Duration::from_secs(10 * 60);

/// The cache of one project for one version of the program. Nothing is written before something is kept.
#[derive(Clone, Debug)]
pub struct Cache {
    /// The folder with the tag.
    root: Utf8PathBuf,
    /// The folder of this version in it.
    folder: Utf8PathBuf,
    /// True if `root` must not be a link.
    own: bool,
}

impl Cache {
    /// Returns the cache at the root of a project. `version` is a name for all that decides what facts and findings
    /// are; it stands in paths.
    pub fn of_project(root: &Utf8Path, version: &str) -> Self {
        let root = root.join(FOLDER);
        Cache { folder: root.join(version), root, own: true }
    }

    /// Returns the part for the project with this root of a folder that the user named.
    pub fn in_folder(folder: &Utf8Path, root: &Utf8Path, version: &str) -> Self {
        let name =
            format!("{}-{:016x}", root.file_name().unwrap_or("root"), Digest::of(root.as_str().as_bytes()).0 as u64);
        Cache { root: folder.to_owned(), folder: folder.join(version).join(name), own: false }
    }

    /// Returns the folder with the tag.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns the known files.
    pub fn files(&self) -> Files {
        match self.refuse_links() {
            Ok(()) => Files::read(&self.folder),
            Err(_) => Files::none(&self.folder),
        }
    }

    /// Forgets the facts about files, so that the next run looks at them anew.
    ///
    /// # Errors
    ///
    /// Where the list is not there, or cannot be removed.
    pub fn forget_files(&self) -> io::Result<()> {
        self.make()?;
        fs::remove_file(self.folder.join(INDEX))
    }

    /// Returns the stored result of a whole run with this key.
    pub fn run<T: DeserializeOwned>(&self, key: Digest) -> Option<T> {
        self.refuse_links().ok()?;
        stored::read(&self.run_path(key))
    }

    /// Keeps something of a whole run.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn keep_run<T: Serialize>(&self, key: Digest, value: &T) -> io::Result<()> {
        self.make()?;
        stored::write(&self.run_path(key), value)
    }

    fn run_path(&self, key: Digest) -> Utf8PathBuf {
        self.folder.join(format!("{key}.run"))
    }

    /// Makes the folder with what belongs in it.
    ///
    /// # Errors
    ///
    /// Where it cannot be made, or something that is no cache stands in its place: a link in a repository must not lead
    /// blocklint to write elsewhere.
    pub fn make(&self) -> io::Result<()> {
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

    /// Fails where the folder, or one on the way to it that the user did not name, is a link or no folder.
    fn refuse_links(&self) -> io::Result<()> {
        if self.own {
            refuse_link(&self.root)?;
        }
        let mut at = self.root.clone();
        for part in self.folder.strip_prefix(&self.root).unwrap_or(&self.folder).components() {
            at.push(part);
            refuse_link(&at)?;
        }
        Ok(())
    }

    /// Removes what is not asked for any more: runs beyond the newest, segments of which no list speaks, files that
    /// were left half written, versions that no run used for two weeks.
    pub fn prune(&self) {
        if self.refuse_links().is_err() {
            return;
        }
        let now = SystemTime::now();
        let age = |path: &Utf8Path| {
            let changed = fs::symlink_metadata(path).and_then(|about| about.modified());
            changed.ok().and_then(|changed| now.duration_since(changed).ok()).unwrap_or_default()
        };
        let asked: Vec<String> = segments_of(&self.folder).iter().map(|id| format!("{id:016x}.facts")).collect();
        let mut runs = Vec::new();
        for path in entries(&self.folder) {
            let name = path.file_name().unwrap_or_default();
            if path.extension() == Some("run") {
                runs.push((age(&path), path));
            } else if (path.extension() == Some("facts") && !asked.iter().any(|one| one == name)
                || name.starts_with(stored::UNFINISHED))
                && age(&path) > GRACE
            {
                let _ = fs::remove_file(&path);
            }
        }
        runs.sort();
        for (_, path) in runs.iter().skip(MOST_RUNS) {
            let _ = fs::remove_file(path);
        }
        // A folder that the user named may hold other projects, and other things.
        let below = self.folder.strip_prefix(&self.root).unwrap_or(&self.folder);
        let project: Utf8PathBuf = below.components().skip(1).collect();
        for path in entries(&self.root).iter().map(|version| version.join(&project)) {
            let path = Utf8Path::new(path.as_str().trim_end_matches(std::path::is_separator)).to_owned();
            if path == self.folder {
                continue;
            }
            let newest = entries(&path).iter().map(|path| age(path)).min().unwrap_or_else(|| age(&path));
            if newest > OTHER_VERSIONS && fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir()) {
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

fn entries(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    entries.filter_map(Result::ok).map(|entry| entry.path().to_owned()).collect()
}

/// A folder that is not removed, because no cache of blocklint made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotACache;

/// Removes the folder of a cache with all that is in it. `Ok(false)` where there is none.
///
/// # Errors
///
/// [`NotACache`] for a link, and for a folder without the tag; else what the system says.
pub fn clean(folder: &Utf8Path) -> Result<bool, Result<NotACache, io::Error>> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Err(error)),
        Ok(about) if !about.is_dir() => return Err(Ok(NotACache)),
        Ok(_) => {}
    }
    if stored::bytes(&folder.join(TAG)).is_none_or(|bytes| bytes != TAG_TEXT.as_bytes()) {
        return Err(Ok(NotACache));
    }
    fs::remove_dir_all(folder).map(|()| true).map_err(Err)
}
