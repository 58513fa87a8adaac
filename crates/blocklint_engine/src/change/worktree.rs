//! Which files of the work tree are as git saw them when they were staged, without asking git to look: it would run what a checkout
//! configures for its files.
//!
//! A file that seems unchanged need not be read. The caller compares a file that may have changed byte by byte, so a
//! wrong "changed" costs time only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};

/// The entries of the index about the work tree besides the staged content; paths below the folder.
#[derive(Debug)]
pub(super) struct Staged {
    /// The metadata that git stored of files.
    pub(super) seen: BTreeMap<Utf8PathBuf, IndexStat>,
    /// Files that a sparse checkout leaves out of the work tree.
    pub(super) left_out: BTreeSet<Utf8PathBuf>,
    /// When the index was written; a file that changed at that time or later may have changed after git saw it.
    written: Option<Time>,
}

/// The metadata that git stored of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexStat {
    changed: Time,
    modified: Time,
    /// Bytes, as far as 32 bits hold them; 0 where git was not sure of the rest.
    size: u32,
}

/// Seconds, as far as 32 bits hold them, and nanoseconds.
type Time = (u32, u32);

impl IndexStat {
    /// Parses the output of `ls-files --debug` for a file. Returns `None` if it has another form, because git does not
    /// fix the form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
        let time = |name: &str| -> Option<Time> {
            let (seconds, rest) = field(name)?.split_once(':')?;
            Some((seconds.parse().ok()?, rest.parse().ok()?))
        };
        let size = field("size")?.split('\t').next()?.parse().ok()?;
        Some(IndexStat { changed: time("ctime")?, modified: time("mtime")?, size })
    }

    #[cfg(unix)]
    fn of(about: &fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let time = |seconds: i64, rest: i64| (seconds as u32, rest as u32);
        let changed = time(about.ctime(), about.ctime_nsec());
        Some(IndexStat { changed, modified: time(about.mtime(), about.mtime_nsec()), size: about.len() as u32 })
    }

    /// Git's times are of another kind there.
    #[cfg(not(unix))]
    fn of(_: &fs::Metadata) -> Option<Self> {
        None
    }
}

impl Staged {
    /// Returns an empty table for an index that was written at this time.
    pub(super) fn new(written: Option<SystemTime>) -> Self {
        let since = written.and_then(|written| written.duration_since(SystemTime::UNIX_EPOCH).ok());
        let written = since.map(|since| (since.as_secs() as u32, since.subsec_nanos()));
        Staged { seen: BTreeMap::new(), left_out: BTreeSet::new(), written }
    }

    /// True if a file certainly has the metadata that git stored when it was staged. `path` counts from the folder,
    /// `file` is absolute.
    pub(super) fn is_as_seen(&self, path: &Utf8Path, file: &Utf8Path) -> bool {
        let Some(seen) = self.seen.get(path) else { return false };
        let now = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file).and_then(|about| IndexStat::of(&about));
        let is_settled = self.written.is_some_and(|written| seen.modified < written && seen.changed < written);
        is_settled && now == Some(*seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str =
        "  ctime: 17:5\n  mtime: 16:838612755\n  dev: 65024\tino: 9995924\n  uid: 0\tgid: 0\n  size: 2\tflags: 0";

    #[test]
    fn what_git_tells_of_a_file_is_read() {
        assert_eq!(IndexStat::parse(TOLD), Some(IndexStat { changed: (17, 5), modified: (16, 838_612_755), size: 2 }));
        assert_eq!(IndexStat::parse(&TOLD.replace("size", "length")), None);
        assert_eq!(IndexStat::parse(""), None);
    }

    #[cfg(unix)]
    #[test]
    fn only_what_is_settled_and_the_same_is_as_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Utf8Path::from_path(folder.path()).expect("UTF-8").join("a.py");
        fs::write(&file, "x").expect("written");
        let about = fs::metadata(&file).expect("it is there");
        let seen = IndexStat::of(&about).expect("times");
        let later = about.modified().expect("a time") + std::time::Duration::from_secs(5);
        let is_as_seen = |written: Option<SystemTime>, seen: IndexStat| {
            let mut staged = Staged::new(written);
            staged.seen.insert("a.py".into(), seen);
            staged.is_as_seen(Utf8Path::new("a.py"), &file)
        };
        assert!(is_as_seen(Some(later), seen));
        // It may have changed once more within the same tick.
        assert!(!is_as_seen(about.modified().ok(), seen) && !is_as_seen(None, seen));
        assert!(!is_as_seen(Some(later), IndexStat { size: 0, ..seen }));
        assert!(!is_as_seen(Some(later), IndexStat { modified: (1, 1), ..seen }));
        assert!(!Staged::new(Some(later)).is_as_seen(Utf8Path::new("a.py"), &file), "nothing is known of it");
    }
}
