//! Metadata of a file from the file system, without a read of the file.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

/// File systems that count in steps of two seconds are still around.
const COARSE: Duration = Duration::from_secs(2);

/// Size, times and number of a regular file. Where they are as they were, so is its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Length in bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970.
    modified: u64,
    /// When it, or what is said of it, was last changed; 0 where the system does not tell. A copy that keeps the time of
    /// the last writing does not keep this one.
    changed: u64,
    /// Its number in the file system; 0 where there is none.
    inode: u64,
}

impl Stat {
    /// Of the file at this path; links are followed. `None` where it cannot be asked or is no regular file.
    pub fn of(path: &Utf8Path) -> Option<Self> {
        std::fs::metadata(path).ok().and_then(|metadata| Self::from(&metadata))
    }

    fn from(metadata: &Metadata) -> Option<Self> {
        if !metadata.is_file() {
            return None;
        }
        let modified = nanoseconds(metadata.modified().ok()?)?;
        let (changed, inode) = beyond(metadata);
        Some(Stat { size: metadata.len(), modified, changed, inode })
    }

    /// True if a later change could leave it as it is: the file was written so shortly before `now` that the clock of its file
    /// system may not have moved on.
    pub fn is_recent(&self, now: SystemTime) -> bool {
        let since = now.checked_sub(COARSE).and_then(nanoseconds).unwrap_or(0);
        self.modified.max(self.changed) >= since
    }

    /// As numbers, to be hashed.
    pub fn numbers(&self) -> [u64; 4] {
        [self.size, self.modified, self.changed, self.inode]
    }
}

fn nanoseconds(time: SystemTime) -> Option<u64> {
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

#[cfg(unix)]
fn beyond(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    (u64::try_from(changed).unwrap_or(0), metadata.ino())
}

#[cfg(not(unix))]
fn beyond(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_just_written_may_change_unseen() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8Path::from_path(folder.path()).expect("UTF-8").join("a.py");
        std::fs::write(&path, "x").expect("written");
        let stat = Stat::of(&path).expect("a file");
        assert!(stat.is_recent(SystemTime::now()));
        assert!(!stat.is_recent(SystemTime::now() + Duration::from_secs(60)));
        assert_eq!(Stat::of(&path), Some(stat));
        std::fs::write(&path, "xy").expect("written");
        assert_ne!(Stat::of(&path), Some(stat));
        assert_eq!(Stat::of(path.parent().expect("a folder")), None);
    }
}
