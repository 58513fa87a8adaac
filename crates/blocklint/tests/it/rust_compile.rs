//! Fixed Rust code compiles: one crate for each replacement that is applied.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use blocklint_rules::RUST_FIX_SHAPES;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/rust-compile")
}

/// The names of the workspace's crates.
fn crates() -> BTreeSet<String> {
    let entries = fs::read_dir(workspace().join("crates")).expect("the crates");
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().expect("a kind").is_dir() {
            true if entry.file_name() != "target" => copy(&source, &target),
            true => {}
            false => drop(fs::copy(&source, &target).expect("copied")),
        }
    }
}

#[test]
fn each_replacement_has_its_crate() {
    let shapes: BTreeSet<String> = RUST_FIX_SHAPES.iter().map(|(rule, shape)| format!("{rule}-{shape}")).collect();
    assert_eq!(crates(), shapes);
}

#[test]
fn fixed_rust_code_compiles() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&workspace(), folder.path());
    let fixed = Command::new(env!("CARGO_BIN_EXE_blocklint"))
        .args(["check", "--fix", "--unsafe-fixes", "--min-severity", "note", "."])
        .current_dir(folder.path())
        .output()
        .expect("it starts");
    let told = String::from_utf8_lossy(&fixed.stdout).into_owned();
    assert_eq!(fixed.status.code(), Some(0), "findings are left:\n{told}");
    for name in crates() {
        let file = format!("crates/{name}/src/lib.rs");
        let read = |folder: &Path| fs::read_to_string(folder.join(&file)).expect("the crate's source");
        let (before, after) = (read(&workspace()), read(folder.path()));
        assert_ne!(before, after, "{name} is not changed");
        let shape = RUST_FIX_SHAPES.iter().find(|(rule, shape)| format!("{rule}-{shape}") == name).expect("a shape").1;
        assert_eq!(after.contains("spawn_blocking"), shape == "offload", "{name} is mended in another way:\n{after}");
    }
    // The build of one test run serves the next.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-compile");
    let checked = Command::new(env!("CARGO"))
        .args(["check", "--locked", "--quiet", "--workspace"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", target)
        .output()
        .expect("cargo starts");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
