//! Rust crates: their names as code spells them, and the files in which their module trees begin.

use blocklint_core::Language;
use camino::{Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use crate::Problem;
use crate::locked::take_locked;
use crate::sources::Sources;
use crate::within::text;

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
    /// The dependencies in its manifest, for all targets together; none where no manifest describes it.
    pub dependencies: Option<Vec<RustDependency>>,
    /// Packages that its tests, examples and build script alone depend on, sorted.
    pub aside: Vec<String>,
    /// True if it is for browsers: its documentation is built for WebAssembly.
    pub is_for_browsers: bool,
    /// True if others may get it from a registry: its manifest does not say `publish = false`.
    pub is_published: bool,
    /// The edition of the language: 2015 where its manifest does not say.
    pub edition: u16,
}

/// A dependency as its manifest states it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RustDependency {
    /// The name of its crate in code, as far as the manifest shows: the package's, or what it is renamed to.
    pub name: String,
    /// The package.
    pub package: String,
    /// The features asked for by name, here and by the workspace; those by default are not among them.
    pub features: Vec<String>,
    /// The version in `Cargo.lock` where that decides, else the oldest that the manifest, or the workspace, allows.
    pub oldest: Option<String>,
}

/// A file in which a module tree begins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrateRoot {
    /// The file, absolute.
    pub path: Utf8PathBuf,
    /// The product that is built from it.
    pub kind: CrateRootKind,
}

/// The product that is built from a crate root.
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

/// Returns the crates of the project, sorted by folder. A folder with `src/lib.rs` or `src/main.rs` that no manifest
/// speaks for is one too, named by its folder.
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
    let mut texts = Vec::new();
    for manifest in manifests.iter().filter(|manifest| manifest.file_name() == Some("Cargo.toml")) {
        match text(manifest) {
            Ok(text) => texts.push((manifest, text)),
            Err(why) => problems.push(Problem::new(manifest.as_std_path(), why)),
        }
    }
    let mut documents = Vec::new();
    for (manifest, text) in &texts {
        match DeTable::parse(text) {
            Ok(document) => documents.push((manifest.parent().unwrap_or(root), document)),
            Err(error) => {
                problems.push(Problem::new(manifest.as_std_path(), format!("not TOML: {}", error.message())));
            }
        }
    }
    for (folder, document) in &documents {
        // The nearest workspace at or above says what `workspace = true` stands for.
        let workspace = documents
            .iter()
            .filter(|(above, _)| folder.starts_with(above))
            .filter_map(|(above, document)| Some((above, table_of(document.get_ref(), "workspace")?)))
            .max_by_key(|(above, _)| above.as_str().len())
            .map(|(_, workspace)| workspace);
        crates.extend(from_manifest(folder, document.get_ref(), workspace, sources));
    }
    for path in sources.paths() {
        let begins = matches!(path.file_name(), Some("lib.rs" | "main.rs"));
        let src = path.parent().filter(|src| begins && src.file_name() == Some("src"));
        let Some(folder) = src.and_then(Utf8Path::parent) else { continue };
        let has_crate = |found: &RustCrate| folder.starts_with(&found.folder) && found.folder.starts_with(root);
        if !crates.iter().any(has_crate) {
            let name = folder.file_name().unwrap_or("main");
            crates.push(new_crate(folder, name, &DeTable::new(), sources));
        }
    }
    crates.sort_by(|a, b| a.folder.cmp(&b.folder));
    take_locked(&mut crates, root);
    crates
}

/// Returns the crate of a manifest; `None` where it only describes a workspace.
fn from_manifest(
    folder: &Utf8Path,
    document: &DeTable<'_>,
    workspace: Option<&DeTable<'_>>,
    sources: &Sources,
) -> Option<RustCrate> {
    let package = table_of(document, "package")?;
    let name = text_of(package, "name")?;
    let mut found = new_crate(folder, name, document, sources);
    let inherited = workspace.and_then(|workspace| text_of(table_of(workspace, "package")?, "edition"));
    let edition = text_of(package, "edition").or(inherited.filter(|_| package.contains_key("edition")));
    found.edition = edition.and_then(|edition| edition.parse().ok()).unwrap_or(found.edition);
    let inherited = workspace.and_then(|workspace| table_of(workspace, "package")?.get("publish"));
    let publish = package.get("publish").and_then(|own| if own.get_ref().is_table() { inherited } else { Some(own) });
    found.is_published = publish.is_none_or(|publish| match publish.get_ref() {
        DeValue::Boolean(publish) => *publish,
        DeValue::Array(registries) => !registries.is_empty(),
        _ => true,
    });
    let documented = table_of(package, "metadata").and_then(|metadata| table_of(table_of(metadata, "docs")?, "rs"));
    let target = documented.and_then(|documented| text_of(documented, "default-target"));
    found.is_for_browsers = target.is_some_and(|target| target.starts_with("wasm32-unknown"));
    let workspace = workspace.and_then(|workspace| table_of(workspace, "dependencies"));
    found.dependencies = Some(dependencies(document, workspace, TABLES));
    let of_code: Vec<_> = dependencies(document, workspace, &TABLES[..1]).into_iter().map(|own| own.package).collect();
    let all = found.dependencies.iter().flatten().map(|dependency| dependency.package.clone());
    found.aside = all.filter(|package| !of_code.contains(package)).collect();
    found.aside.sort_unstable();
    Some(found)
}

/// Returns the dependencies that a manifest lists in the tables of these names.
fn dependencies(document: &DeTable<'_>, workspace: Option<&DeTable<'_>>, names: &[&str]) -> Vec<RustDependency> {
    let mut tables = vec![document];
    let targets = table_of(document, "target").into_iter().flat_map(|targets| targets.values());
    tables.extend(targets.filter_map(|target| target.get_ref().as_table()));
    let mut found: Vec<RustDependency> = Vec::new();
    for table in tables.iter().flat_map(|table| names.iter().filter_map(|name| table_of(table, name))) {
        for (name, value) in table {
            let name = name.get_ref().as_ref();
            let own = value.get_ref().as_table();
            let inherits = own.is_some_and(|own| own.get("workspace").is_some());
            let inherited = workspace.filter(|_| inherits).and_then(|all| all.get(name)?.get_ref().as_table());
            let package = [own, inherited].into_iter().flatten().find_map(|table| text_of(table, "package"));
            let mut features: Vec<String> =
                [own, inherited].into_iter().flatten().flat_map(|table| texts_of(table, "features")).collect();
            let asked = inherited_text(workspace.filter(|_| inherits), name).or_else(|| {
                let of_table = [own, inherited].into_iter().flatten().find_map(|table| text_of(table, "version"));
                value.get_ref().as_str().or(of_table)
            });
            let code = name.replace('-', "_");
            match found.iter_mut().find(|known| known.name == code) {
                Some(known) => known.features.append(&mut features),
                None => {
                    let package = package.unwrap_or(name).to_owned();
                    found.push(RustDependency { name: code, package, features, oldest: asked.and_then(oldest) });
                }
            }
        }
    }
    for dependency in &mut found {
        dependency.features.sort_unstable();
        dependency.features.dedup();
    }
    found.sort_unstable();
    found
}

/// Returns the version that a workspace asks of a dependency, where it gives only a version.
fn inherited_text<'d>(workspace: Option<&'d DeTable<'_>>, name: &str) -> Option<&'d str> {
    workspace?.get(name)?.get_ref().as_str()
}

/// Returns the oldest version that a requirement allows: `1.20`, `^1.20, <2`, `=1.20.0`.
fn oldest(requirement: &str) -> Option<String> {
    let bounds = requirement.split(',').map(str::trim).filter(|bound| !bound.starts_with('<'));
    let versions = bounds.map(|bound| bound.trim_start_matches(['^', '~', '=', '>', ' ']));
    let mut numbered = versions.filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    numbered.next().map(str::to_owned)
}

/// The tables of a manifest that name dependencies, those of the code itself first.
const TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

fn texts_of<'t>(table: &'t DeTable<'_>, key: &str) -> impl Iterator<Item = String> + use<'t> {
    let values = table.get(key).and_then(|values| values.get_ref().as_array());
    values.into_iter().flatten().filter_map(|value| value.get_ref().as_str().map(str::to_owned))
}

fn table_of<'t, 'd>(table: &'t DeTable<'d>, key: &str) -> Option<&'t DeTable<'d>> {
    table.get(key)?.get_ref().as_table()
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
        dependencies: None,
        aside: Vec::new(),
        is_for_browsers: false,
        is_published: true,
        edition: 2015,
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
    for table in TABLES {
        let dependencies = manifest.get(*table).and_then(|table| table.get_ref().as_table());
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
