//! Which version of a Java library a unit is built with, as far as its build files show: its own number, or that of
//! what brings it along (a bill of materials, a parent, a plugin).
//!
//! Nothing is resolved: what a repository elsewhere would say stays unknown.

mod gradle;
mod maven;

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::modules::is_build;
use crate::units::Unit;
use crate::versions::Dependency;

/// Parents of parents, and bills of materials in each other, to which a question goes on.
const DEPTH: usize = 8;

/// A version that a build file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The artifact or plugin of this version: `group:artifact`, or the identifier of a plugin.
    pub of: String,
    /// The version as it is written.
    pub version: String,
    /// The file that says it.
    pub said_in: Utf8PathBuf,
}

/// All build files of a project, read once.
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
            } else if is_build(name) || matches!(name, "settings.gradle" | "settings.gradle.kts") {
                builds.scripts.entry(folder.to_path_buf()).or_insert_with(|| gradle::read(folder));
            }
        }
        builds
    }

    /// Returns the version of a library (`group:artifact`) in the build of a folder: the version itself, or the version
    /// that the first of its possible carriers (a bill of materials, a plugin) brings along, for which `brought` is
    /// asked.
    pub fn version(
        &self,
        folder: &Utf8Path,
        library: &str,
        brought: &dyn Fn(&str, &str) -> Option<String>,
    ) -> Option<Dependency> {
        let own = folder.ancestors().take_while(|folder| folder.starts_with(&self.root));
        let mut own =
            own.filter(|folder| self.poms.contains_key(&folder.join("pom.xml")) || self.scripts.contains_key(*folder));
        let nearest = own.next()?;
        let pom = nearest.join("pom.xml");
        let named = match self.poms.contains_key(&pom) {
            true => maven::named(&self.poms, &pom),
            false => gradle::named(&self.scripts, nearest, &self.root),
        };
        let is_number = |version: &str| version.starts_with(|first: char| first.is_ascii_digit());
        let exact = named.iter().find(|named| named.of == library && is_number(&named.version));
        let (version, said_in) = match exact {
            Some(named) => (named.version.clone(), &named.said_in),
            None => named.iter().find_map(|named| Some((brought(&named.of, &named.version)?, &named.said_in)))?,
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

/// Returns a text with its `${…}` and `$name` filled in; none where one is not known.
fn filled(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = text.trim().to_owned();
    // A property may name others.
    for _ in 0..DEPTH {
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

/// Returns a short file beside a build, if it is there.
fn text_of(path: &Utf8Path) -> Option<String> {
    fs::metadata(path).ok().filter(|file| file.is_file())?;
    crate::modules::short_text(path)
}

#[cfg(test)]
mod tests;
