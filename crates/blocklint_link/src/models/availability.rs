//! Availability of the paths that an edit would call, as far as manifests and build files show.

use crate::lang;
use blocklint_core::{Language, Runtime};
use blocklint_facts::SiteId;
use blocklint_models::Version;

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, PathId, SiteRef};
use crate::values::value::EnvId;

/// The availability of a library's path in a crate or module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Available {
    /// No manifest shows it.
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
    /// Its version of the library is older than the path needs.
    Since {
        /// The library.
        library: String,
        /// The version since which it has the path.
        since: Version,
        /// The version that is there.
        has: Version,
    },
    /// Nothing shows that the library's runtime runs the code, and not this one, which the crate depends on as well.
    Beside(String),
    /// It does not depend on the library.
    No,
}

/// Libraries that every crate has.
const STANDARD: &[&str] = &["std", "core", "alloc"];

impl Linker<'_> {
    /// Returns the availability of a path in the version of its library that a file is built with.
    pub fn has_version_for(&self, file: FileId, path: &str) -> Available {
        let rows = self.library.calls(self.library.path(self.program.language(file), path));
        let Some(row) = rows.with(|row| row.since.is_some()).next() else { return Available::Unknown };
        let (Some(since), libraries) = (&row.row.since, &row.file.libraries) else { return Available::Unknown };
        let relative = &self.program.files[file.index()].relative;
        let holds =
            |folder: &str| folder.is_empty() || relative.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let mut above: Vec<_> = self.program.layout.units.iter().filter(|unit| holds(&unit.folder)).collect();
        above.sort_by_key(|unit| std::cmp::Reverse(unit.folder.len()));
        let told = above.iter().flat_map(|unit| &unit.versions).find(|told| libraries.contains(&told.name));
        // All versions that a range allows must have it, so its oldest version counts.
        match told.and_then(|told| told.oldest.as_ref().or(told.version.as_ref()).map(|has| (told, has))) {
            None => Available::Unknown,
            Some((told, has)) if has < since => {
                Available::Since { library: told.name.clone(), since: since.clone(), has: has.clone() }
            }
            Some(_) => Available::Yes,
        }
    }

    /// Returns the availability of a path for an edit at a site. A path that needs a runtime works only in code that
    /// this runtime runs.
    pub fn available_at(&self, site: SiteRef, path: &str) -> Available {
        match self.available(site.file, path) {
            Available::No => Available::No,
            found if runtime_of_path(path) == Some(Runtime::Tokio) => {
                self.other_runtime(site).map_or(found, Available::Beside)
            }
            found => found,
        }
    }

    /// Returns another runtime that the crate of a site depends on, unless the code around the site is seen to run on
    /// tokio.
    fn other_runtime(&self, site: SiteRef) -> Option<String> {
        let dependencies = self.crate_of(site.file)?.dependencies.as_ref()?;
        let is_other = |package: &str| lang::rust::names::OTHER_RUNTIMES.contains(&package);
        let (_, other, _) = dependencies.iter().find(|(_, package, _)| is_other(package))?;
        let mut body = Some(self.program.body_of_site(site));
        while let Some(own) = body {
            if self.names_tokio(own) {
                return None;
            }
            body = self.program.body(own).parent.get().map(|parent| own.file.body_ref(parent));
        }
        Some(other.clone())
    }

    /// True if an attribute of tokio sets the runtime of a body, or if the body calls a path that works under no other
    /// runtime.
    fn names_tokio(&self, body: BodyRef) -> bool {
        let is_tokios = |path: PathId| runtime_of_path(&self.library.text(path)) == Some(Runtime::Tokio);
        if self.decorators(body).iter().any(|(path, _)| is_tokios(*path)) {
            return true;
        }
        let (facts, body_id) = self.program.facts_and_id(body);
        (0..facts.sites.len() as u32).map(SiteId).any(|site| {
            facts.body_of(facts.site(site).at) == body_id
                && self.targets(body.file.site_ref(site), EnvId::NONE).list.iter().any(|target| match *target {
                    Target::Row { path, .. } => is_tokios(path),
                    _ => false,
                })
        })
    }

    /// Returns the availability of a path in the crate of a file.
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
        let since = rows.with(|row| row.since.is_some()).find_map(|row| row.row.since.clone());
        let has = self.crate_of(file).and_then(|own| own.oldest.iter().find(|(name, _)| named(name)));
        if let (Some(since), Some((_, has))) = (since, has)
            && *has < since
        {
            return Available::Since { library: package.clone(), since, has: has.clone() };
        }
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

/// Returns the runtime whose own name a path begins with.
fn runtime_of_path(path: &str) -> Option<Runtime> {
    Runtime::parse(path.split("::").next()?)
}
