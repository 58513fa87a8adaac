//! The program: all files of the project, their interned names and where each name occurs, and the kind of a file by
//! its path. Names are resolved in `calls`, `values` and `lang`.

pub(crate) mod body_index;
pub mod ids;
pub mod occurrences;
pub mod path_kind;
pub(crate) mod rows;
pub(crate) mod symbols;

use std::sync::{Arc, OnceLock};

use blocklint_core::{Language, RuleCode};
use blocklint_facts::{At, BodyId, Exit, FileFacts, Form, FormId, RegionId, SiteId, Sym, VarId, VarKind};
use camino::Utf8Path;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::program::body_index::ByBody;
use crate::program::ids::{BodyRef, FileId, Name, SiteRef};
use crate::program::occurrences::{FileIndex, Scratch};
pub use crate::program::symbols::Names;

/// One file of the project.
#[derive(Debug)]
pub struct SourceFile {
    /// Absolute path, for display.
    pub path: Arc<Utf8Path>,
    /// Path from the project root, with `/`.
    pub relative: String,
    /// The facts that were read from its text.
    pub facts: FileFacts,
    /// The index of its names and values by use. It is built at the first use; the engine builds it right after
    /// extraction, while the facts are in the processor's cache.
    pub index: OnceLock<FileIndex>,
    /// True if findings in this file are reported.
    pub reported: bool,
    /// The comments in it that suppress rules.
    pub resolved_suppressions: Vec<ResolvedSuppression>,
}

/// A comment that suppresses rules, with the rules that its words resolve to.
#[derive(Clone, Debug)]
pub struct ResolvedSuppression {
    /// Its index in the suppressions of its file's facts.
    pub index: u32,
    /// The rules that it contains as a code, a prefix or a name; empty for a comment that suppresses all rules.
    pub rules: Vec<RuleCode>,
    /// The rules that report the same direct call as a code of another linter in the comment.
    pub aliases: Vec<RuleCode>,
}

/// The folders of the project: import roots, crates, Java modules and units.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Folders below the project root from which absolute Python imports are looked up (`""` is the root).
    pub import_roots: Vec<String>,
    /// Rust packages.
    pub crates: Vec<CrateLayout>,
    /// Modules of Java builds (Maven, Gradle).
    pub modules: Vec<ModuleLayout>,
    /// Units, sorted by folder.
    pub units: Vec<UnitLayout>,
}

/// One module of a Java build.
#[derive(Clone, Debug, Default)]
pub struct ModuleLayout {
    /// Its folder below the project root (`""` is the root).
    pub folder: String,
    /// The modules that it depends on directly: indices into [`Layout::modules`].
    pub needs: Vec<usize>,
    /// The names of external artifacts that modules which depend on it get as well.
    pub artifacts: Vec<String>,
    /// True if its build file does not list all of its dependencies.
    pub is_open: bool,
}

/// One unit: a folder with a manifest, or the project root.
#[derive(Clone, Debug, Default)]
pub struct UnitLayout {
    /// Its folder below the project root (`""` is the root).
    pub folder: String,
    /// The switches that commands and configuration files turn on.
    pub switches: Vec<String>,
    /// Switches that are off even if the code turns them on.
    pub off: Vec<String>,
    /// Versions of its dependencies.
    pub versions: Vec<Dependency>,
    /// The oldest supported Python by its manifests or those of the folders above: major and minor number.
    pub python: Option<(u8, u8)>,
}

/// A dependency of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Its name in the registry, in lower case with `-`.
    pub name: String,
    /// The version that the analysis uses; none if no file states a version.
    pub version: Option<blocklint_models::Version>,
    /// True if the version is that of a lock file, an exact pin or an installation.
    pub is_exact: bool,
    /// The oldest version that a range allows, if the version is not exact.
    pub oldest: Option<blocklint_models::Version>,
    /// The file that states the version, from the project root.
    pub said_in: String,
}

/// One Rust package.
#[derive(Clone, Debug, Default)]
pub struct CrateLayout {
    /// The folder of its manifest, from the project root (`""` is the root).
    pub folder: String,
    /// The name in its manifest.
    pub package: String,
    /// Dependencies whose name in the code differs from the package's: name in code, package.
    pub renamed: Vec<(String, String)>,
    /// The dependencies in its manifest: the name in code, the package, the listed features; none if the package has no
    /// manifest.
    pub dependencies: Option<Vec<(String, String, Vec<String>)>>,
    /// The oldest version of each dependency that its manifest allows: the name in code, the version.
    pub oldest: Vec<(String, blocklint_models::Version)>,
    /// Packages that only its tests, examples and build script depend on, sorted.
    pub aside: Vec<String>,
    /// True if it is for browsers, because its documentation is built for WebAssembly. Code in a browser has no other
    /// thread for blocking work.
    pub is_for_browsers: bool,
    /// True if it may be published, because its manifest does not have `publish = false`.
    pub is_published: bool,
    /// The Rust edition.
    pub edition: u16,
    /// The name of the crate in `use` paths (`-` is `_`).
    pub name: String,
    /// The files that are crate roots (`src/lib.rs`, `src/main.rs`, `src/bin/*.rs`, tests, examples), from the
    /// project root. The library's root comes first, if there is one.
    pub roots: Vec<String>,
}

/// Returns the folders above a file, by its path below the project root, inner ones first.
pub fn folders(relative: &str) -> impl Iterator<Item = &str> {
    relative.split('/').rev().skip(1)
}

/// True if a Rust file belongs to a terminal interface or is a tool of the workspace, by its folders (`tui`, `xtask`).
/// Other files of its crate do not count.
pub fn is_terminal_program(relative: &str) -> bool {
    folders(relative).any(|folder| matches!(folder, "tui" | "xtask"))
}

/// True if a Rust file sets its program up, by its name: `bootstrap.rs`, `bootstrap_db.rs`.
pub fn is_bootstrap_file(relative: &str) -> bool {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    name == "bootstrap.rs" || name.starts_with("bootstrap_") && name.ends_with(".rs")
}

/// The files, their names and the occurrences of names. Holds no answers of queries.
pub struct Program<'a> {
    /// The files by slot.
    pub files: &'a [SourceFile],
    /// The layout.
    pub layout: &'a Layout,
    names: &'a Names,
    paths: FxHashMap<&'a str, FileId>,
    folders: FxHashSet<&'a str>,
    packages: FxHashSet<&'a str>,
    languages: SmallVec<[Language; 3]>,
    /// For each file, true if it contains tests.
    tests: OnceLock<Box<[bool]>>,
    /// For each file, the index by body, which is built at the first use.
    by_body: Box<[OnceLock<ByBody>]>,
}

impl<'a> Program<'a> {
    /// Builds the program of the files with their names: O(files).
    pub fn new(files: &'a [SourceFile], layout: &'a Layout, names: &'a Names) -> Self {
        let paths: FxHashMap<&str, FileId> =
            files.iter().enumerate().map(|(slot, file)| (file.relative.as_str(), FileId(slot as u32))).collect();
        let mut folders = FxHashSet::default();
        for file in files {
            let mut folder = file.relative.as_str();
            while let Some((parent, _)) = folder.rsplit_once('/') {
                if !folders.insert(parent) {
                    break;
                }
                folder = parent;
            }
        }
        Program {
            files,
            layout,
            names,
            paths,
            folders,
            packages: files.iter().filter_map(|file| file.relative.strip_suffix("/__init__.py")).collect(),
            tests: OnceLock::new(),
            by_body: files.iter().map(|_| OnceLock::new()).collect(),
            languages: Language::ALL
                .iter()
                .copied()
                .filter(|&language| files.iter().any(|file| file.facts.language == language))
                .collect(),
        }
    }

    /// Returns the facts of a file.
    pub fn facts(&self, file: FileId) -> &'a FileFacts {
        &self.files[file.index()].facts
    }

    /// Returns the language of a file.
    pub fn language(&self, file: FileId) -> Language {
        self.facts(file).language
    }

    /// Returns the languages of the program's files.
    pub fn languages(&self) -> &[Language] {
        &self.languages
    }

    /// True if two files are of one language, so that code of one can call code of the other.
    pub fn share_language(&self, one: FileId, other: FileId) -> bool {
        self.languages.len() < 2 || self.language(one) == self.language(other)
    }

    /// True if a file holds tests, by its path below the project root.
    pub fn is_test(&self, file: FileId) -> bool {
        let tests =
            self.tests.get_or_init(|| self.files.iter().map(|file| path_kind::is_test(&file.relative)).collect());
        tests.get(file.index()).copied().unwrap_or_default()
    }

    /// True if a file belongs to a command-line program, by its path. One person waits for such code, so blocking is
    /// harmless.
    pub fn is_command_line(&self, file: FileId) -> bool {
        let relative = &self.files[file.index()].relative;
        let name = relative.rsplit('/').next().unwrap_or(relative);
        let in_folder = folders(relative)
            // Cargo's `src/bin` holds services as often as tools.
            .any(|folder| {
                matches!(folder, "cli" | "_cli" | "scripts" | "_scripts") || folder == "bin" && !name.ends_with(".rs")
            })
            || name.ends_with(".rs") && path_kind::is_rust_command(relative);
        // Django's commands. Elsewhere a folder `commands` may also have the commands of a chat bot.
        let managed = relative.contains("management/commands/");
        in_folder || managed || matches!(name, "__main__.py" | "cli.py" | "manage.py") || {
            name.ends_with("_cli.py") || name.ends_with("_cmd.py")
        }
    }

    /// Returns the name with this text, if it occurs in any file.
    pub fn name(&self, text: &str) -> Option<Name> {
        self.names.name(text)
    }

    /// Returns the number of names; names are numbered from 0.
    pub(crate) fn names_len(&self) -> usize {
        self.names.len()
    }

    /// Returns the text of a name.
    pub fn text(&self, name: Name) -> &'a str {
        self.names.text(name)
    }

    /// Returns the name of a file's symbol.
    pub fn global(&self, file: FileId, sym: Sym) -> Option<Name> {
        self.names.global(file, sym)
    }

    /// Returns the names of a file.
    pub(crate) fn names_of(&self, file: FileId) -> &[Name] {
        self.names.of_file(file)
    }

    /// Returns the occurrences of a name: files in slot order, with its symbol in each.
    pub fn occurrences(&self, name: Name) -> &[(FileId, Sym)] {
        self.names.occurrences(name)
    }

    /// Returns the files in which all of these texts occur as names or strings.
    pub(crate) fn files_naming_all<'t>(&self, texts: impl Iterator<Item = &'t str>) -> impl Iterator<Item = FileId> {
        let mut places: SmallVec<[&[(FileId, Sym)]; 8]> =
            texts.map(|text| self.name(text).map_or(&[][..], |name| self.occurrences(name))).collect();
        places.sort_by_key(|files| files.len());
        let rarest = places.first().copied().unwrap_or_default();
        rarest
            .iter()
            .map(|(file, _)| *file)
            .filter(move |file| places.iter().all(|files| files.binary_search_by_key(file, |(file, _)| *file).is_ok()))
    }

    /// Returns the symbol of a name in a file.
    pub fn local(&self, file: FileId, name: Name) -> Option<Sym> {
        let rows = self.occurrences(name);
        rows.binary_search_by_key(&file, |row| row.0).ok().map(|index| rows[index].1)
    }

    /// Returns the file at a path from the project root.
    pub fn file_at(&self, path: &str) -> Option<FileId> {
        self.paths.get(path).copied()
    }

    /// True if a folder holds a file of the project, at any depth.
    pub fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.folders.contains(path)
    }

    /// True if a folder is a Python package, because it holds an `__init__.py`.
    pub fn is_package(&self, path: &str) -> bool {
        self.packages.contains(path)
    }

    /// Returns the variable of this name in a body's own scope.
    pub fn scope_var(&self, file: FileId, body: BodyId, name: Name) -> Option<VarId> {
        let sym = self.local(file, name)?;
        let facts = self.facts(file);
        facts.vars_of(body).find(|&var| {
            let var = facts.var(var);
            var.name == sym && var.kind != VarKind::Inner
        })
    }

    /// Returns the index of a file's names and values by use.
    pub fn index_of(&self, file: FileId) -> &FileIndex {
        let source = &self.files[file.index()];
        source.index.get_or_init(|| FileIndex::new(&source.facts, &mut Scratch::default()))
    }

    /// Returns the innermost body around a site.
    pub fn body_of_site(&self, site: SiteRef) -> BodyRef {
        self.body_of(site.file, self.site(site).at)
    }

    /// Returns the innermost body around a position in a file.
    pub fn body_of(&self, file: FileId, at: At) -> BodyRef {
        file.body_ref(self.facts(file).body_of(at))
    }

    fn by_body(&self, file: FileId) -> &ByBody {
        self.by_body[file.index()].get_or_init(|| ByBody::new(self.facts(file)))
    }

    /// Returns the sites directly in a body, not those of bodies in it, in the order of the table.
    pub fn sites_in(&self, body: BodyRef) -> impl Iterator<Item = SiteRef> + Clone + '_ {
        self.by_body(body.file).sites(body.body).map(move |site| body.file.site_ref(site))
    }

    /// Returns the exits of a body (`return`, `raise`, `yield`), in the order of the table.
    pub fn exits_in(&self, body: BodyRef) -> impl Iterator<Item = Exit> + Clone + '_ {
        let (facts, body_id) = self.facts_and_id(body);
        self.by_body(body.file).exits(body_id).map(|index| facts.exits.at(index))
    }

    /// Returns the exits of a body and of the bodies around it, inner ones first.
    pub fn exits_around(&self, body: BodyRef) -> impl Iterator<Item = Exit> + '_ {
        let parent = |body: &BodyRef| {
            let parent = self.facts(body.file).body(body.body).parent.get();
            parent.map(|parent| body.file.body_ref(parent))
        };
        std::iter::successors(Some(body), parent).flat_map(|body| self.exits_in(body))
    }

    /// Returns the regions directly in a body, in the order of the table.
    pub fn regions_in(&self, body: BodyRef) -> impl Iterator<Item = RegionId> + Clone + '_ {
        self.by_body(body.file).regions(body.body)
    }

    /// Returns the bodies directly in a body, in the order of the table.
    pub fn bodies_in(&self, body: BodyRef) -> impl Iterator<Item = BodyRef> + Clone + '_ {
        self.by_body(body.file).bodies(body.body).map(move |inner| body.file.body_ref(inner))
    }

    /// Returns every body, in the order of the files.
    pub fn all_bodies(&self) -> Vec<BodyRef> {
        let files = (0..self.files.len() as u32).map(FileId);
        let of_file = |file: FileId| (0..self.facts(file).bodies.len() as u32).map(move |id| file.body_ref(BodyId(id)));
        files.flat_map(of_file).collect()
    }

    /// Returns every call site, implicit or not, in the order of the files.
    pub(crate) fn all_sites(&self) -> Vec<SiteRef> {
        let files = (0..self.files.len() as u32).map(FileId);
        let of_file = |file: FileId| (0..self.facts(file).sites.len() as u32).map(move |id| file.site_ref(SiteId(id)));
        files.flat_map(of_file).collect()
    }

    /// Returns every call site, implicit or not, whose last name is this one.
    pub fn sites_named(&self, name: Name) -> impl Iterator<Item = SiteRef> + '_ {
        self.occurrences(name)
            .iter()
            .flat_map(|&(file, sym)| self.index_of(file).sites_named(sym).iter().map(move |&site| file.site_ref(site)))
    }

    /// Returns the site whose result a form is, also inside of `await` and `?`.
    pub fn site_of_form(&self, file: FileId, form: FormId) -> Option<SiteId> {
        match self.facts(file).form(form) {
            Form::Result(site) => Some(site),
            Form::Await(inner) | Form::Try(inner) => self.site_of_form(file, inner),
            _ => None,
        }
    }
}
