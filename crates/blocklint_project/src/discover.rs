//! Discovers the project of the paths that the user names: root, configuration, files, units, import roots, crates.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use blocklint_core::{Language, UnreadFile};
use camino::{Utf8Path, Utf8PathBuf};

use crate::configuration::{ReadRequest, has_configuration, has_settings};
use crate::crates::{RustCrate, rust_crates};
use crate::imports::Imports;
use crate::pattern::Patterns;
use crate::root::{absolute, common_ancestor, project_root};
use crate::shipped::{ShippedModel, find_shipped_models};
use crate::sources::{Sources, rest_below};
use crate::units::{Unit, find_units};
use crate::walk::{WalkResult, language_of, walk};
use crate::{Configuration, ConfigurationError, Problem, read};

/// The paths whose findings are reported.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The current folder, absolute.
    pub current: &'a Utf8Path,
    /// The files and folders whose findings are reported; empty for the current folder.
    pub paths: &'a [Utf8PathBuf],
    /// True if no configuration file is read (`--isolated`).
    pub isolated: bool,
}

/// The options of the command line about paths, besides the paths themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathOptions<'a> {
    /// Patterns that replace the configuration's `exclude`, relative to the current folder.
    pub exclude: Option<&'a [String]>,
    /// Further patterns of paths that are not read.
    pub extend_exclude: &'a [String],
    /// True if the patterns also apply to paths that the user named.
    pub force_exclude: bool,
    /// True if a finding is also reported if only its trace or a cause is in the paths.
    pub trace_in_paths: bool,
    /// The values of `--config`, which override the project's configuration: a file, or `key=value` in TOML.
    pub config: &'a [String],
    /// A file whose text is passed in (`--stdin-filename`): its path and its bytes. Its findings are reported as if the
    /// user had named it. It need not exist.
    pub given: Option<(&'a Utf8Path, &'a [u8])>,
    /// The number of threads that walk through folders; 0 for the default.
    pub threads: usize,
    /// Environments and caches outside the project in which packages may ship models, absolute.
    pub environments: &'a [Utf8PathBuf],
}

/// The files and settings of a run.
#[derive(Debug)]
pub struct Project {
    /// The project root, absolute.
    pub root: Utf8PathBuf,
    /// The folder to which relative paths refer. It is the project root, or the folder above the topmost package if the
    /// root is in a package (`blocklint check site-packages/shop`), so that every import root is at or below it.
    pub base: Utf8PathBuf,
    /// Its configuration.
    pub configuration: Configuration,
    /// Its source files, sorted by path.
    pub files: Vec<SourceFile>,
    /// Its units, sorted by folder; the project root is always one.
    pub units: Vec<Unit>,
    /// Its launch files, which start programs, sorted: Procfile, Dockerfile, compose files, shell scripts, units of
    /// systemd.
    pub launches: Vec<Utf8PathBuf>,
    /// The folders from which absolute Python imports are looked up, sorted.
    pub import_roots: Vec<Utf8PathBuf>,
    /// Its Rust crates, sorted by folder.
    pub crates: Vec<RustCrate>,
    /// The source folders of Java (`src/main/java`), below which folders are packages; sorted.
    pub java_roots: Vec<Utf8PathBuf>,
    /// True if a finding is also reported if only its trace or a cause is in reported files.
    pub trace_in_paths: bool,
    /// True if the whole project is analysed with its own configuration. Otherwise the run cannot know if a suppression
    /// comment is needed.
    pub is_whole: bool,
    /// Model files in the packages of its libraries, sorted by path.
    pub shipped: Vec<ShippedModel>,
    /// Paths that the user named and that do not exist, absolute.
    pub missing: Vec<Utf8PathBuf>,
    /// Problems with other paths that could not be read; sorted.
    pub problems: Vec<Problem>,
}

/// One source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, absolute.
    pub path: Arc<Utf8Path>,
    /// Its path relative to [`Project::base`], with `/` on every system.
    pub relative: Utf8PathBuf,
    /// Its language.
    pub language: Language,
    /// True if its findings are reported: it is at or below a path that the user named.
    pub reported: bool,
    /// The nearest unit at or above its folder, as an index into [`Project::units`].
    pub unit: u32,
    /// Its import root, as an index into [`Project::import_roots`] (Python).
    pub import_root: Option<u32>,
    /// The bytes that replace those on the disk, if they were passed in ([`PathOptions::given`]).
    pub given: Option<Arc<[u8]>>,
}

impl SourceFile {
    /// True if it is a Jupyter notebook.
    pub fn is_notebook(&self) -> bool {
        self.path.extension() == Some("ipynb")
    }

    /// Returns its bytes: those that were passed in, else those on the disk.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or has more than `limit` bytes.
    pub fn read(&self, limit: u64) -> Result<Vec<u8>, UnreadFile> {
        match &self.given {
            Some(bytes) if bytes.len() as u64 > limit => Err(UnreadFile::TooLarge { size: bytes.len() as u64, limit }),
            Some(bytes) => Ok(bytes.to_vec()),
            None => read(&self.path, limit),
        }
    }
}

impl Project {
    /// Returns the index of the file with this path.
    pub fn file_index(&self, path: &Utf8Path) -> Option<usize> {
        self.files.binary_search_by(|file| (*file.path).cmp(path)).ok()
    }

    /// Returns the file with this path.
    pub fn file_at(&self, path: &Utf8Path) -> Option<&SourceFile> {
        self.files.get(self.file_index(path)?)
    }

    /// Returns the dotted module name of a Python file in its import root: `shop.db` for `…/src/shop/db.py`, `shop` for
    /// `…/src/shop/__init__.py`. The name is empty for the `__init__.py` of an import root itself.
    pub fn module_name(&self, file: &SourceFile) -> Option<String> {
        let root = self.import_roots.get(file.import_root? as usize)?;
        let path = file.path.strip_prefix(root).ok()?.with_extension("");
        let names = path.components().map(|part| part.as_str().to_owned()).collect::<Vec<_>>();
        let names = names.strip_suffix(&["__init__".to_owned()]).unwrap_or(&names);
        Some(names.join("."))
    }
}

/// Returns the root of the project that contains the paths.
pub fn discover_root(request: Request<'_>) -> Utf8PathBuf {
    let named = NamedPaths::new(request, None, &mut Vec::new());
    project_root(&common_ancestor(&named.folders).unwrap_or_else(|| request.current.to_path_buf())).0
}

/// Discovers the project that contains the paths.
///
/// # Errors
///
/// Every mistake in the configuration. Other files that cannot be read are problems of the project.
pub fn discover(request: Request<'_>) -> Result<Project, Vec<ConfigurationError>> {
    discover_with(request, PathOptions::default())
}

/// Discovers the project that contains the paths, with the options of the command line.
///
/// # Errors
///
/// Every mistake in the configuration.
pub fn discover_with(request: Request<'_>, options: PathOptions<'_>) -> Result<Project, Vec<ConfigurationError>> {
    let mut problems = Vec::new();
    let given = options.given.map(|(path, bytes)| (absolute(request.current, path), Arc::<[u8]>::from(bytes)));
    let mut named = NamedPaths::new(request, given.as_ref().map(|(path, _)| &**path), &mut problems);
    let (root, is_marked) =
        project_root(&common_ancestor(&named.folders).unwrap_or_else(|| request.current.to_path_buf()));
    let read_request = ReadRequest { isolated: request.isolated, overrides: options.config, current: request.current };
    let configuration = Configuration::read(&root, read_request, &mut problems)?;

    let excluded = excluded_patterns(&configuration, &root, request.current, options);
    if options.force_exclude {
        named.files.retain(|path, _| !excluded.covers(path, &root));
        named.reported_folders.retain(|path| !excluded.covers(path, &root));
    }

    let mut walked =
        if named.is_empty() { WalkResult::default() } else { walk(&root, &root, &excluded, options.threads) };
    for folder in &named.reported_folders {
        // The walk from the root did not enter this folder (it is hidden or ignored), but the user named it.
        if folder != &root && !walked.sources.iter().any(|(path, _)| rest_below(path, folder).is_some()) {
            let below = walk(folder, &root, &excluded, options.threads);
            walked.sources.extend(below.sources);
            walked.manifests.extend(below.manifests);
            walked.launches.extend(below.launches);
            walked.configurations.extend(below.configurations);
            walked.problems.extend(below.problems);
        }
    }
    // A symbolic link that the user named is followed, so it is no problem.
    walked.problems.retain(|problem| !named.files.contains_key(&problem.path));
    // A named file without a marked project root may belong to a larger project.
    let is_whole = !request.isolated
        && options.exclude.is_none()
        && options.extend_exclude.is_empty()
        && (is_marked || named.files.is_empty())
        && walked.problems.is_empty();
    problems.append(&mut walked.problems);
    walked.sources.extend(named.files.iter().map(|(path, language)| (path.clone(), *language)));
    let sources = Sources::new(walked.sources);
    for paths in [&mut walked.manifests, &mut walked.launches] {
        paths.sort_unstable();
        paths.dedup();
    }

    if !request.isolated {
        let read = configuration.file.iter().chain(&configuration.extended).collect::<Vec<_>>();
        walked.configurations.retain(|file| !read.contains(&file));
        problems.extend(unread_configuration(&root, &walked.manifests, &walked.configurations));
    }

    let units = find_units(&root, &walked.manifests);
    let imports = Imports::new(&root, &units, &sources);
    let crates = rust_crates(&root, &walked.manifests, &sources, &mut problems);
    let java_roots = java_roots(&sources);
    let base = imports.roots.iter().find(|folder| root.starts_with(folder)).unwrap_or(&root).clone();
    // Unit and import root are looked up once for each folder.
    let mut folders: HashMap<&str, (u32, Option<u32>)> = HashMap::new();
    let files = sources.iter().map(|(path, language)| {
        let folder = path.parent().unwrap_or(path);
        let look_up = || (unit_of(&units, folder), imports.root_of(folder));
        let (unit, import_root) = *folders.entry(folder.as_str()).or_insert_with(look_up);
        SourceFile {
            path: Arc::from(path),
            relative: relative(path, &base),
            language,
            reported: named.reports(path),
            unit,
            import_root: import_root.filter(|_| language == Language::Python),
            given: given.as_ref().filter(|(of, _)| of == path).map(|(_, bytes)| Arc::clone(bytes)),
        }
    });
    let files = files.collect();
    let mut homes: Vec<&Utf8Path> = units.iter().map(|unit| &*unit.folder).collect();
    homes.push(&root);
    let shipped = find_shipped_models(&root, &homes, options.environments, &mut problems);
    problems.sort_unstable();
    problems.dedup();
    Ok(Project {
        shipped,
        root,
        base,
        configuration,
        files,
        units,
        launches: walked.launches,
        import_roots: imports.roots,
        crates,
        java_roots,
        trace_in_paths: options.trace_in_paths,
        is_whole,
        missing: named.missing,
        problems,
    })
}

/// Returns a problem for each configuration below the project root, because it is not read and its author expects it to
/// be.
fn unread_configuration(
    root: &Utf8Path,
    manifests: &[Utf8PathBuf],
    configuration_files: &[Utf8PathBuf],
) -> Vec<Problem> {
    let may_have_table = |file: &&Utf8PathBuf| matches!(file.file_name(), Some("pyproject.toml" | "Cargo.toml"));
    let below =
        manifests.iter().filter(may_have_table).chain(configuration_files).filter(|file| file.parent() != Some(root));
    let problems = below.filter(|file| has_configuration(file) && has_settings(file)).map(|file| {
        let subject = match file.file_name() {
            Some("pyproject.toml") => "its `[tool.blocklint]` holds",
            Some("Cargo.toml") => "its table for blocklint holds",
            _ => "it holds",
        };
        let message = format!("{subject} only for runs on this folder; the project root is above it");
        Problem::new(file.as_std_path(), message)
    });
    problems.collect()
}

/// Returns the patterns of paths that are not read. Those of the configuration are relative to the project root, those
/// of the command line to the current folder.
fn excluded_patterns(
    configuration: &Configuration,
    root: &Utf8Path,
    current: &Utf8Path,
    options: PathOptions<'_>,
) -> Patterns {
    let (patterns, from) = match options.exclude {
        Some(patterns) => (patterns, current),
        None => (&*configuration.exclude, root),
    };
    let patterns = patterns.iter().map(|pattern| (from, pattern.as_str()));
    let extended = configuration.extend_exclude.iter().map(|pattern| (root, pattern.as_str()));
    let more = options.extend_exclude.iter().map(|pattern| (current, pattern.as_str()));
    Patterns::new(patterns.chain(extended).chain(more), false)
}

/// The paths that the user named, sorted by kind.
#[derive(Default)]
struct NamedPaths {
    /// The named folders, and the folders of named files.
    folders: Vec<Utf8PathBuf>,
    reported_folders: Vec<Utf8PathBuf>,
    files: BTreeMap<Utf8PathBuf, Language>,
    missing: Vec<Utf8PathBuf>,
}

impl NamedPaths {
    fn new(request: Request<'_>, given: Option<&Utf8Path>, problems: &mut Vec<Problem>) -> Self {
        let mut named = NamedPaths::default();
        let here = [Utf8PathBuf::from(".")];
        let paths = if request.paths.is_empty() { &here } else { request.paths };
        for path in paths {
            let path = absolute(request.current, path);
            if given == Some(&*path) {
                named.folders.extend(path.parent().map(Utf8Path::to_path_buf));
                // A text that is passed in without a known extension is treated as a Python script.
                let language = language_of(&path).unwrap_or(Language::Python);
                named.files.insert(path, language);
                continue;
            }
            if path.is_dir() {
                named.folders.push(path.clone());
                named.reported_folders.push(path);
                continue;
            }
            // A symbolic link without a target counts as missing too.
            if fs::metadata(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                named.missing.push(path);
                continue;
            }
            named.folders.extend(path.parent().map(Utf8Path::to_path_buf));
            match language_of(&path).or_else(|| language_of_script(&path)) {
                Some(language) => {
                    named.files.insert(path, language);
                }
                None => {
                    let why = match path.extension() {
                        Some("pyi") => "skipped: a stub has no code",
                        _ => "skipped: not a Python, Rust or Java file",
                    };
                    problems.push(Problem::new(path.as_std_path(), why));
                }
            }
        }
        named
    }

    fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    fn reports(&self, path: &Utf8Path) -> bool {
        self.reported_folders.iter().any(|folder| rest_below(path, folder).is_some()) || self.files.contains_key(path)
    }
}

/// Returns the language of a file without an extension by its first line (`#!/usr/bin/env python3`).
fn language_of_script(path: &Utf8Path) -> Option<Language> {
    const MAX_LINE: u64 = 256;
    if path.extension().is_some() || !path.is_file() {
        return None;
    }
    let mut line = Vec::new();
    BufReader::new(File::open(path).ok()?.take(MAX_LINE)).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8_lossy(&line);
    (line.starts_with("#!") && line.contains("python")).then_some(Language::Python)
}

fn relative(path: &Utf8Path, base: &Utf8Path) -> Utf8PathBuf {
    let inside = rest_below(path, base).unwrap_or(path.as_str());
    Utf8PathBuf::from(match std::path::MAIN_SEPARATOR {
        '/' => inside.to_owned(),
        separator => inside.replace(separator, "/"),
    })
}

fn unit_of(units: &[Unit], folder: &Utf8Path) -> u32 {
    let index = |folder: &Utf8Path| units.binary_search_by(|unit| unit.folder.as_path().cmp(folder)).ok();
    // The project root is a unit, so only a file outside of it has none.
    folder.ancestors().find_map(index).unwrap_or(0) as u32
}

/// Returns the folders `src/<name>/java` that contain Java files.
fn java_roots(sources: &Sources) -> Vec<Utf8PathBuf> {
    let is_root = |folder: &&Utf8Path| {
        folder.file_name() == Some("java")
            && folder.parent().and_then(Utf8Path::parent).and_then(Utf8Path::file_name) == Some("src")
    };
    let java = sources.of_language(Language::Java);
    let mut roots =
        java.filter_map(|path| path.ancestors().find(is_root)).map(Utf8Path::to_path_buf).collect::<Vec<_>>();
    roots.dedup();
    roots
}
