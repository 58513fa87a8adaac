//! Reading one source file.

use std::fs::{self, File};
use std::io::Read;

use blocklint_core::UnreadFile;
use camino::Utf8Path;

use crate::problem::reason;

/// Returns the whole file. It may change meanwhile: what is returned is never longer than `limit` bytes.
///
/// # Errors
///
/// `UnreadFile` where it cannot be read, is no regular file or is longer than `limit`.
pub fn read(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, UnreadFile> {
    let unreadable = |error: std::io::Error| UnreadFile::Unreadable(reason(&error));
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
    // One byte more than allowed tells that the file has grown beyond the limit.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    match bytes.len() as u64 {
        length if length > limit => Err(UnreadFile::TooLarge { size: length, limit }),
        _ => Ok(bytes),
    }
}

/// Opens a file for reading without waiting: a pipe would wait for its writer. Asking what it is only once it is open saves
/// a second walk along its path, for thousands of files 1 % of a run.
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
    fn bytes_a_limit_and_reasons() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(folder.path()).expect("utf-8");
        fs::write(folder.join("a.py"), b"x = 1\xff").expect("written");
        assert_eq!(read(&folder.join("a.py"), 6), Ok(b"x = 1\xff".to_vec()));
        assert_eq!(read(&folder.join("a.py"), 5), Err(UnreadFile::TooLarge { size: 6, limit: 5 }));
        assert_eq!(read(&folder.join("b.py"), 5), Err(UnreadFile::Unreadable("No such file or directory".to_owned())));
        assert_eq!(read(folder, 5), Err(UnreadFile::Unreadable("not a regular file".to_owned())));
    }
}
