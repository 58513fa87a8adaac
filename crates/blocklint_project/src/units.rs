//! Units: folders with a manifest. Each unit has its own versions of dependencies and its own switches of models.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use camino::{Utf8Path, Utf8PathBuf};

/// A folder with a manifest, or the project root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The folder, absolute.
    pub folder: Utf8PathBuf,
    /// Its manifests, sorted; empty only for a project root without a manifest.
    pub manifests: Vec<Utf8PathBuf>,
}

/// True if a file with this name makes its folder a unit.
pub(crate) fn is_manifest(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    matches!(
        name,
        "pyproject.toml"
            | "setup.py"
            | "setup.cfg"
            | "Cargo.toml"
            | "pom.xml"
            | "build.gradle"
            | "build.gradle.kts"
            | "settings.gradle"
            | "settings.gradle.kts"
    ) || (name.starts_with("requirements") && name.ends_with(".txt"))
}

/// Returns the units, sorted by folder; the project root is always one.
pub(crate) fn find_units(root: &Utf8Path, manifests: &[Utf8PathBuf]) -> Vec<Unit> {
    let mut units = BTreeMap::from([(root.to_path_buf(), Vec::new())]);
    for manifest in manifests {
        let Some(folder) = manifest.parent() else { continue };
        units.entry(folder.to_path_buf()).or_default().push(manifest.clone());
    }
    units.into_iter().map(|(folder, manifests)| Unit { folder, manifests }).collect()
}
