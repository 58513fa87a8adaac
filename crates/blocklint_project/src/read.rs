//! Reads a file of bounded size.

use std::fs::{self, File};
use std::io::Read;

use blocklint_core::UnreadFile;
use camino::Utf8Path;

use crate::problem::error_text;

/// Returns the bytes of a file, at most `limit`, even if the file grows meanwhile.
///
/// # Errors
///
/// If it cannot be read, is no regular file, or has more than `limit` bytes.
pub fn read(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, UnreadFile> {
    let unreadable = |error: std::io::Error| UnreadFile::Unreadable(error_text(&error));
    let not_regular = || UnreadFile::Unreadable("not a regular file".to_owned());
    let file = open(path).map_err(|error| match fs::metadata(path) {
        // A socket cannot be opened.
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => not_regular(),
        _ => unreadable(error),
    })?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(not_regular());
    }
    let size = metadata.len();
    if size > limit {
        return Err(UnreadFile::TooLarge { size, limit });
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    // One byte more than allowed shows that the file has grown beyond the limit.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    match bytes.len() as u64 {
        length if length > limit => Err(UnreadFile::TooLarge { size: length, limit }),
        _ => Ok(bytes),
    }
}

/// Opens a file without waiting for the writer of a pipe. The kind of the file is checked only after it is open,
/// because a second lookup of the path costs 1 % of a run over thousands of files.
#[cfg(unix)]
fn open(path: &Utf8Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Utf8Path) -> std::io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_returns_bytes_within_the_limit_or_a_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(folder.path()).expect("utf-8");
        fs::write(folder.join("a.py"), b"x = 1\xff").expect("written");
        assert_eq!(read(&folder.join("a.py"), 6), Ok(b"x = 1\xff".to_vec()));
        assert_eq!(read(&folder.join("a.py"), 5), Err(UnreadFile::TooLarge { size: 6, limit: 5 }));
        assert_eq!(read(&folder.join("b.py"), 5), Err(UnreadFile::Unreadable("No such file or directory".to_owned())));
        assert_eq!(read(folder, 5), Err(UnreadFile::Unreadable("not a regular file".to_owned())));
    }
}
