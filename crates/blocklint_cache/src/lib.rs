//! Results of earlier runs: facts of single files, and findings of whole runs, as bytes under keys.
//!
//! A cache never fails a run and never changes its findings. A piece that is missing, cut, changed or written by
//! another version counts as absent; a piece that cannot be written is left out. Each piece carries a checksum; files
//! are replaced as a whole.

mod digest;
mod files;
mod folder;
mod segments;
mod stat;
mod stored;

pub use digest::{Digest, Hasher};
pub use files::{Files, Known, Located};
pub use folder::{Cache, NotACache, clean};
pub use stat::Stat;

/// The folder at the root of a project.
pub const FOLDER: &str = ".blocklint_cache";
