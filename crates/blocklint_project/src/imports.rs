//! Import roots: the folders from which absolute Python imports are looked up.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use crate::units::Unit;

/// The packages of the project and the import roots they and the units give.
pub(crate) struct Imports {
    /// The import roots, sorted, absolute.
    pub(crate) roots: Vec<Utf8PathBuf>,
    packages: BTreeSet<Utf8PathBuf>,
}

impl Imports {
    /// The project root, each unit's folder and its `src`, and the parent of each topmost package.
    pub(crate) fn new<'a>(root: &Utf8Path, units: &[Unit], python: impl Iterator<Item = &'a Utf8Path>) -> Self {
        let mut packages = BTreeSet::new();
        let mut sources = BTreeSet::new();
        let mut last = None;
        for path in python {
            let Some(folder) = path.parent() else { continue };
            if path.file_name() == Some("__init__.py") {
                packages.insert(folder.to_path_buf());
            }
            // Paths are sorted: most files lie in the folder of the one before.
            if last != Some(folder.as_str()) {
                let above = folder.ancestors().take_while(|above| above.starts_with(root));
                sources.extend(above.map(Utf8Path::to_path_buf));
                last = Some(folder.as_str());
            }
        }
        // Where the project root is itself a package, the packages around it lie outside the walk.
        if packages.contains(root) {
            let around = root.ancestors().skip(1).take_while(|above| above.join("__init__.py").is_file());
            packages.extend(around.map(Utf8Path::to_path_buf).collect::<Vec<_>>());
        }
        let mut roots = BTreeSet::from([root.to_path_buf()]);
        for unit in units {
            roots.insert(unit.folder.clone());
            roots.extend(Some(unit.folder.join("src")).filter(|src| sources.contains(src)));
        }
        for package in &packages {
            let parent = package.parent().filter(|parent| !packages.contains(*parent));
            roots.extend(parent.map(Utf8Path::to_path_buf));
        }
        Imports { roots: roots.into_iter().collect(), packages }
    }

    /// The import root the files of a folder belong to: the parent of their topmost package, else the deepest root
    /// at or above the folder.
    pub(crate) fn root_of(&self, mut folder: &Utf8Path) -> Option<u32> {
        while self.packages.contains(folder) {
            folder = folder.parent()?;
        }
        let index = |folder: &Utf8Path| self.roots.binary_search_by(|root| root.as_path().cmp(folder)).ok();
        folder.ancestors().find_map(index).map(|index| index as u32)
    }
}
