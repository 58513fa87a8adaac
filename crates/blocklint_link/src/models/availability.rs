//! Availability of the library paths that an edit would call, by manifests, build files and versions.

use crate::lang;
use blocklint_core::{Language, Runtime};
use blocklint_facts::SiteId;
use blocklint_models::Version;

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, PathId, SiteRef};
use crate::values::value::EnvId;

/// The availability of a library path in a crate or module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PathAvailability {
    /// No manifest states it.
    #[default]
    Unknown,
    /// The path is available.
    Yes,
    /// The crate depends on the library, without the feature that the path needs.
    WithFeature {
        /// The name of the package in manifests.
        package: String,
        /// The feature.
        feature: String,
    },
    /// The version of the library is older than the path needs.
    Since {
        /// The library.
        library: String,
        /// The first version with the path.
        since: Version,
        /// The installed version.
        has: Version,
    },
    /// The crate depends on this other runtime as well, and no code shows that the library's runtime runs the site.
    OtherRuntime(String),
    /// The crate does not depend on the library.
    No,
}

/// The libraries on which every crate depends.
const STANDARD: &[&str] = &["std", "core", "alloc"];

impl Linker<'_> {
    /// Returns the availability of a path in the version of its library that a file's unit uses.
    pub fn version_availability(&self, file: FileId, path: &str) -> PathAvailability {
        let rows = self.library.calls(self.library.path(self.program.language(file), path));
        let Some(matched) = rows.with(|row| row.since.is_some()).next() else { return PathAvailability::Unknown };
        let (Some(since), libraries) = (&matched.row.since, &matched.file.libraries) else {
            return PathAvailability::Unknown;
        };
        let relative = &self.program.files[file.index()].relative;
        let contains_file =
            |folder: &str| folder.is_empty() || relative.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let mut above: Vec<_> = self.program.layout.units.iter().filter(|unit| contains_file(&unit.folder)).collect();
        above.sort_by_key(|unit| std::cmp::Reverse(unit.folder.len()));
        let stated = above.iter().flat_map(|unit| &unit.versions).find(|stated| libraries.contains(&stated.name));
        // All versions of a range must have the path, so the oldest version counts.
        match stated.and_then(|stated| stated.oldest.as_ref().or(stated.version.as_ref()).map(|has| (stated, has))) {
            None => PathAvailability::Unknown,
            Some((stated, has)) if has < since => {
                PathAvailability::Since { library: stated.name.clone(), since: since.clone(), has: has.clone() }
            }
            Some(_) => PathAvailability::Yes,
        }
    }

    /// Returns the availability of a path for an edit at a site. A path of tokio works only in code that tokio runs.
    pub fn availability_at(&self, site: SiteRef, path: &str) -> PathAvailability {
        match self.crate_availability(site.file, path) {
            PathAvailability::No => PathAvailability::No,
            availability if runtime_of_path(path) == Some(Runtime::Tokio) => {
                self.other_runtime(site).map_or(availability, PathAvailability::OtherRuntime)
            }
            availability => availability,
        }
    }

    /// Returns another runtime on which the crate of a site depends; `None` if the code around the site uses tokio.
    fn other_runtime(&self, site: SiteRef) -> Option<String> {
        let dependencies = self.crate_of(site.file)?.dependencies.as_ref()?;
        let is_other = |package: &str| lang::rust::names::OTHER_RUNTIMES.contains(&package);
        let (_, other, _) = dependencies.iter().find(|(_, package, _)| is_other(package))?;
        let mut body = Some(self.program.body_of_site(site));
        while let Some(own) = body {
            if self.uses_tokio(own) {
                return None;
            }
            body = self.program.body(own).parent.get().map(|parent| own.file.body_ref(parent));
        }
        Some(other.clone())
    }

    /// True if a body has an attribute of tokio (`#[tokio::main]`) or calls a function of tokio.
    fn uses_tokio(&self, body: BodyRef) -> bool {
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
    pub fn crate_availability(&self, file: FileId, path: &str) -> PathAvailability {
        let head = path.split("::").next().unwrap_or(path);
        if STANDARD.contains(&head) {
            return PathAvailability::Yes;
        }
        let Some(dependencies) = self.crate_of(file).and_then(|own| own.dependencies.as_ref()) else {
            return PathAvailability::Unknown;
        };
        let is_named = |package: &str| package.replace('-', "_") == head;
        let Some((_, package, features)) = dependencies.iter().find(|(_, package, _)| is_named(package)) else {
            return PathAvailability::No;
        };
        let rows = self.library.calls(self.library.path(Language::Rust, path));
        let since = rows.with(|row| row.since.is_some()).find_map(|matched| matched.row.since.clone());
        let has = self.crate_of(file).and_then(|own| own.oldest.iter().find(|(name, _)| is_named(name)));
        if let (Some(since), Some((_, has))) = (since, has)
            && *has < since
        {
            return PathAvailability::Since { library: package.clone(), since, has: has.clone() };
        }
        let needed = rows.with(|row| row.feature.is_some()).find_map(|matched| matched.row.feature.clone());
        match needed {
            // The feature `full` enables all features by convention.
            Some(feature) if !features.iter().any(|enabled| *enabled == feature || enabled == "full") => {
                PathAvailability::WithFeature { package: package.clone(), feature }
            }
            _ => PathAvailability::Yes,
        }
    }
}

/// Returns the runtime whose name is the first segment of a path: `tokio::fs::read`.
fn runtime_of_path(path: &str) -> Option<Runtime> {
    Runtime::parse(path.split("::").next()?)
}
