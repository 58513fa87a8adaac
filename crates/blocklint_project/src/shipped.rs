//! Model files that libraries carry in their own packages, in environments inside the project and in those that the user
//! names. They are found by reading; nothing is imported, and nothing else outside the project is opened: an environment that is a
//! link to elsewhere is the user's to name.

use blocklint_core::Language;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use crate::Problem;
use crate::locked::locked;
use crate::within::{lies_within, text_within};

/// A model file that a package ships.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShippedModel {
    /// The file, absolute.
    pub path: Utf8PathBuf,
    /// The package that ships it, by its name in the registry.
    pub package: String,
    /// The top-level names of that package: the file may describe nothing else.
    pub tops: Vec<String>,
    /// The language of the package.
    pub language: Language,
}

/// The group under which a Python package names the import package that holds its models.
const GROUP: &str = "blocklint.models";
/// The folder in that import package.
const FOLDER: &str = "blocklint";

/// Returns every shipped model, sorted by path. `folders` are the project's root and units, where environments are
/// looked for; `named` are environments that the user names.
pub(crate) fn shipped(
    root: &Utf8Path,
    folders: &[&Utf8Path],
    named: &[Utf8PathBuf],
    problems: &mut Vec<Problem>,
) -> Vec<ShippedModel> {
    let mut found = Vec::new();
    for folder in folders {
        for inner in folders_in(folder).iter().filter(|inner| inner.join("pyvenv.cfg").is_file()) {
            python_environment(inner, root, &mut found, problems);
        }
        rust_sources(&folder.join("vendor"), root, None, &mut found, problems);
    }
    // A registry's sources hold crates of many projects, in many versions.
    let locked: Vec<(String, String)> =
        folders.iter().flat_map(|folder| locked(&folder.join("Cargo.lock"), root)).collect();
    for folder in named {
        if !folder.is_dir() {
            problems.push(Problem::new(folder.as_std_path(), "no such folder"));
        }
        python_environment(folder, folder, &mut found, problems);
        rust_sources(folder, folder, Some(&locked), &mut found, problems);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    found
}

fn folders_in(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    let mut found: Vec<Utf8PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path().to_path_buf()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

/// A virtual environment, or a folder of installed packages.
fn python_environment(
    folder: &Utf8Path,
    within: &Utf8Path,
    found: &mut Vec<ShippedModel>,
    problems: &mut Vec<Problem>,
) {
    let lib = folder.join("lib");
    let versions =
        folders_in(&lib).into_iter().filter(|inner| inner.file_name().is_some_and(|n| n.starts_with("python")));
    let mut sites: Vec<Utf8PathBuf> = versions.map(|version| version.join("site-packages")).collect();
    sites.push(folder.join("Lib/site-packages"));
    sites.push(folder.to_path_buf());
    for site in sites {
        for about in folders_in(&site).iter().filter(|path| path.extension() == Some("dist-info")) {
            python_package(&site, about, within, found, problems);
        }
    }
}

fn python_package(
    site: &Utf8Path,
    about: &Utf8Path,
    within: &Utf8Path,
    found: &mut Vec<ShippedModel>,
    problems: &mut Vec<Problem>,
) {
    let Some(text) = text_within(&about.join("entry_points.txt"), within) else { return };
    let named = entry_points(&text);
    if named.is_empty() {
        return;
    }
    let name = about.file_stem().unwrap_or_default();
    let package = name.rsplit_once('-').map_or(name, |(name, _)| name).to_owned();
    let tops = top_level_names(about, within);
    for module in named {
        let top = module.split('.').next().unwrap_or(module);
        if !tops.iter().any(|known| known == top) {
            let message = format!("models are named in `{module}`, which is not the package's own");
            problems.push(Problem::new(about.as_std_path(), message));
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

/// Returns the import packages under the group, as `name = package` writes them.
fn entry_points(text: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(group) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = group.trim() == GROUP;
        } else if let (true, Some((_, value))) = (inside, line.split_once('=')) {
            let module = value.split([':', '[']).next().unwrap_or("").trim();
            let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
            if module.split('.').all(is_name) {
                found.push(module);
            }
        }
    }
    found
}

/// First segments of what a package installed: modules and packages, by the list beside it.
fn top_level_names(about: &Utf8Path, within: &Utf8Path) -> Vec<String> {
    let text = text_within(&about.join("RECORD"), within).unwrap_or_default();
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

/// Folders of crates, each with its manifest: `vendor/`, or a registry's sources, of which those in `locked` count.
fn rust_sources(
    folder: &Utf8Path,
    within: &Utf8Path,
    locked: Option<&[(String, String)]>,
    found: &mut Vec<ShippedModel>,
    problems: &mut Vec<Problem>,
) {
    for inner in folders_in(folder) {
        let manifest = inner.join("Cargo.toml");
        // Most crates ship nothing, and need no parsing.
        let Some(text) = text_within(&manifest, within) else { continue };
        if !text.contains(FOLDER) {
            continue;
        }
        let Ok(document) = DeTable::parse(&text) else { continue };
        let package = document.get_ref().get("package").and_then(|package| package.get_ref().as_table());
        let Some(package) = package else { continue };
        let text_of = |table: &DeTable<'_>, key: &str| Some(table.get(key)?.get_ref().as_str()?.to_owned());
        let Some(name) = text_of(package, "name") else { continue };
        let version = text_of(package, "version").unwrap_or_default();
        if locked.is_some_and(|locked| !locked.iter().any(|(known, at)| *known == name && *at == version)) {
            continue;
        }
        let library = document.get_ref().get("lib").and_then(|lib| text_of(lib.get_ref().as_table()?, "name"));
        let metadata = package.get("metadata").and_then(|metadata| metadata.get_ref().as_table());
        let own = metadata.and_then(|metadata| metadata.get(FOLDER)?.get_ref().as_table());
        let Some(DeValue::Array(models)) = own.and_then(|own| own.get("models")).map(|models| models.get_ref()) else {
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
    fn only_names_of_the_group_are_taken() {
        let text = "[console_scripts]\nacme = acme.cli:main\n\n[blocklint.models]\nacme = acme.data\nodd = ../evil\n[x]\ny = z\n";
        assert_eq!(entry_points(text), ["acme.data"]);
    }
}
