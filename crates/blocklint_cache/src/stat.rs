//! Metadata of a file (size, times, inode), which shows without a read if the file has changed.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

/// The coarsest step of the times of file systems. Some still count in steps of two seconds.
const COARSEST_STEP: Duration = Duration::from_secs(2);

/// Size, times and inode of a regular file. If they are unchanged, so is its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Length in bytes.
    pub size: u64,
    /// The time of the last write (`mtime`), in nanoseconds since 1970.
    modified: u64,
    /// The time of the last change of the file or its metadata (`ctime`); 0 if the system does not have it. A copy that
    /// preserves `mtime` does not preserve this time.
    changed: u64,
    /// The number of its inode; 0 if the system does not have it.
    inode: u64,
}

impl Stat {
    /// Reads the metadata of the file at a path, through links. `None` if it cannot be read or is no regular file.
    pub fn read(path: &Utf8Path) -> Option<Self> {
        std::fs::metadata(path).ok().and_then(|metadata| Self::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &Metadata) -> Option<Self> {
        if !metadata.is_file() {
            return None;
        }
        let modified = nanoseconds(metadata.modified().ok()?)?;
        let (changed, inode) = change_time_and_inode(metadata);
        Some(Stat { size: metadata.len(), modified, changed, inode })
    }

    /// True if a later change may leave the metadata as it is, because the file was written so shortly before `now`
    /// that the clock of the file system may show the same time.
    pub fn is_recent(&self, now: SystemTime) -> bool {
        let since = now.checked_sub(COARSEST_STEP).and_then(nanoseconds).unwrap_or(0);
        self.modified.max(self.changed) >= since
    }

    /// Returns all values, for a hash.
    pub fn numbers(&self) -> [u64; 4] {
        [self.size, self.modified, self.changed, self.inode]
    }
}

fn nanoseconds(time: SystemTime) -> Option<u64> {
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

/// Returns the time of the last change and the inode; zeros if the system does not have them.
#[cfg(unix)]
fn change_time_and_inode(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    (u64::try_from(changed).unwrap_or(0), metadata.ino())
}

#[cfg(not(unix))]
fn change_time_and_inode(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_just_written_is_recent() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8Path::from_path(folder.path()).expect("UTF-8").join("a.py");
        std::fs::write(&path, "x").expect("written");
        let stat = Stat::read(&path).expect("a file");
        assert!(stat.is_recent(SystemTime::now()));
        assert!(!stat.is_recent(SystemTime::now() + Duration::from_secs(60)));
        assert_eq!(Stat::read(&path), Some(stat));
        std::fs::write(&path, "xy").expect("written");
        assert_ne!(Stat::read(&path), Some(stat));
        assert_eq!(Stat::read(path.parent().expect("a folder")), None);
    }
}
