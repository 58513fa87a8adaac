//! Import roots: the folders from which absolute Python imports are looked up.

use std::collections::{BTreeSet, HashSet};

use blocklint_core::Language;
use camino::{Utf8Path, Utf8PathBuf};

use crate::sources::Sources;
use crate::units::Unit;

/// The import roots of a project, and its packages.
pub(crate) struct Imports {
    /// The import roots, sorted, absolute.
    pub(crate) roots: Vec<Utf8PathBuf>,
    /// The folders of packages, as texts, because hashing a path by its components is slow.
    packages: HashSet<String>,
}

impl Imports {
    /// Finds the import roots: the project root, each unit's folder and its `src`, and the parent of each topmost
    /// package.
    pub(crate) fn new(root: &Utf8Path, units: &[Unit], sources: &Sources) -> Self {
        let mut packages = HashSet::new();
        for path in sources.of_language(Language::Python).filter(|path| path.as_str().ends_with("__init__.py")) {
            if path.file_name() == Some("__init__.py")
                && let Some(folder) = path.parent()
            {
                packages.insert(folder.to_string());
            }
        }
        // If the project root is in a package, the walk has not seen the packages above it.
        if packages.contains(root.as_str()) {
            let around = root.ancestors().skip(1).take_while(|above| above.join("__init__.py").is_file());
            packages.extend(around.map(Utf8Path::to_string));
        }
        let mut roots = BTreeSet::from([root.to_path_buf()]);
        for unit in units {
            roots.insert(unit.folder.clone());
            let src = unit.folder.join("src");
            if sources.below(&src).any(|path| path.extension() == Some("py")) {
                roots.insert(src);
            }
        }
        for package in &packages {
            let parent = Utf8Path::new(package).parent().filter(|parent| !packages.contains(parent.as_str()));
            roots.extend(parent.map(Utf8Path::to_path_buf));
        }
        Imports { roots: roots.into_iter().collect(), packages }
    }

    /// Returns the index of the import root of the files in a folder: the parent of its topmost package, else the
    /// deepest import root at or above it.
    pub(crate) fn root_of(&self, folder: &Utf8Path) -> Option<u32> {
        let mut folder = folder;
        while self.packages.contains(folder.as_str()) {
            folder = folder.parent()?;
        }
        let index = |folder: &Utf8Path| self.roots.binary_search_by(|root| root.as_path().cmp(folder)).ok();
        folder.ancestors().find_map(index).map(|index| index as u32)
    }
}
