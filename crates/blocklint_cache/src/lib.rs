//! The cache of earlier runs: facts of single files, and findings of whole runs, as bytes under keys.
//!
//! A cache never makes a run fail and never changes its findings. An entry that is missing, cut off, changed or written
//! by another version counts as absent. An entry that cannot be written is left out. Each entry has a checksum, and
//! files are replaced atomically.

mod digest;
mod files;
mod folder;
mod segments;
mod stat;
mod stored;

pub use digest::{Digest, Hasher};
pub use files::{FileUpdate, Files, KnownFile};
pub use folder::{Cache, NotACache, clean};
pub use stat::Stat;

/// The folder at the root of a project.
pub const FOLDER: &str = ".blocklint_cache";
