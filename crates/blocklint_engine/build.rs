//! Computes the hash of the sources, the rules and `Cargo.lock` as `BLOCKLINT_BUILD`. It is part of the cache's
//! version, so that a build never reads the cache of another build, even if both have one version number.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Crates whose code changes neither facts nor findings.
const CRATES_LEFT_OUT: [&str; 3] = ["blocklint", "blocklint_test", "blocklint_verify"];

fn main() {
    let crates = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let mut folders = vec![crates.join("../rules")];
    for path in entries(&crates) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if !CRATES_LEFT_OUT.contains(&name.as_str()) {
            folders.push(path.join("src"));
        }
    }
    let mut hash = Fnv::new();
    for folder in folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        hash.add_folder(&folder);
    }
    let lock = crates.join("../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    hash.add_file(&lock);
    println!("cargo::rustc-env=BLOCKLINT_BUILD={:016x}", hash.0);
}

/// Returns the entries of a folder, sorted; none if the path is no folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// A running FNV-1a hash.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn add_folder(&mut self, folder: &Path) {
        for path in entries(folder) {
            match path.is_dir() {
                true => self.add_folder(&path),
                false => self.add_file(&path),
            }
        }
    }

    fn add_file(&mut self, path: &Path) {
        self.add_bytes(path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default().as_bytes());
        self.add_bytes(&fs::read(path).unwrap_or_default());
    }
}
