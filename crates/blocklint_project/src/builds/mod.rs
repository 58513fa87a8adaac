//! The versions of Java libraries in Maven and Gradle builds: the version that a build file states, or that of the bill
//! of materials, parent or plugin that manages the library.
//!
//! Versions that only an artifact repository knows stay unknown, because nothing is downloaded.

mod gradle;
mod maven;

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::modules::is_build_file;
use crate::units::Unit;
use crate::versions::Dependency;

/// The greatest depth of parents, nested bills of materials, and properties that refer to properties.
const MAX_DEPTH: usize = 8;

/// A version that a build file states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedVersion {
    /// The artifact (`group:artifact`) or the plugin (its identifier) that has this version.
    pub of: String,
    /// The version, with its properties filled in.
    pub version: String,
    /// The file that states it.
    pub said_in: Utf8PathBuf,
}

/// The parsed build files of a project.
pub struct Builds {
    poms: BTreeMap<Utf8PathBuf, maven::Pom>,
    scripts: BTreeMap<Utf8PathBuf, gradle::Script>,
    root: Utf8PathBuf,
}

impl Builds {
    /// Reads the build files of all units of a project.
    pub fn read(units: &[Unit], root: &Utf8Path) -> Self {
        let mut builds = Builds { poms: BTreeMap::new(), scripts: BTreeMap::new(), root: root.to_path_buf() };
        for path in units.iter().flat_map(|unit| &unit.manifests) {
            let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else { continue };
            if name == "pom.xml" {
                builds.poms.extend(crate::modules::short_text(path).map(|text| (path.clone(), maven::read(&text))));
            } else if is_build_file(name) || matches!(name, "settings.gradle" | "settings.gradle.kts") {
                builds.scripts.entry(folder.to_path_buf()).or_insert_with(|| gradle::read(folder));
            }
        }
        builds
    }

    /// Returns the version of a library (`group:artifact`) in the build of a folder: the stated version, or the version
    /// that a bill of materials or a plugin manages. `managed_version` returns the version of the library that an
    /// artifact or plugin of some version manages.
    pub fn version(
        &self,
        folder: &Utf8Path,
        library: &str,
        managed_version: &dyn Fn(&str, &str) -> Option<String>,
    ) -> Option<Dependency> {
        let ancestors = folder.ancestors().take_while(|folder| folder.starts_with(&self.root));
        let mut with_build = ancestors
            .filter(|folder| self.poms.contains_key(&folder.join("pom.xml")) || self.scripts.contains_key(*folder));
        let nearest = with_build.next()?;
        let pom = nearest.join("pom.xml");
        let versions = if self.poms.contains_key(&pom) {
            maven::named_versions(&self.poms, &pom)
        } else {
            gradle::named_versions(&self.scripts, nearest, &self.root)
        };
        let is_number = |version: &str| version.starts_with(|first: char| first.is_ascii_digit());
        let exact = versions.iter().find(|stated| stated.of == library && is_number(&stated.version));
        let (version, said_in) = match exact {
            Some(stated) => (stated.version.clone(), &stated.said_in),
            None => versions
                .iter()
                .find_map(|stated| Some((managed_version(&stated.of, &stated.version)?, &stated.said_in)))?,
        };
        Some(Dependency {
            name: library.to_owned(),
            version: Some(version),
            is_exact: true,
            oldest: None,
            said_in: said_in.clone(),
        })
    }
}

/// Returns a text with the values of its `${…}` and `$name`; `None` if a value is unknown.
fn fill_variables(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = text.trim().to_owned();
    // The value of a property may refer to other properties.
    for _ in 0..MAX_DEPTH {
        let Some(start) = text.find('$') else { return Some(text) };
        let rest = &text[start + 1..];
        let (name, end) = match rest.strip_prefix('{') {
            Some(inside) => inside.find('}').map(|end| (&inside[..end], end + 2))?,
            None => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(rest.len());
                (&rest[..end], end)
            }
        };
        let value = value(name.trim())?;
        text = format!("{}{value}{}", &text[..start], &rest[end..]);
    }
    None
}

/// Returns the text of a file, if it exists and is short.
fn short_text_of_file(path: &Utf8Path) -> Option<String> {
    fs::metadata(path).ok().filter(|file| file.is_file())?;
    crate::modules::short_text(path)
}

#[cfg(test)]
mod tests;
