//! From the paths a user names to the project: root, files, units, import roots, crates.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use blocklint_core::{Language, UnreadFile};
use camino::{Utf8Path, Utf8PathBuf};

use crate::configuration::{Asked, holds, says_something};
use crate::crates::{RustCrate, rust_crates};
use crate::imports::Imports;
use crate::pattern::Patterns;
use crate::root::{absolute, common, project_root};
use crate::shipped::{ShippedModel, shipped};
use crate::sources::{Sources, inside};
use crate::units::{Unit, units};
use crate::walk::{Found, language_of, walk};
use crate::{Configuration, ConfigurationError, Problem, read};

/// The paths that a run is asked to analyse.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The current folder, absolute.
    pub current: &'a Utf8Path,
    /// The files and folders whose findings are reported; none means the current folder.
    pub paths: &'a [Utf8PathBuf],
    /// True if configuration is left unread.
    pub isolated: bool,
}

/// The options of the command line about paths, besides the paths themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathOptions<'a> {
    /// Patterns of paths that are not read, counted from the current folder, in place of the configuration's `exclude`.
    pub exclude: Option<&'a [String]>,
    /// More of them.
    pub extend_exclude: &'a [String],
    /// True if also a path that the user named is left out where a pattern means it.
    pub force_exclude: bool,
    /// True if a finding is also reported where only its trace or a cause lies in the paths.
    pub trace_in_paths: bool,
    /// Configuration that wins over what is found: a file, or `key=value` in TOML.
    pub config: &'a [String],
    /// A file whose text is given: its path, absolute or from the current folder, and its bytes. It is reported like one that
    /// was named, and need not exist.
    pub given: Option<(&'a Utf8Path, &'a [u8])>,
    /// How many threads look through folders; 0 leaves the choice.
    pub threads: usize,
    /// Environments and caches outside the project in which packages may ship models, absolute.
    pub environments: &'a [Utf8PathBuf],
}

/// The files and settings that one run analyses.
#[derive(Debug)]
pub struct Project {
    /// The project root, absolute.
    pub root: Utf8PathBuf,
    /// The folder from which relative paths count: the project root, or the folder around its
    /// topmost package where the root lies inside one (`blocklint check site-packages/shop`), so that
    /// every import root lies at or below it.
    pub base: Utf8PathBuf,
    /// Its configuration.
    pub configuration: Configuration,
    /// Its source files, sorted by path.
    pub files: Vec<SourceFile>,
    /// Its units, sorted by folder; the project root is always one.
    pub units: Vec<Unit>,
    /// Files that say how its programs are started, sorted: Procfile, Dockerfile, compose files, shell scripts, units of
    /// systemd.
    pub launches: Vec<Utf8PathBuf>,
    /// The folders from which absolute Python imports are looked up, sorted.
    pub import_roots: Vec<Utf8PathBuf>,
    /// Its Rust crates, sorted by folder.
    pub crates: Vec<RustCrate>,
    /// The folders below which Java's folders are its packages (`src/main/java`), sorted.
    pub java_roots: Vec<Utf8PathBuf>,
    /// True if a finding is also reported where only its trace or a cause lies in reported files.
    pub trace_in_paths: bool,
    /// True if all of it is analysed as its configuration states: what is not seen may be what a comment is for.
    pub is_whole: bool,
    /// Model files that its libraries carry in their own packages, sorted by path.
    pub shipped: Vec<ShippedModel>,
    /// Paths the user named that do not exist, absolute.
    pub missing: Vec<Utf8PathBuf>,
    /// The paths that could not be read, besides `missing`; sorted.
    pub problems: Vec<Problem>,
}

/// One source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, absolute.
    pub path: Arc<Utf8Path>,
    /// Its path from `Project::base`, with `/` on every system.
    pub relative: Utf8PathBuf,
    /// Its language.
    pub language: Language,
    /// True if its findings are reported: it is, or lies below, a path the user named.
    pub reported: bool,
    /// Its unit: the nearest at or above its folder; an index into `Project::units`.
    pub unit: u32,
    /// Python: the import root it belongs to; an index into `Project::import_roots`.
    pub import_root: Option<u32>,
    /// The text that is read in place of the file, where one was given.
    pub given: Option<Arc<[u8]>>,
}

impl SourceFile {
    /// True if it is a Jupyter notebook: its code stands in cells.
    pub fn is_notebook(&self) -> bool {
        self.path.extension() == Some("ipynb")
    }

    /// Its bytes: those that were given in its place, else those of the file. More than `limit` are not read.
    ///
    /// # Errors
    ///
    /// Why it is not read.
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

    /// Returns the dotted name under which a Python file is imported from its own import root (`shop.db` of
    /// `…/src/shop/db.py`; a package for its `__init__.py`). Empty for the `__init__.py` of an import root itself.
    pub fn module_name(&self, file: &SourceFile) -> Option<String> {
        let root = self.import_roots.get(file.import_root? as usize)?;
        let path = file.path.strip_prefix(root).ok()?.with_extension("");
        let names = path.components().map(|part| part.as_str().to_owned()).collect::<Vec<_>>();
        let names = names.strip_suffix(&["__init__".to_owned()]).unwrap_or(&names);
        Some(names.join("."))
    }
}

/// Returns the root of the project that the paths belong to.
pub fn discover_root(request: Request<'_>) -> Utf8PathBuf {
    let named = Named::new(request, None, &mut Vec::new());
    project_root(&common(&named.folders).unwrap_or_else(|| request.current.to_path_buf())).0
}

/// Finds the project that the paths belong to and all that one run analyses.
///
/// # Errors
///
/// Returns every error of the configuration. Other files that cannot be read become problems of the project.
pub fn discover(request: Request<'_>) -> Result<Project, Vec<ConfigurationError>> {
    discover_with(request, PathOptions::default())
}

/// Finds the project that the paths belong to and all that one run analyses, with the options of the command line.
///
/// # Errors
///
/// Every error of the configuration.
pub fn discover_with(request: Request<'_>, options: PathOptions<'_>) -> Result<Project, Vec<ConfigurationError>> {
    let mut problems = Vec::new();
    let given = options.given.map(|(path, bytes)| (absolute(request.current, path), Arc::<[u8]>::from(bytes)));
    let mut named = Named::new(request, given.as_ref().map(|(path, _)| &**path), &mut problems);
    let (root, is_marked) = project_root(&common(&named.folders).unwrap_or_else(|| request.current.to_path_buf()));
    let asked = Asked { isolated: request.isolated, given: options.config, current: request.current };
    let configuration = Configuration::read(&root, asked, &mut problems)?;

    let excluded = excluded(&configuration, &root, request.current, options);
    if options.force_exclude {
        named.files.retain(|path, _| !excluded.covers(path, &root));
        named.reported_folders.retain(|path| !excluded.covers(path, &root));
    }

    let mut found = if named.is_empty() { Found::default() } else { walk(&root, &root, &excluded, options.threads) };
    for folder in &named.reported_folders {
        // Ignored or hidden from the root on, but named by the user.
        if folder != &root && !found.sources.iter().any(|(path, _)| inside(path, folder).is_some()) {
            let below = walk(folder, &root, &excluded, options.threads);
            found.sources.extend(below.sources);
            found.manifests.extend(below.manifests);
            found.launches.extend(below.launches);
            found.configurations.extend(below.configurations);
            found.problems.extend(below.problems);
        }
    }
    // A link that the user named is followed, so it is no problem.
    found.problems.retain(|problem| !named.files.contains_key(&problem.path));
    // A file that is named outside of any project may be a part of one.
    let is_whole = !request.isolated
        && options.exclude.is_none()
        && options.extend_exclude.is_empty()
        && (is_marked || named.files.is_empty())
        && found.problems.is_empty();
    problems.append(&mut found.problems);
    found.sources.extend(named.files.iter().map(|(path, language)| (path.clone(), *language)));
    let sources = Sources::new(found.sources);
    for paths in [&mut found.manifests, &mut found.launches] {
        paths.sort_unstable();
        paths.dedup();
    }

    if !request.isolated {
        let read = configuration.file.iter().chain(&configuration.extended).collect::<Vec<_>>();
        found.configurations.retain(|file| !read.contains(&file));
        problems.extend(unread_tables(&root, &found.manifests, &found.configurations));
    }

    let units = units(&root, &found.manifests);
    let imports = Imports::new(&root, &units, &sources);
    let crates = rust_crates(&root, &found.manifests, &sources, &mut problems);
    let java_roots = java_roots(&sources);
    let base = imports.roots.iter().find(|folder| root.starts_with(folder)).unwrap_or(&root).clone();
    // Files of one folder share its unit and import root.
    let mut folders: HashMap<&str, (u32, Option<u32>)> = HashMap::new();
    let files = sources.iter().map(|(path, language)| {
        let folder = path.parent().unwrap_or(path);
        let of_folder = || (unit_of(&units, folder), imports.root_of(folder));
        let (unit, import_root) = *folders.entry(folder.as_str()).or_insert_with(of_folder);
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
    let shipped = shipped(&root, &homes, options.environments, &mut problems);
    problems.sort_unstable();
    problems.dedup();
    Ok(Project {
        shipped,
        root,
        base,
        configuration,
        files,
        units,
        launches: found.launches,
        import_roots: imports.roots,
        crates,
        java_roots,
        trace_in_paths: options.trace_in_paths,
        is_whole,
        missing: named.missing,
        problems,
    })
}

/// Returns a problem for each configuration below the project root, because its author expects it to hold.
fn unread_tables(root: &Utf8Path, manifests: &[Utf8PathBuf], own: &[Utf8PathBuf]) -> Vec<Problem> {
    let may_hold = |file: &&Utf8PathBuf| matches!(file.file_name(), Some("pyproject.toml" | "Cargo.toml"));
    let below = manifests.iter().filter(may_hold).chain(own).filter(|file| file.parent() != Some(root));
    let told = below.filter(|file| holds(file) && says_something(file)).map(|file| {
        let what = match file.file_name() {
            Some("pyproject.toml") => "its `[tool.blocklint]` holds",
            Some("Cargo.toml") => "its table for blocklint holds",
            _ => "it holds",
        };
        let said = format!("{what} only for runs on this folder; the project root is above it");
        Problem::new(file.as_std_path(), said)
    });
    told.collect()
}

/// Returns the patterns of paths that are not read. Those of the configuration count from the project root, those of
/// the command line from the current folder.
fn excluded(configuration: &Configuration, root: &Utf8Path, current: &Utf8Path, options: PathOptions<'_>) -> Patterns {
    let (own, from) = match options.exclude {
        Some(patterns) => (patterns, current),
        None => (&*configuration.exclude, root),
    };
    let own = own.iter().map(|pattern| (from, pattern.as_str()));
    let extended = configuration.extend_exclude.iter().map(|pattern| (root, pattern.as_str()));
    let more = options.extend_exclude.iter().map(|pattern| (current, pattern.as_str()));
    Patterns::new(own.chain(extended).chain(more), false)
}

/// The paths that the user named, by kind.
#[derive(Default)]
struct Named {
    /// The folders named, and those of the files named.
    folders: Vec<Utf8PathBuf>,
    reported_folders: Vec<Utf8PathBuf>,
    files: BTreeMap<Utf8PathBuf, Language>,
    missing: Vec<Utf8PathBuf>,
}

impl Named {
    fn new(request: Request<'_>, given: Option<&Utf8Path>, problems: &mut Vec<Problem>) -> Self {
        let mut named = Named::default();
        let here = [Utf8PathBuf::from(".")];
        let paths = if request.paths.is_empty() { &here } else { request.paths };
        for path in paths {
            let path = absolute(request.current, path);
            if given == Some(&*path) {
                named.folders.extend(path.parent().map(Utf8Path::to_path_buf));
                // A given text without a known extension is taken for a Python script.
                let language = language_of(path.as_std_path()).unwrap_or(Language::Python);
                named.files.insert(path, language);
                continue;
            }
            if path.is_dir() {
                named.folders.push(path.clone());
                named.reported_folders.push(path);
                continue;
            }
            // A link that leads nowhere is as good as none.
            if fs::metadata(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                named.missing.push(path);
                continue;
            }
            named.folders.extend(path.parent().map(Utf8Path::to_path_buf));
            match language_of(path.as_std_path()).or_else(|| interpreter(&path)) {
                Some(language) => {
                    named.files.insert(path, language);
                }
                None => {
                    let why = match path.extension() {
                        Some("pyi") => "skipped: a stub holds no code",
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
        self.reported_folders.iter().any(|folder| inside(path, folder).is_some()) || self.files.contains_key(path)
    }
}

/// Returns the language of a script without an extension, by its first line.
fn interpreter(path: &Utf8Path) -> Option<Language> {
    const LONGEST: u64 = 256;
    if path.extension().is_some() || !path.is_file() {
        return None;
    }
    let mut line = Vec::new();
    BufReader::new(File::open(path).ok()?.take(LONGEST)).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8_lossy(&line);
    (line.starts_with("#!") && line.contains("python")).then_some(Language::Python)
}

fn relative(path: &Utf8Path, base: &Utf8Path) -> Utf8PathBuf {
    let inside = inside(path, base).unwrap_or(path.as_str());
    Utf8PathBuf::from(match std::path::MAIN_SEPARATOR {
        '/' => inside.to_owned(),
        separator => inside.replace(separator, "/"),
    })
}

fn unit_of(units: &[Unit], folder: &Utf8Path) -> u32 {
    let index = |folder: &Utf8Path| units.binary_search_by(|unit| unit.folder.as_path().cmp(folder)).ok();
    // The project root is a unit, so only a file outside it could have none.
    folder.ancestors().find_map(index).unwrap_or(0) as u32
}

/// Returns the folders `src/<set>/java` above Java files.
fn java_roots(sources: &Sources) -> Vec<Utf8PathBuf> {
    let is_root = |folder: &&Utf8Path| {
        folder.file_name() == Some("java")
            && folder.parent().and_then(Utf8Path::parent).and_then(Utf8Path::file_name) == Some("src")
    };
    let java = sources.of(Language::Java);
    let mut roots =
        java.filter_map(|path| path.ancestors().find(is_root)).map(Utf8Path::to_path_buf).collect::<Vec<_>>();
    roots.dedup();
    roots
}
