//! The models of `rules/models`, checked and compiled to one table per language by the build script.
//!
//! A crate of its own, because a build script is optimised as much as its crate is: this one compiles in a second and runs once,
//! where `blocklint_models` must be fast.

/// The table of Python's libraries.
pub static PYTHON: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/python.models"));
/// The table of Rust's crates.
pub static RUST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rust.models"));
/// The table of Java's libraries.
pub static JAVA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/java.models"));
/// The records of what was verified, of all languages, as TOML.
pub static VERIFIED: &str = include_str!(concat!(env!("OUT_DIR"), "/verified.toml"));
