//! The versions of artifacts and plugins in Gradle scripts, `gradle.properties` and version catalogs, with their
//! variables filled in.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use super::{StatedVersion, fill_variables, short_text_of_file};
use crate::modules::remove_between;

/// The files of a folder that may state versions; earlier ones win.
const FILES: [&str; 6] = [
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "gradle/libs.versions.toml",
];

/// The content of the Gradle files of one folder.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The artifacts and plugins, each with its version as written, and the file that states it.
    versions: Vec<(String, String, Utf8PathBuf)>,
    variables: BTreeMap<String, String>,
}

/// Reads the Gradle files of a folder.
pub(super) fn read(folder: &Utf8Path) -> Script {
    let mut script = Script::default();
    for (path, text) in
        FILES.iter().filter_map(|file| Some((folder.join(file), short_text_of_file(&folder.join(file))?)))
    {
        match path.extension() {
            Some("properties") => script.add_properties(&text),
            Some("toml") => script.add_catalog(&text, &path),
            _ => script.add_script(&text, &path),
        }
    }
    script
}

/// Returns the versions in the scripts of a folder and of the folders above it, the nearest first.
pub(super) fn named_versions(
    scripts: &BTreeMap<Utf8PathBuf, Script>,
    folder: &Utf8Path,
    root: &Utf8Path,
) -> Vec<StatedVersion> {
    let scripts_above =
        || folder.ancestors().take_while(|folder| folder.starts_with(root)).filter_map(|folder| scripts.get(folder));
    let value = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        scripts_above().find_map(|script| script.variables.get(name).or_else(|| script.variables.get(last)).cloned())
    };
    let all = scripts_above().flat_map(|script| &script.versions);
    all.filter_map(|(artifact, version, said_in)| {
        Some(StatedVersion {
            of: artifact.clone(),
            version: fill_variables(version, &value)?,
            said_in: said_in.clone(),
        })
    })
    .collect()
}

impl Script {
    fn add_properties(&mut self, text: &str) {
        for (name, value) in text.lines().filter_map(|line| line.split_once('=')) {
            self.variables.insert(name.trim().to_owned(), value.trim().to_owned());
        }
    }

    /// Adds the versions and variables of a script: `"group:artifact:version"`, `id("plugin") version "…"`,
    /// `name = "…"`.
    fn add_script(&mut self, text: &str, path: &Utf8Path) {
        let text = remove_between(text, "/*", "*/");
        for line in text.lines() {
            let line = line.split(" //").next().unwrap_or(line).trim();
            let texts = quoted_texts(line);
            for (_, text) in &texts {
                let mut parts = text.splitn(3, ':');
                if let (Some(group), Some(artifact), Some(version)) = (parts.next(), parts.next(), parts.next()) {
                    self.add_version(&format!("{group}:{artifact}"), version, path);
                }
            }
            let Some((before, first)) = texts.first() else { continue };
            let is_plugin = before.trim_end_matches(['(', ' ']).ends_with("id");
            if let (true, Some((between, version))) = (is_plugin, texts.get(1))
                && between.contains("version")
            {
                self.add_version(first, version, path);
            } else if is_plugin && let Some((_, version)) = line.rsplit_once(" version ") {
                self.add_version(first, &format!("${{{}}}", version.trim()), path);
            }
            // `set('name', "…")`, `extra["name"] = "…"`; `name = "…"`, `val name = "…"`, `ext.name = '…'`
            match texts.get(1) {
                Some((between, value)) if between.contains(',') || between.contains('=') => {
                    self.variables.insert((*first).to_owned(), (*value).to_owned());
                }
                Some(_) => {}
                None => {
                    let name = before.trim_end().strip_suffix('=').map(str::trim_end);
                    let word =
                        name.and_then(|name| name.rsplit([' ', '.', '\t']).next()).filter(|name| !name.is_empty());
                    if let Some(word) = word {
                        self.variables.insert(word.to_owned(), (*first).to_owned());
                    }
                }
            }
        }
    }

    fn add_version(&mut self, artifact: &str, version: &str, path: &Utf8Path) {
        // A classifier or an extension may follow the version: `1.0:sources`, `1.0@aar`.
        let version = version.split([':', '@']).next().unwrap_or(version);
        self.versions.push((artifact.to_owned(), version.to_owned(), path.to_path_buf()));
    }

    fn add_catalog(&mut self, text: &str, path: &Utf8Path) {
        let Ok(table) = DeTable::parse(text) else { return };
        let table = table.get_ref();
        let tables = |name: &str| -> Vec<(&str, &DeValue<'_>)> {
            let entry = table.iter().find(|(key, _)| key.get_ref() == name);
            let inside = entry.and_then(|(_, value)| value.get_ref().as_table());
            inside
                .into_iter()
                .flat_map(|all| all.iter())
                .map(|(key, value)| (key.get_ref().as_ref(), value.get_ref()))
                .collect()
        };
        let versions = tables("versions");
        let version_of = |value: &DeValue<'_>| -> Option<String> {
            if let Some(reference) = text_at(value, "ref") {
                return versions
                    .iter()
                    .find(|(name, _)| *name == reference)
                    .and_then(|(_, value)| catalog_version(value));
            }
            catalog_version(value)
        };
        for (key, list) in [("libraries", ["module", "name"]), ("plugins", ["id", "id"])] {
            for (_, entry) in tables(key) {
                let (name, version) = match entry {
                    DeValue::String(text) => match text.rsplit_once(':') {
                        Some((name, version)) => (Some(name.to_owned()), Some(version.to_owned())),
                        None => continue,
                    },
                    _ => {
                        let name = text_at(entry, list[0]).map(str::to_owned);
                        let parts = || Some(format!("{}:{}", text_at(entry, "group")?, text_at(entry, "name")?));
                        (name.or_else(parts), entry.get("version").and_then(|value| version_of(value.get_ref())))
                    }
                };
                if let (Some(name), Some(version)) = (name, version) {
                    self.add_version(&name, &version, path);
                }
            }
        }
    }
}

/// Returns the version of a catalog's entry: a text, or a table with `strictly`, `require` or `prefer`.
fn catalog_version(value: &DeValue<'_>) -> Option<String> {
    let strict = ["strictly", "require", "prefer"].iter().find_map(|key| text_at(value, key));
    value.as_str().or(strict).map(str::to_owned)
}

fn text_at<'v>(value: &'v DeValue<'_>, key: &str) -> Option<&'v str> {
    value.get(key)?.get_ref().as_str()
}

/// Returns the quoted texts of a line, each with the unquoted text before it.
fn quoted_texts(line: &str) -> Vec<(&str, &str)> {
    let mut texts = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = &rest[start..=start];
        let Some(end) = rest[start + 1..].find(quote) else { break };
        texts.push((&rest[..start], &rest[start + 1..start + 1 + end]));
        rest = &rest[start + end + 2..];
    }
    texts
}
