//! The hash of a file's content, by which changes are detected.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Returns the hash of a file's bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
