//! Rust: whether what an edit would call is there, as far as the manifest of the crate tells.

use blocklint_core::Language;

use crate::link::Link;
use crate::program::ids::FileId;

/// Whether a crate can call a path of a library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Available {
    /// No manifest tells.
    #[default]
    Unknown,
    /// It can.
    Yes,
    /// It depends on the library, and does not ask for the feature that the path needs.
    WithFeature {
        /// The package, as manifests name it.
        package: String,
        /// The feature.
        feature: String,
    },
    /// It does not depend on the library.
    No,
}

/// Libraries that every crate has.
const STANDARD: &[&str] = &["std", "core", "alloc"];

impl Link<'_> {
    /// Whether the crate of a file can call this path.
    pub fn available(&self, file: FileId, path: &str) -> Available {
        let head = path.split("::").next().unwrap_or(path);
        if STANDARD.contains(&head) {
            return Available::Yes;
        }
        let Some(dependencies) = self.crate_of(file).and_then(|own| own.dependencies.as_ref()) else {
            return Available::Unknown;
        };
        let named = |package: &str| package.replace('-', "_") == head;
        let Some((_, package, features)) = dependencies.iter().find(|(_, package, _)| named(package)) else {
            return Available::No;
        };
        let rows = self.library.calls(self.library.path(Language::Rust, path));
        let needed = rows.with(|row| row.feature.is_some()).find_map(|row| row.row.feature.clone());
        match needed {
            // `full` is how libraries call all of them.
            Some(feature) if !features.iter().any(|on| *on == feature || on == "full") => {
                Available::WithFeature { package: package.clone(), feature }
            }
            _ => Available::Yes,
        }
    }
}
