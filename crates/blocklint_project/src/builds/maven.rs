//! Versions that a `pom.xml` and its parents in the project name.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use roxmltree::{Document, Node};

use super::{DEPTH, Named, filled};
use crate::modules::{child, children, element};

/// The versions in a `pom.xml`.
#[derive(Debug, Default)]
pub(super) struct Pom {
    own: Coordinates,
    parent: Option<Coordinates>,
    /// Where the parent lies, from the folder of the file; empty where it comes from elsewhere.
    parent_at: String,
    properties: BTreeMap<String, String>,
    needs: Vec<Coordinates>,
    managed: Vec<Coordinates>,
    imported: Vec<Coordinates>,
}

/// `group:artifact`, and the version where it is written.
#[derive(Clone, Debug, Default)]
struct Coordinates {
    name: String,
    version: Option<String>,
}

pub(super) fn read(text: &str) -> Pom {
    let Ok(document) = Document::parse(text) else { return Pom::default() };
    let project = document.root_element();
    let parent = child(project, "parent");
    let mut pom = Pom {
        own: coordinates(project),
        parent: parent.map(coordinates),
        parent_at: parent
            .and_then(|parent| child(parent, "relativePath"))
            .map_or("../pom.xml", |path| path.text().unwrap_or_default().trim())
            .to_owned(),
        ..Pom::default()
    };
    for property in child(project, "properties").into_iter().flat_map(|all| all.children()) {
        if property.is_element() {
            let value = property.text().unwrap_or_default().trim().to_owned();
            pom.properties.insert(property.tag_name().name().to_owned(), value);
        }
    }
    let list = child(project, "dependencies").into_iter();
    pom.needs = list.flat_map(|list| children(list, "dependency")).map(coordinates).collect();
    if let Some(managed) = child(project, "dependencyManagement").and_then(|of| child(of, "dependencies")) {
        for one in children(managed, "dependency") {
            match element(one, "scope") {
                Some("import") => pom.imported.push(coordinates(one)),
                _ => pom.managed.push(coordinates(one)),
            }
        }
    }
    pom
}

fn coordinates(of: Node<'_, '_>) -> Coordinates {
    let group = element(of, "groupId").unwrap_or_default();
    let artifact = element(of, "artifactId").unwrap_or_default();
    Coordinates { name: format!("{group}:{artifact}"), version: element(of, "version").map(str::to_owned) }
}

/// Returns the versions that a file and its parents name, in the order in which they decide: needed artifacts with a
/// version, managed artifacts, imported ones, and last the parent that lies elsewhere.
pub(super) fn named(poms: &BTreeMap<Utf8PathBuf, Pom>, path: &Utf8Path) -> Vec<Named> {
    let mut found = Vec::new();
    collect(poms, path, &mut BTreeSet::new(), &mut found);
    found
}

fn collect(
    poms: &BTreeMap<Utf8PathBuf, Pom>,
    path: &Utf8Path,
    seen: &mut BTreeSet<Utf8PathBuf>,
    found: &mut Vec<Named>,
) {
    if !seen.insert(path.to_path_buf()) || seen.len() > 8 * DEPTH {
        return;
    }
    let mut chain: Vec<(&Utf8Path, &Pom)> = Vec::new();
    let mut at = poms.get_key_value(path);
    while let Some((path, pom)) = at.filter(|_| chain.len() < DEPTH) {
        chain.push((path, pom));
        at = parent_of(poms, path, pom);
    }
    let value = |name: &str| -> Option<String> {
        let (_, nearest) = chain.first()?;
        let version = |of: &Coordinates| of.version.clone();
        match name {
            "project.version" | "version" => {
                version(&nearest.own).or_else(|| nearest.parent.as_ref().and_then(version))
            }
            "project.parent.version" => nearest.parent.as_ref().and_then(version),
            _ => chain.iter().find_map(|(_, pom)| pom.properties.get(name).cloned()),
        }
    };
    let tell = |(said_in, of): (&Utf8Path, &Coordinates)| {
        let version = filled(of.version.as_deref()?, &value)?;
        Some(Named { of: of.name.clone(), version, said_in: said_in.to_path_buf() })
    };
    for list in [|pom: &Pom| &pom.needs, |pom: &Pom| &pom.managed] as [fn(&Pom) -> &Vec<Coordinates>; 2] {
        found.extend(chain.iter().flat_map(|(path, pom)| list(pom).iter().map(|of| (*path, of))).filter_map(tell));
    }
    for (path, of) in chain.iter().flat_map(|(path, pom)| pom.imported.iter().map(|of| (*path, of))) {
        // A bill of materials of the project itself is read; of any other the version is known.
        match poms.iter().find(|(_, pom)| pom.is_artifact(&of.name)) {
            Some((inside, _)) => collect(poms, inside, seen, found),
            None => found.extend(tell((path, of))),
        }
    }
    if let Some((path, last)) = chain.last() {
        found.extend(last.parent.as_ref().and_then(|parent| tell((path, parent))));
    }
}

fn parent_of<'p>(
    poms: &'p BTreeMap<Utf8PathBuf, Pom>,
    path: &Utf8Path,
    pom: &Pom,
) -> Option<(&'p Utf8PathBuf, &'p Pom)> {
    let parent = pom.parent.as_ref()?;
    let mut at = path.parent()?.to_path_buf();
    for part in Utf8Path::new(&pom.parent_at).components() {
        match part.as_str() {
            ".." => at = at.parent()?.to_path_buf(),
            "." => {}
            name => at.push(name),
        }
    }
    if at.file_name() != Some("pom.xml") {
        at.push("pom.xml");
    }
    poms.get_key_value(&at).filter(|(_, of)| of.is_artifact(&parent.name))
}

impl Pom {
    /// True if a file makes an artifact; its group may be its parent's.
    fn is_artifact(&self, name: &str) -> bool {
        let own = self.own.name.strip_prefix(':');
        own.map_or(self.own.name == name, |artifact| name.rsplit(':').next() == Some(artifact))
    }
}
