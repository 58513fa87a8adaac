//! One value in one file: a mark, a checksum, the value.

use std::fs;
use std::io::{self, Write};

use camino::Utf8Path;
use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of every file of a cache; they change with its format.
const MARK: [u8; 8] = *b"blkcach1";

/// Far more than any run leaves, in bytes.
const LONGEST: u64 = 1 << 30;

/// How names of files begin that are not whole yet.
pub(crate) const UNFINISHED: &str = ".new-";

/// Returns the value of a file; `None` where it is not there, not whole or not of this form.
pub(crate) fn read<T: DeserializeOwned>(path: &Utf8Path) -> Option<T> {
    let bytes = bytes(path)?;
    let (mark, rest) = bytes.split_first_chunk::<8>()?;
    let (sum, payload) = rest.split_first_chunk::<8>()?;
    let whole = *mark == MARK && u64::from_le_bytes(*sum) == xxh3_64(payload);
    whole.then(|| postcard::from_bytes(payload).ok()).flatten()
}

/// Returns the bytes of a file that is one, and no link: nothing of a cache leads elsewhere.
pub(crate) fn bytes(path: &Utf8Path) -> Option<Vec<u8>> {
    is_plain(path).then(|| fs::read(path).ok()).flatten()
}

/// True if a path is a regular file that this program may have written, and no link.
pub(crate) fn is_plain(path: &Utf8Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_file() && about.len() <= LONGEST)
}

/// Puts a value in place of what the file held.
pub(crate) fn write<T: Serialize>(path: &Utf8Path, value: &T) -> io::Result<()> {
    let payload = postcard::to_stdvec(value).map_err(io::Error::other)?;
    replace(path, &[&MARK, &xxh3_64(&payload).to_le_bytes(), &payload])
}

/// Puts these bytes in place of what the file held, as a whole: another process sees the old or the new ones.
pub(crate) fn replace(path: &Utf8Path, parts: &[&[u8]]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("no folder"))?;
    let mut new = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    for part in parts {
        new.write_all(part)?;
    }
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}
