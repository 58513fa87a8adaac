//! The built-in models of `rules/models`. The build script checks them and compiles them to one table per language.
//!
//! They are a crate of their own, because a build script is optimised as much as its crate: this crate compiles in a
//! second and its script runs once, whereas `blocklint_models` must be fast.

/// The table of Python's libraries.
pub static PYTHON: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/python.models"));
/// The table of Rust's crates.
pub static RUST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rust.models"));
/// The table of Java's libraries.
pub static JAVA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/java.models"));
/// The records of verified models (`VERIFIED*.toml`) of all languages, as TOML.
pub static VERIFIED: &str = include_str!(concat!(env!("OUT_DIR"), "/verified.toml"));
