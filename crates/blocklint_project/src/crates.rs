//! Finds Rust crates and reads their manifests: names, crate roots, dependencies with their oldest versions, edition.

use blocklint_core::Language;
use camino::{Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use crate::Problem;
use crate::locked::apply_lock_file;
use crate::sources::Sources;
use crate::within::read_text;

/// A package of Cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustCrate {
    /// The folder of its manifest, absolute.
    pub folder: Utf8PathBuf,
    /// The name of the package.
    pub package: String,
    /// The name of its library in code (`my_crate`).
    pub library: String,
    /// Its crate roots, sorted by path.
    pub roots: Vec<CrateRoot>,
    /// The renamed dependencies: name in code, package.
    pub renamed: Vec<(String, String)>,
    /// The dependencies in its manifest, for all targets; `None` without a manifest.
    pub dependencies: Option<Vec<RustDependency>>,
    /// The packages on which only its tests, examples and build script depend, sorted.
    pub aside: Vec<String>,
    /// True if it is for browsers: its documentation on docs.rs is built for WebAssembly.
    pub is_for_browsers: bool,
    /// True if it may be published in a registry: its manifest has no `publish = false`.
    pub is_published: bool,
    /// The edition of the language; 2015 if the manifest has none.
    pub edition: u16,
}

/// A dependency in a manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RustDependency {
    /// The name of its crate in code: that of the package, or its new name if it is renamed.
    pub name: String,
    /// The name of the package.
    pub package: String,
    /// The features that the manifest and the workspace enable; default features are not included.
    pub features: Vec<String>,
    /// The version in `Cargo.lock` if that decides (see `locked.rs`), else the oldest that the manifest or the
    /// workspace allows.
    pub oldest: Option<String>,
}

/// The root file of a crate, with which its module tree begins.
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

/// Returns the crates of the project, sorted by folder. A folder with `src/lib.rs` or `src/main.rs` but without a
/// manifest is a crate too, with the name of its folder.
pub(crate) fn rust_crates(
    root: &Utf8Path,
    manifests: &[Utf8PathBuf],
    sources: &Sources,
    problems: &mut Vec<Problem>,
) -> Vec<RustCrate> {
    if sources.of_language(Language::Rust).next().is_none() {
        return Vec::new();
    }
    let mut crates = Vec::new();
    let mut texts = Vec::new();
    for manifest in manifests.iter().filter(|manifest| manifest.file_name() == Some("Cargo.toml")) {
        match read_text(manifest) {
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
        // The nearest workspace at or above the folder has the values of `workspace = true`.
        let workspace = documents
            .iter()
            .filter(|(above, _)| folder.starts_with(above))
            .filter_map(|(above, document)| Some((above, subtable(document.get_ref(), "workspace")?)))
            .max_by_key(|(above, _)| above.as_str().len())
            .map(|(_, workspace)| workspace);
        crates.extend(crate_of_manifest(folder, document.get_ref(), workspace, sources));
    }
    for path in sources.paths() {
        let is_root = matches!(path.file_name(), Some("lib.rs" | "main.rs"));
        let src = path.parent().filter(|src| is_root && src.file_name() == Some("src"));
        let Some(folder) = src.and_then(Utf8Path::parent) else { continue };
        let contains_folder = |known: &RustCrate| folder.starts_with(&known.folder) && known.folder.starts_with(root);
        if !crates.iter().any(contains_folder) {
            let name = folder.file_name().unwrap_or("main");
            crates.push(new_crate(folder, name, &DeTable::new(), sources));
        }
    }
    crates.sort_by(|a, b| a.folder.cmp(&b.folder));
    apply_lock_file(&mut crates, root);
    crates
}

/// Returns the crate of a manifest; `None` if the manifest only describes a workspace.
fn crate_of_manifest(
    folder: &Utf8Path,
    document: &DeTable<'_>,
    workspace: Option<&DeTable<'_>>,
    sources: &Sources,
) -> Option<RustCrate> {
    let package = subtable(document, "package")?;
    let name = text_value(package, "name")?;
    let mut rust_crate = new_crate(folder, name, document, sources);
    let inherited = workspace.and_then(|workspace| text_value(subtable(workspace, "package")?, "edition"));
    let edition = text_value(package, "edition").or(inherited.filter(|_| package.contains_key("edition")));
    rust_crate.edition = edition.and_then(|edition| edition.parse().ok()).unwrap_or(rust_crate.edition);
    let inherited = workspace.and_then(|workspace| subtable(workspace, "package")?.get("publish"));
    let publish = package.get("publish").and_then(|own| if own.get_ref().is_table() { inherited } else { Some(own) });
    rust_crate.is_published = publish.is_none_or(|publish| match publish.get_ref() {
        DeValue::Boolean(publish) => *publish,
        DeValue::Array(registries) => !registries.is_empty(),
        _ => true,
    });
    let documented = subtable(package, "metadata").and_then(|metadata| subtable(subtable(metadata, "docs")?, "rs"));
    let target = documented.and_then(|documented| text_value(documented, "default-target"));
    rust_crate.is_for_browsers = target.is_some_and(|target| target.starts_with("wasm32-unknown"));
    let workspace = workspace.and_then(|workspace| subtable(workspace, "dependencies"));
    rust_crate.dependencies = Some(dependencies(document, workspace, TABLES));
    let of_code: Vec<_> = dependencies(document, workspace, &TABLES[..1]).into_iter().map(|own| own.package).collect();
    let all = rust_crate.dependencies.iter().flatten().map(|dependency| dependency.package.clone());
    rust_crate.aside = all.filter(|package| !of_code.contains(package)).collect();
    rust_crate.aside.sort_unstable();
    Some(rust_crate)
}

/// Returns the dependencies in the tables of a manifest that have these names.
fn dependencies(document: &DeTable<'_>, workspace: Option<&DeTable<'_>>, names: &[&str]) -> Vec<RustDependency> {
    let mut tables = vec![document];
    let targets = subtable(document, "target").into_iter().flat_map(|targets| targets.values());
    tables.extend(targets.filter_map(|target| target.get_ref().as_table()));
    let mut dependencies: Vec<RustDependency> = Vec::new();
    for table in tables.iter().flat_map(|table| names.iter().filter_map(|name| subtable(table, name))) {
        for (name, value) in table {
            let name = name.get_ref().as_ref();
            let table = value.get_ref().as_table();
            let inherits = table.is_some_and(|table| table.get("workspace").is_some());
            let inherited = workspace.filter(|_| inherits).and_then(|all| all.get(name)?.get_ref().as_table());
            let package = [table, inherited].into_iter().flatten().find_map(|table| text_value(table, "package"));
            let mut features: Vec<String> =
                [table, inherited].into_iter().flatten().flat_map(|table| text_values(table, "features")).collect();
            let requirement = inherited_requirement(workspace.filter(|_| inherits), name).or_else(|| {
                let of_table = [table, inherited].into_iter().flatten().find_map(|table| text_value(table, "version"));
                value.get_ref().as_str().or(of_table)
            });
            let code = name.replace('-', "_");
            match dependencies.iter_mut().find(|known| known.name == code) {
                Some(known) => known.features.append(&mut features),
                None => {
                    let package = package.unwrap_or(name).to_owned();
                    dependencies.push(RustDependency {
                        name: code,
                        package,
                        features,
                        oldest: requirement.and_then(oldest_allowed),
                    });
                }
            }
        }
    }
    for dependency in &mut dependencies {
        dependency.features.sort_unstable();
        dependency.features.dedup();
    }
    dependencies.sort_unstable();
    dependencies
}

/// Returns the requirement of a workspace on a dependency, if it is only a version (`serde = "1"`).
fn inherited_requirement<'d>(workspace: Option<&'d DeTable<'_>>, name: &str) -> Option<&'d str> {
    workspace?.get(name)?.get_ref().as_str()
}

/// Returns the oldest version that a requirement allows: `1.20`, `^1.20, <2`, `=1.20.0`.
fn oldest_allowed(requirement: &str) -> Option<String> {
    let bounds = requirement.split(',').map(str::trim).filter(|bound| !bound.starts_with('<'));
    let versions = bounds.map(|bound| bound.trim_start_matches(['^', '~', '=', '>', ' ']));
    let mut numbered = versions.filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    numbered.next().map(str::to_owned)
}

/// The names of tables with dependencies; the first has those of the code itself.
const TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

fn text_values<'t>(table: &'t DeTable<'_>, key: &str) -> impl Iterator<Item = String> + use<'t> {
    let values = table.get(key).and_then(|values| values.get_ref().as_array());
    values.into_iter().flatten().filter_map(|value| value.get_ref().as_str().map(str::to_owned))
}

fn subtable<'t, 'd>(table: &'t DeTable<'d>, key: &str) -> Option<&'t DeTable<'d>> {
    table.get(key)?.get_ref().as_table()
}

fn new_crate(folder: &Utf8Path, package: &str, manifest: &DeTable<'_>, sources: &Sources) -> RustCrate {
    let library = manifest.get("lib").and_then(|library| library.get_ref().as_table());
    let name = library.and_then(|library| text_value(library, "name")).unwrap_or(package);
    RustCrate {
        folder: folder.to_path_buf(),
        package: package.to_owned(),
        library: name.replace('-', "_"),
        roots: find_roots(folder, manifest, sources),
        renamed: renamed_dependencies(manifest),
        dependencies: None,
        aside: Vec::new(),
        is_for_browsers: false,
        is_published: true,
        edition: 2015,
    }
}

/// Returns the crate roots by Cargo's conventions and the `path` keys of a manifest.
fn find_roots(folder: &Utf8Path, manifest: &DeTable<'_>, sources: &Sources) -> Vec<CrateRoot> {
    let mut roots = Vec::new();
    let mut add = |path: Utf8PathBuf, kind| {
        if sources.contains(&path) {
            roots.push(CrateRoot { path, kind });
        }
    };
    let library = manifest.get("lib").and_then(|library| library.get_ref().as_table());
    let path = library.and_then(|library| text_value(library, "path")).unwrap_or("src/lib.rs");
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
            if let Some(path) = target.get_ref().as_table().and_then(|target| text_value(target, "path")) {
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

fn renamed_dependencies(manifest: &DeTable<'_>) -> Vec<(String, String)> {
    let mut renamed = Vec::new();
    for table in TABLES {
        let dependencies = manifest.get(*table).and_then(|table| table.get_ref().as_table());
        for (name, value) in dependencies.into_iter().flatten() {
            if let Some(package) = value.get_ref().as_table().and_then(|value| text_value(value, "package")) {
                renamed.push((name.get_ref().replace('-', "_"), package.to_owned()));
            }
        }
    }
    renamed.sort_unstable();
    renamed.dedup();
    renamed
}

fn text_value<'t>(table: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    table.get(key)?.get_ref().as_str()
}
