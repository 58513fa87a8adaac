//! Finds the files of the work tree that have not changed since git staged them, by the metadata in git's index. Git
//! does not look at the files itself, because it would run programs that the checkout configures for them.
//!
//! A file that is certainly unchanged need not be read. The caller compares all other files byte by byte, so a wrong
//! "changed" costs only time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};

/// The facts that the index has about the files of the work tree, by paths relative to the repository's folder.
#[derive(Debug)]
pub(super) struct Staged {
    /// The metadata of each file when it was staged.
    pub(super) stats: BTreeMap<Utf8PathBuf, IndexStat>,
    /// Files that a sparse checkout leaves out of the work tree.
    pub(super) left_out: BTreeSet<Utf8PathBuf>,
    /// The time at which the index was written. A file that changed at that time or later may have changed after git
    /// read its metadata.
    written: Option<Time>,
}

/// The metadata of a file that git stored in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexStat {
    changed: Time,
    modified: Time,
    /// The size in bytes, modulo 2³²; 0 if git was not sure of the metadata.
    size: u32,
}

/// Seconds modulo 2³², and nanoseconds.
type Time = (u32, u32);

impl IndexStat {
    /// Parses the output of `ls-files --debug` for a file; `None` if it has another form, because git does not
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
    fn of(metadata: &fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let time = |seconds: i64, rest: i64| (seconds as u32, rest as u32);
        let changed = time(metadata.ctime(), metadata.ctime_nsec());
        Some(IndexStat {
            changed,
            modified: time(metadata.mtime(), metadata.mtime_nsec()),
            size: metadata.len() as u32,
        })
    }

    /// Outside of Unix, git stores other times.
    #[cfg(not(unix))]
    fn of(_: &fs::Metadata) -> Option<Self> {
        None
    }
}

impl Staged {
    /// Returns an empty table; `written` is the time at which the index was written.
    pub(super) fn new(written: Option<SystemTime>) -> Self {
        let since = written.and_then(|written| written.duration_since(SystemTime::UNIX_EPOCH).ok());
        let written = since.map(|since| (since.as_secs() as u32, since.subsec_nanos()));
        Staged { stats: BTreeMap::new(), left_out: BTreeSet::new(), written }
    }

    /// True if a file has certainly not changed since it was staged. `path` is relative to the repository's folder,
    /// `file` is absolute.
    pub(super) fn is_unchanged(&self, path: &Utf8Path, file: &Utf8Path) -> bool {
        let Some(staged) = self.stats.get(path) else { return false };
        let now = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file).and_then(|about| IndexStat::of(&about));
        let is_settled = self.written.is_some_and(|written| staged.modified < written && staged.changed < written);
        is_settled && now == Some(*staged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBUG_OUTPUT: &str =
        "  ctime: 17:5\n  mtime: 16:838612755\n  dev: 65024\tino: 9995924\n  uid: 0\tgid: 0\n  size: 2\tflags: 0";

    #[test]
    fn parse_reads_the_debug_output_of_git() {
        assert_eq!(
            IndexStat::parse(DEBUG_OUTPUT),
            Some(IndexStat { changed: (17, 5), modified: (16, 838_612_755), size: 2 })
        );
        assert_eq!(IndexStat::parse(&DEBUG_OUTPUT.replace("size", "length")), None);
        assert_eq!(IndexStat::parse(""), None);
    }

    #[cfg(unix)]
    #[test]
    fn only_settled_and_equal_files_are_unchanged() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Utf8Path::from_path(folder.path()).expect("UTF-8").join("a.py");
        fs::write(&file, "x").expect("written");
        let about = fs::metadata(&file).expect("it is there");
        let seen = IndexStat::of(&about).expect("times");
        let later = about.modified().expect("a time") + std::time::Duration::from_secs(5);
        let is_unchanged = |written: Option<SystemTime>, seen: IndexStat| {
            let mut staged = Staged::new(written);
            staged.stats.insert("a.py".into(), seen);
            staged.is_unchanged(Utf8Path::new("a.py"), &file)
        };
        assert!(is_unchanged(Some(later), seen));
        // It may have changed once more within the same tick.
        assert!(!is_unchanged(about.modified().ok(), seen) && !is_unchanged(None, seen));
        assert!(!is_unchanged(Some(later), IndexStat { size: 0, ..seen }));
        assert!(!is_unchanged(Some(later), IndexStat { modified: (1, 1), ..seen }));
        assert!(!Staged::new(Some(later)).is_unchanged(Utf8Path::new("a.py"), &file), "nothing is known of it");
    }
}
