//! The versions of artifacts in a `pom.xml` and in its parents in the project.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use roxmltree::{Document, Node};

use super::{MAX_DEPTH, StatedVersion, fill_variables};
use crate::modules::{child_text, children_named, first_child};

/// The versions in a `pom.xml`.
#[derive(Debug, Default)]
pub(super) struct Pom {
    own: Coordinates,
    parent: Option<Coordinates>,
    /// The relative path of the parent's file; empty if the parent comes from an artifact repository.
    parent_path: String,
    properties: BTreeMap<String, String>,
    dependencies: Vec<Coordinates>,
    managed: Vec<Coordinates>,
    imported: Vec<Coordinates>,
}

/// The name of an artifact, `group:artifact`, and its version, if it is written.
#[derive(Clone, Debug, Default)]
struct Coordinates {
    name: String,
    version: Option<String>,
}

/// Parses a `pom.xml`; a text that is no XML has no versions.
pub(super) fn read(text: &str) -> Pom {
    let Ok(document) = Document::parse(text) else { return Pom::default() };
    let project = document.root_element();
    let parent = first_child(project, "parent");
    let mut pom = Pom {
        own: coordinates(project),
        parent: parent.map(coordinates),
        parent_path: parent
            .and_then(|parent| first_child(parent, "relativePath"))
            .map_or("../pom.xml", |path| path.text().unwrap_or_default().trim())
            .to_owned(),
        ..Pom::default()
    };
    for property in first_child(project, "properties").into_iter().flat_map(|all| all.children()) {
        if property.is_element() {
            let value = property.text().unwrap_or_default().trim().to_owned();
            pom.properties.insert(property.tag_name().name().to_owned(), value);
        }
    }
    let list = first_child(project, "dependencies").into_iter();
    pom.dependencies = list.flat_map(|list| children_named(list, "dependency")).map(coordinates).collect();
    if let Some(managed) = first_child(project, "dependencyManagement").and_then(|of| first_child(of, "dependencies")) {
        for dependency in children_named(managed, "dependency") {
            match child_text(dependency, "scope") {
                Some("import") => pom.imported.push(coordinates(dependency)),
                _ => pom.managed.push(coordinates(dependency)),
            }
        }
    }
    pom
}

fn coordinates(element: Node<'_, '_>) -> Coordinates {
    let group = child_text(element, "groupId").unwrap_or_default();
    let artifact = child_text(element, "artifactId").unwrap_or_default();
    Coordinates { name: format!("{group}:{artifact}"), version: child_text(element, "version").map(str::to_owned) }
}

/// Returns the versions in a file and its parents, the deciding ones first: dependencies with a version, managed
/// artifacts, imported bills of materials, and last the parent that is not in the project.
pub(super) fn named_versions(poms: &BTreeMap<Utf8PathBuf, Pom>, path: &Utf8Path) -> Vec<StatedVersion> {
    let mut versions = Vec::new();
    collect_versions(poms, path, &mut BTreeSet::new(), &mut versions);
    versions
}

/// Adds the versions of a file and its parents, and of the project's bills of materials that they import.
fn collect_versions(
    poms: &BTreeMap<Utf8PathBuf, Pom>,
    path: &Utf8Path,
    visited: &mut BTreeSet<Utf8PathBuf>,
    versions: &mut Vec<StatedVersion>,
) {
    if !visited.insert(path.to_path_buf()) || visited.len() > 8 * MAX_DEPTH {
        return;
    }
    let mut chain: Vec<(&Utf8Path, &Pom)> = Vec::new();
    let mut next = poms.get_key_value(path);
    while let Some((path, pom)) = next.filter(|_| chain.len() < MAX_DEPTH) {
        chain.push((path, pom));
        next = parent_of(poms, path, pom);
    }
    let value = |name: &str| -> Option<String> {
        let (_, nearest) = chain.first()?;
        let version = |coordinates: &Coordinates| coordinates.version.clone();
        match name {
            "project.version" | "version" => {
                version(&nearest.own).or_else(|| nearest.parent.as_ref().and_then(version))
            }
            "project.parent.version" => nearest.parent.as_ref().and_then(version),
            _ => chain.iter().find_map(|(_, pom)| pom.properties.get(name).cloned()),
        }
    };
    let stated_version = |(said_in, coordinates): (&Utf8Path, &Coordinates)| {
        let version = fill_variables(coordinates.version.as_deref()?, &value)?;
        Some(StatedVersion { of: coordinates.name.clone(), version, said_in: said_in.to_path_buf() })
    };
    for list in [|pom: &Pom| &pom.dependencies, |pom: &Pom| &pom.managed] as [fn(&Pom) -> &Vec<Coordinates>; 2] {
        versions.extend(
            chain
                .iter()
                .flat_map(|(path, pom)| list(pom).iter().map(|coordinates| (*path, coordinates)))
                .filter_map(stated_version),
        );
    }
    for (path, coordinates) in
        chain.iter().flat_map(|(path, pom)| pom.imported.iter().map(|coordinates| (*path, coordinates)))
    {
        // A bill of materials in the project is read. Of any other one, only the version is known.
        match poms.iter().find(|(_, pom)| pom.is_artifact(&coordinates.name)) {
            Some((inside, _)) => collect_versions(poms, inside, visited, versions),
            None => versions.extend(stated_version((path, coordinates))),
        }
    }
    if let Some((path, last)) = chain.last() {
        versions.extend(last.parent.as_ref().and_then(|parent| stated_version((path, parent))));
    }
}

/// Returns the parent of a file, if it is in the project.
fn parent_of<'p>(
    poms: &'p BTreeMap<Utf8PathBuf, Pom>,
    path: &Utf8Path,
    pom: &Pom,
) -> Option<(&'p Utf8PathBuf, &'p Pom)> {
    let parent = pom.parent.as_ref()?;
    let mut file = path.parent()?.to_path_buf();
    for part in Utf8Path::new(&pom.parent_path).components() {
        match part.as_str() {
            ".." => file = file.parent()?.to_path_buf(),
            "." => {}
            name => file.push(name),
        }
    }
    if file.file_name() != Some("pom.xml") {
        file.push("pom.xml");
    }
    poms.get_key_value(&file).filter(|(_, pom)| pom.is_artifact(&parent.name))
}

impl Pom {
    /// True if the file builds this artifact. A file without a group has that of its parent, so only the artifact is
    /// compared.
    fn is_artifact(&self, name: &str) -> bool {
        let own = self.own.name.strip_prefix(':');
        own.map_or(self.own.name == name, |artifact| name.rsplit(':').next() == Some(artifact))
    }
}
