//! Stores one value in one file: a format mark, a checksum, the value.

use std::fs;
use std::io::{self, Write};

use camino::Utf8Path;
use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of every file of a cache; they change with its format.
const MARK: [u8; 8] = *b"blkcach1";

/// The most bytes of a file that is read, far more than any run writes.
const LONGEST: u64 = 1 << 30;

/// The prefix of the names of files that are not finished.
pub(crate) const UNFINISHED: &str = ".new-";

/// Returns the value of a file. `None` if the file is missing, damaged or of another format.
pub(crate) fn read<T: DeserializeOwned>(path: &Utf8Path) -> Option<T> {
    let bytes = read_bytes(path)?;
    let (mark, rest) = bytes.split_first_chunk::<8>()?;
    let (sum, payload) = rest.split_first_chunk::<8>()?;
    let is_valid = *mark == MARK && u64::from_le_bytes(*sum) == xxh3_64(payload);
    is_valid.then(|| postcard::from_bytes(payload).ok()).flatten()
}

/// Returns the bytes of a regular file. `None` for a link, because no path of a cache may lead out of it.
pub(crate) fn read_bytes(path: &Utf8Path) -> Option<Vec<u8>> {
    is_plain(path).then(|| fs::read(path).ok()).flatten()
}

/// True if a path is a regular file, no link, and not longer than [`LONGEST`].
pub(crate) fn is_plain(path: &Utf8Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_file() && about.len() <= LONGEST)
}

/// Replaces the content of a file by a value.
pub(crate) fn write<T: Serialize>(path: &Utf8Path, value: &T) -> io::Result<()> {
    let payload = postcard::to_stdvec(value).map_err(io::Error::other)?;
    replace(path, &[&MARK, &xxh3_64(&payload).to_le_bytes(), &payload])
}

/// Replaces the content of a file by the parts, atomically: another process reads the old or the new content.
pub(crate) fn replace(path: &Utf8Path, parts: &[&[u8]]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("no folder"))?;
    let mut new = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    for part in parts {
        new.write_all(part)?;
    }
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}
