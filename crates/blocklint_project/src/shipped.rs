//! Finds model files that libraries ship in their packages: in virtual environments and vendored crates of the project,
//! and in environments that the user names.
//!
//! No package is imported. Nothing else outside of the project is read, so an environment that is a symbolic link to
//! elsewhere must be named by the user.

use blocklint_core::Language;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use crate::Problem;
use crate::locked::locked_packages;
use crate::within::{lies_within, read_text_within};

/// A model file that a package ships.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShippedModel {
    /// The file, absolute.
    pub path: Utf8PathBuf,
    /// The package that ships it, by its name in the registry.
    pub package: String,
    /// The top-level names of the package. The file may describe only these.
    pub tops: Vec<String>,
    /// The language of the package.
    pub language: Language,
}

/// The group of entry points in which a Python package names the import package with its models.
const GROUP: &str = "blocklint.models";
/// The folder with the models in this import package.
const FOLDER: &str = "blocklint";

/// Returns the shipped models, sorted by path. `folders` are the project root and the folders of units, which are
/// searched for environments; `named` are environments that the user names.
pub(crate) fn find_shipped_models(
    root: &Utf8Path,
    folders: &[&Utf8Path],
    named: &[Utf8PathBuf],
    problems: &mut Vec<Problem>,
) -> Vec<ShippedModel> {
    let mut models = Vec::new();
    for folder in folders {
        for inner in subfolders(folder).iter().filter(|inner| inner.join("pyvenv.cfg").is_file()) {
            add_models_of_environment(inner, root, &mut models, problems);
        }
        add_models_of_crates(&folder.join("vendor"), root, None, &mut models, problems);
    }
    // A registry's folder has crates of many projects in many versions; the lock files show which ones are used.
    let locked: Vec<(String, String)> =
        folders.iter().flat_map(|folder| locked_packages(&folder.join("Cargo.lock"), root)).collect();
    for folder in named {
        if !folder.is_dir() {
            problems.push(Problem::new(folder.as_std_path(), "no such folder"));
        }
        add_models_of_environment(folder, folder, &mut models, problems);
        add_models_of_crates(folder, folder, Some(&locked), &mut models, problems);
    }
    models.sort_by(|a, b| a.path.cmp(&b.path));
    models.dedup_by(|a, b| a.path == b.path);
    models
}

fn subfolders(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    let mut folders: Vec<Utf8PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path().to_path_buf()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Adds the models of the packages in a virtual environment or in a folder of installed packages.
fn add_models_of_environment(
    folder: &Utf8Path,
    within: &Utf8Path,
    found: &mut Vec<ShippedModel>,
    problems: &mut Vec<Problem>,
) {
    let lib = folder.join("lib");
    let versions =
        subfolders(&lib).into_iter().filter(|inner| inner.file_name().is_some_and(|n| n.starts_with("python")));
    let mut sites: Vec<Utf8PathBuf> = versions.map(|version| version.join("site-packages")).collect();
    sites.push(folder.join("Lib/site-packages"));
    sites.push(folder.to_path_buf());
    for site in sites {
        for dist_info in subfolders(&site).iter().filter(|path| path.extension() == Some("dist-info")) {
            add_models_of_package(&site, dist_info, within, found, problems);
        }
    }
}

fn add_models_of_package(
    site: &Utf8Path,
    dist_info: &Utf8Path,
    within: &Utf8Path,
    found: &mut Vec<ShippedModel>,
    problems: &mut Vec<Problem>,
) {
    let Some(text) = read_text_within(&dist_info.join("entry_points.txt"), within) else { return };
    let named = entry_points(&text);
    if named.is_empty() {
        return;
    }
    let name = dist_info.file_stem().unwrap_or_default();
    let package = name.rsplit_once('-').map_or(name, |(name, _)| name).to_owned();
    let tops = top_level_names(dist_info, within);
    for module in named {
        let top = module.split('.').next().unwrap_or(module);
        if !tops.iter().any(|known| known == top) {
            let message = format!("models are named in `{module}`, which is not the package's own");
            problems.push(Problem::new(dist_info.as_std_path(), message));
            continue;
        }
        let mut folder = site.to_path_buf();
        folder.extend(module.split('.'));
        folder.push(FOLDER);
        for path in toml_files(&folder, within) {
            found.push(ShippedModel { path, package: package.clone(), tops: tops.clone(), language: Language::Python });
        }
    }
}

/// Returns the import packages in our group of entry points: `name = package`.
fn entry_points(text: &str) -> Vec<&str> {
    let mut inside = false;
    let mut modules = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(group) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = group.trim() == GROUP;
        } else if let (true, Some((_, value))) = (inside, line.split_once('=')) {
            let module = value.split([':', '[']).next().unwrap_or("").trim();
            let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
            if module.split('.').all(is_name) {
                modules.push(module);
            }
        }
    }
    modules
}

/// Returns the top-level modules and packages that a package has installed, by its `RECORD`.
fn top_level_names(dist_info: &Utf8Path, within: &Utf8Path) -> Vec<String> {
    let text = read_text_within(&dist_info.join("RECORD"), within).unwrap_or_default();
    let mut names: Vec<String> = text
        .lines()
        .filter_map(|line| {
            let path = line.trim_start_matches('"').split([',', '"']).next()?;
            let first = path.split('/').next()?;
            let is_folder = first.len() < path.len();
            let name = if is_folder { first } else { first.split('.').next()? };
            let is_about = first.ends_with(".dist-info") || first.ends_with(".data") || first.starts_with('.');
            (!is_about && first != "__pycache__").then(|| name.to_owned())
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Adds the models of the crates in a folder: `vendor/`, or a registry's sources. With `locked`, only crates with these
/// names and versions count.
fn add_models_of_crates(
    folder: &Utf8Path,
    within: &Utf8Path,
    locked: Option<&[(String, String)]>,
    found: &mut Vec<ShippedModel>,
    problems: &mut Vec<Problem>,
) {
    for inner in subfolders(folder) {
        let manifest = inner.join("Cargo.toml");
        // Most crates ship no models, so their manifests need not be parsed.
        let Some(text) = read_text_within(&manifest, within) else { continue };
        if !text.contains(FOLDER) {
            continue;
        }
        let Ok(document) = DeTable::parse(&text) else { continue };
        let package = document.get_ref().get("package").and_then(|package| package.get_ref().as_table());
        let Some(package) = package else { continue };
        let text_of = |table: &DeTable<'_>, key: &str| Some(table.get(key)?.get_ref().as_str()?.to_owned());
        let Some(name) = text_of(package, "name") else { continue };
        let version = text_of(package, "version").unwrap_or_default();
        if locked.is_some_and(|locked| {
            !locked.iter().any(|(known, locked_version)| *known == name && *locked_version == version)
        }) {
            continue;
        }
        let library = document.get_ref().get("lib").and_then(|lib| text_of(lib.get_ref().as_table()?, "name"));
        let metadata = package.get("metadata").and_then(|metadata| metadata.get_ref().as_table());
        let blocklint_table = metadata.and_then(|metadata| metadata.get(FOLDER)?.get_ref().as_table());
        let Some(DeValue::Array(models)) =
            blocklint_table.and_then(|blocklint_table| blocklint_table.get("models")).map(|models| models.get_ref())
        else {
            continue;
        };
        for model in models {
            let path = model.get_ref().as_str().map(Utf8Path::new);
            let inside = |path: &&Utf8Path| path.components().all(|part| matches!(part, Utf8Component::Normal(_)));
            let path = path.filter(inside).map(|path| inner.join(path));
            let Some(path) = path.filter(|path| !path.exists() || lies_within(path, within)) else {
                let message = "a model that is no file inside the crate is not read";
                problems.push(Problem::new(manifest.as_std_path(), message));
                continue;
            };
            found.push(ShippedModel {
                path,
                package: name.clone(),
                tops: vec![library.clone().unwrap_or_else(|| name.replace('-', "_"))],
                language: Language::Rust,
            });
        }
    }
}

fn toml_files(folder: &Utf8Path, within: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path().to_path_buf());
    let mut paths: Vec<Utf8PathBuf> =
        paths.filter(|path| path.extension() == Some("toml") && path.is_file() && lies_within(path, within)).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::entry_points;

    #[test]
    fn entry_points_returns_only_our_group() {
        let text = "[console_scripts]\nacme = acme.cli:main\n\n[blocklint.models]\nacme = acme.data\nodd = ../evil\n[x]\ny = z\n";
        assert_eq!(entry_points(text), ["acme.data"]);
    }
}
