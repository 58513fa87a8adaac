//! Finds tests that never run: files of `tests/it` that are no module of `main.rs`, unit tests of libraries with
//! `test = false`, and examples in comments.

use std::fs;
use std::path::{Path, PathBuf};

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths = entries.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>();
    paths.sort();
    paths
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the first line of an example that `rustdoc` would run.
fn example(code: &str) -> Option<usize> {
    let mut inside = false;
    for (at, line) in code.lines().enumerate() {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            inside = false;
            continue;
        };
        if let Some(kind) = text.trim().strip_prefix("```") {
            if !inside && (kind.is_empty() || kind.starts_with("rust")) {
                return Some(at + 1);
            }
            inside = !inside;
        }
    }
    None
}

#[test]
fn every_test_is_in_a_program() {
    let crates = entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    assert!(crates.len() > 10, "{crates:?}");
    let mut lost = Vec::new();
    for one in crates {
        let manifest = read(&one.join("Cargo.toml"));
        let tests = one.join("tests");
        // Another test program lists its tests itself.
        for path in entries(&tests) {
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let own = manifest.contains(&format!("[[test]]\nname = \"{name}\"\nharness = false\n"));
            if name != "it" && !own {
                lost.push(format!("{} belongs in tests/it", path.display()));
            }
        }
        let parts = entries(&tests.join("it"));
        let main = if parts.is_empty() { String::new() } else { read(&tests.join("it/main.rs")) };
        for path in parts {
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let is_part = path.join("mod.rs").exists() || path.extension().is_some_and(|extension| extension == "rs");
            if is_part && name != "main" && !main.contains(&format!("mod {name};\n")) {
                lost.push(format!("{} is not named in main.rs", path.display()));
            }
        }
        let mut library = Vec::new();
        sources(&one.join("src"), &mut library);
        for path in library {
            let code = read(&path);
            let is_test = |line: &str| line.trim() == "#[test]" || line.trim() == "#[cfg(test)]";
            if manifest.contains("\ntest = false\n") && code.lines().any(is_test) {
                // A test in a macro belongs to the crates that use the macro.
                if !code.contains("macro_rules!") {
                    lost.push(format!("{} has tests, but its Cargo.toml says `test = false`", path.display()));
                }
            }
            if let Some(line) = example(&code) {
                lost.push(format!("{}:{line}: an example in a comment is not run", path.display()));
            }
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn examples_are_told_from_other_blocks() {
    assert_eq!(example("/// ```text\n/// a\n/// ```\nfn f() {}\n"), None);
    assert_eq!(example("/// ```text\n/// a\n/// ```\n///\n/// ```\n/// f();\n/// ```\nfn f() {}\n"), Some(5));
    assert_eq!(example("    //! ```rust,no_run\n"), Some(1));
}
