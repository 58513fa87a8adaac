//! Reading one source file.

use std::fs::{self, File};
use std::io::Read;

use camino::Utf8Path;

use crate::problem::reason;

/// Why a file has no bytes to offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The system's reason.
    Unreadable(String),
    /// It is longer than the limit; both in bytes.
    TooLarge {
        /// Length of the file, as far as it is known.
        size: u64,
        /// The limit.
        limit: u64,
    },
}

/// The whole file. It may change meanwhile: what is returned is never longer than `limit` bytes.
///
/// # Errors
///
/// `Unread` where it cannot be read, is no regular file or is longer than `limit`.
pub fn read(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Unread> {
    let unreadable = |error: std::io::Error| Unread::Unreadable(reason(&error));
    // Asked before opening: opening a pipe waits for its writer.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Unread::Unreadable("not a regular file".to_owned()));
    }
    let file = File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    if size > limit {
        return Err(Unread::TooLarge { size, limit });
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    // One byte more than allowed tells that the file has grown beyond the limit.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    match bytes.len() as u64 {
        length if length > limit => Err(Unread::TooLarge { size: length, limit }),
        _ => Ok(bytes),
    }
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
        assert_eq!(read(&folder.join("a.py"), 5), Err(Unread::TooLarge { size: 6, limit: 5 }));
        assert_eq!(read(&folder.join("b.py"), 5), Err(Unread::Unreadable("No such file or directory".to_owned())));
        assert_eq!(read(folder, 5), Err(Unread::Unreadable("not a regular file".to_owned())));
    }
}
