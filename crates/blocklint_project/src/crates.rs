//! Rust crates: their names as code spells them, and the files in which their module trees begin.

use std::fs;

use blocklint_core::Language;
use camino::{Utf8Path, Utf8PathBuf};
use toml::de::DeTable;

use crate::Problem;
use crate::sources::Sources;

/// A package as Cargo sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustCrate {
    /// The folder of its manifest, absolute.
    pub folder: Utf8PathBuf,
    /// Its name in the manifest.
    pub package: String,
    /// The name of its library in paths (`my_crate`).
    pub library: String,
    /// Where its module trees begin, sorted by path.
    pub roots: Vec<CrateRoot>,
    /// Dependencies that code calls by another name than the package's: name in code, package.
    pub renamed: Vec<(String, String)>,
}

/// A file in which a module tree begins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrateRoot {
    /// The file, absolute.
    pub path: Utf8PathBuf,
    /// What is built from it.
    pub kind: CrateRootKind,
}

/// What is built from a crate root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrateRootKind {
    /// The library.
    Library,
    /// A program.
    Binary,
    /// An integration test.
    Test,
    /// A benchmark.
    Bench,
    /// An example.
    Example,
    /// The build script.
    Build,
}

/// The crates of the project, sorted by folder. A folder with `src/lib.rs` or `src/main.rs` that no
/// manifest speaks for is one too, named by its folder.
pub(crate) fn rust_crates(
    root: &Utf8Path,
    manifests: &[Utf8PathBuf],
    sources: &Sources,
    problems: &mut Vec<Problem>,
) -> Vec<RustCrate> {
    if sources.of(Language::Rust).next().is_none() {
        return Vec::new();
    }
    let mut crates = Vec::new();
    for manifest in manifests.iter().filter(|manifest| manifest.file_name() == Some("Cargo.toml")) {
        match from_manifest(manifest, sources) {
            Ok(found) => crates.extend(found),
            Err(message) => problems.push(Problem::new(manifest.as_std_path(), message)),
        }
    }
    for path in sources.paths() {
        let begins = matches!(path.file_name(), Some("lib.rs" | "main.rs"));
        let src = path.parent().filter(|src| begins && src.file_name() == Some("src"));
        let Some(folder) = src.and_then(Utf8Path::parent) else { continue };
        let spoken_for = |found: &RustCrate| folder.starts_with(&found.folder) && found.folder.starts_with(root);
        if !crates.iter().any(spoken_for) {
            let name = folder.file_name().unwrap_or("main");
            crates.push(new_crate(folder, name, &DeTable::new(), sources));
        }
    }
    crates.sort_by(|a, b| a.folder.cmp(&b.folder));
    crates
}

/// The crate of a manifest; `None` where it only describes a workspace.
fn from_manifest(manifest: &Utf8Path, sources: &Sources) -> Result<Option<RustCrate>, String> {
    let text = fs::read_to_string(manifest).map_err(|error| crate::problem::reason(&error))?;
    let document = DeTable::parse(&text).map_err(|error| format!("not TOML: {}", error.message()))?;
    let document = document.get_ref();
    let package = document.get("package").and_then(|package| package.get_ref().as_table());
    let name = package.and_then(|package| text_of(package, "name"));
    let (Some(name), Some(folder)) = (name, manifest.parent()) else { return Ok(None) };
    Ok(Some(new_crate(folder, name, document, sources)))
}

fn new_crate(folder: &Utf8Path, package: &str, manifest: &DeTable<'_>, sources: &Sources) -> RustCrate {
    let library = manifest.get("lib").and_then(|library| library.get_ref().as_table());
    let name = library.and_then(|library| text_of(library, "name")).unwrap_or(package);
    RustCrate {
        folder: folder.to_path_buf(),
        package: package.to_owned(),
        library: name.replace('-', "_"),
        roots: roots(folder, manifest, sources),
        renamed: renamed(manifest),
    }
}

/// Cargo's conventions for where targets lie, and the `path` keys that override them.
fn roots(folder: &Utf8Path, manifest: &DeTable<'_>, sources: &Sources) -> Vec<CrateRoot> {
    let mut roots = Vec::new();
    let mut add = |path: Utf8PathBuf, kind| {
        if sources.holds(&path) {
            roots.push(CrateRoot { path, kind });
        }
    };
    let library = manifest.get("lib").and_then(|library| library.get_ref().as_table());
    let path = library.and_then(|library| text_of(library, "path")).unwrap_or("src/lib.rs");
    add(folder.join(path), CrateRootKind::Library);
    add(folder.join("src/main.rs"), CrateRootKind::Binary);
    add(folder.join("build.rs"), CrateRootKind::Build);
    let listed = [
        ("bin", "src/bin", CrateRootKind::Binary),
        ("test", "tests", CrateRootKind::Test),
        ("bench", "benches", CrateRootKind::Bench),
        ("example", "examples", CrateRootKind::Example),
    ];
    for (table, place, kind) in listed {
        let targets = manifest.get(table).and_then(|targets| targets.get_ref().as_array());
        for target in targets.into_iter().flatten() {
            if let Some(path) = target.get_ref().as_table().and_then(|target| text_of(target, "path")) {
                add(folder.join(path), kind);
            }
        }
        let place = folder.join(place);
        for path in sources.below(&place) {
            let inside = path.strip_prefix(&place).map_or(0, |inside| inside.components().count());
            let own_folder = inside == 2 && path.file_name() == Some("main.rs");
            if path.extension() == Some("rs") && (inside == 1 || own_folder) {
                add(path.to_path_buf(), kind);
            }
        }
    }
    roots.sort_unstable();
    roots.dedup();
    roots
}

fn renamed(manifest: &DeTable<'_>) -> Vec<(String, String)> {
    let mut renamed = Vec::new();
    for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let dependencies = manifest.get(table).and_then(|table| table.get_ref().as_table());
        for (name, value) in dependencies.into_iter().flatten() {
            if let Some(package) = value.get_ref().as_table().and_then(|value| text_of(value, "package")) {
                renamed.push((name.get_ref().replace('-', "_"), package.to_owned()));
            }
        }
    }
    renamed.sort_unstable();
    renamed.dedup();
    renamed
}

fn text_of<'t>(table: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    table.get(key)?.get_ref().as_str()
}
