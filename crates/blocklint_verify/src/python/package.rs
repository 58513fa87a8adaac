//! Packages in folders, read as one program: each module with its source, its stub and its Cython source as one file.

use std::sync::OnceLock;

use blocklint_facts::{FileFacts, ImportKind};
use blocklint_link::program::{Layout, Names, Program, SourceFile};
use camino::{Utf8Path, Utf8PathBuf};
use rustc_hash::{FxHashMap, FxHashSet};

use super::outline::outline;

/// Modules that the linker knows by their names: it reads no source for them.
const KNOWN_BY_NAME: [&str; 5] = ["typing", "typing_extensions", "functools", "abc", "enum"];

/// The files that a module may have, in this order; all count.
const SUFFIXES: [&str; 3] = ["py", "pyi", "pyx"];

/// The modules that some paths lead to, with all that these import.
#[derive(Debug)]
pub(crate) struct Package {
    files: Vec<SourceFile>,
    layout: Layout,
    names: Names,
    /// The modules of which the interpreter's own format lies beside, by path.
    pub(super) compiled: FxHashSet<String>,
}

impl Package {
    /// Reads the modules of the paths from folders that are searched in order; those of the standard library come last.
    pub(crate) fn read(folders: &[Utf8PathBuf], standard: Option<&Utf8Path>, paths: &[String]) -> Self {
        let mut reader = Reader { folders, standard, ..Reader::default() };
        for path in paths {
            reader.ask(path);
        }
        while let Some(name) = reader.waiting.pop() {
            reader.read(&name);
        }
        let mut files: Vec<SourceFile> = reader.files.into_values().collect();
        files.sort_by(|a, b| a.relative.cmp(&b.relative));
        let names = Names::new(&files);
        let layout = Layout { import_roots: vec![String::new()], ..Layout::default() };
        Package { files, layout, names, compiled: reader.compiled }
    }

    /// Returns the modules as a program.
    pub(crate) fn program(&self) -> Program<'_> {
        Program::new(&self.files, &self.layout, &self.names)
    }
}

/// Reads modules until none is asked for that was not read.
#[derive(Debug, Default)]
struct Reader<'a> {
    folders: &'a [Utf8PathBuf],
    standard: Option<&'a Utf8Path>,
    seen: FxHashSet<String>,
    waiting: Vec<String>,
    files: FxHashMap<String, SourceFile>,
    compiled: FxHashSet<String>,
}

impl Reader<'_> {
    /// Asks for each module that a dotted path goes through.
    fn ask(&mut self, path: &str) {
        let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
        for end in ends {
            let name = &path[..end];
            if name.is_empty() || !self.seen.insert(name.to_owned()) {
                continue;
            }
            let top = name.split('.').next().unwrap_or(name);
            if !KNOWN_BY_NAME.contains(&top)
                && !name.split('.').any(|part| part.is_empty() || part.contains(['/', '\\']))
            {
                self.waiting.push(name.to_owned());
            }
        }
    }

    fn read(&mut self, name: &str) {
        let mut found = Found::default();
        for folder in self.folders {
            found.look(folder, name, true);
        }
        if let (false, Some(standard)) = (found.any, self.standard) {
            found.look(standard, name, false);
        }
        if !found.any {
            return;
        }
        let relative = format!("{}{}", name.replace('.', "/"), if found.is_package { "/__init__.py" } else { ".py" });
        if found.is_compiled {
            self.compiled.insert(relative.clone());
        }
        let mut text = Vec::new();
        for path in &found.paths {
            let Ok(bytes) = std::fs::read(path) else { continue };
            if path.extension() == Some("pyx") {
                let source = String::from_utf8_lossy(&bytes);
                text.extend(outline(&source, path.parent().unwrap_or(Utf8Path::new(""))).into_bytes());
            } else {
                text.extend(bytes);
            }
            text.push(b'\n');
        }
        let facts = blocklint_python::extract(&text);
        self.ask_imports(name, found.is_package, &facts);
        let path = Utf8PathBuf::from(&relative);
        let file = SourceFile {
            path: path.into(),
            relative,
            facts,
            index: OnceLock::new(),
            reported: false,
            silencing: Vec::new(),
        };
        self.files.insert(name.to_owned(), file);
    }

    fn ask_imports(&mut self, module: &str, is_package: bool, facts: &FileFacts) {
        for import in facts.imports.iter() {
            let source = absolute(module, is_package, import.level, facts.text(import.module));
            match import.kind {
                ImportKind::Name => self.ask(&format!("{source}.{}", facts.text(import.name))),
                _ => self.ask(&source),
            }
        }
    }
}

/// The files of one module.
#[derive(Debug, Default)]
struct Found {
    any: bool,
    is_package: bool,
    is_compiled: bool,
    paths: Vec<Utf8PathBuf>,
}

impl Found {
    /// Looks below one folder. A folder without `__init__` is a package only where packages are looked for.
    fn look(&mut self, folder: &Utf8Path, name: &str, bare: bool) {
        let (top, rest) = name.split_once('.').map_or((name, None), |(top, rest)| (top, Some(rest)));
        for first in [top.to_owned(), format!("{top}-stubs")] {
            let mut base = folder.join(first);
            base.extend(rest.into_iter().flat_map(|rest| rest.split('.')));
            let inner = base.join("__init__");
            let is_folder = base.is_dir();
            if is_folder && (bare || with_suffix(&inner, "py").exists()) {
                (self.any, self.is_package) = (true, true);
            }
            let stems = if is_folder { vec![inner, base.clone()] } else { vec![base.clone()] };
            let files = stems.iter().flat_map(|stem| SUFFIXES.map(|suffix| with_suffix(stem, suffix)));
            self.paths.extend(files.filter(|file| file.is_file()));
            self.is_compiled |= is_compiled(&base);
        }
        self.any |= self.is_compiled || !self.paths.is_empty();
    }
}

/// Returns the path with a suffix behind its last part, dots in which are part of the name.
fn with_suffix(stem: &Utf8Path, suffix: &str) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{stem}.{suffix}"))
}

/// True if a compiled module of this name lies beside.
fn is_compiled(base: &Utf8Path) -> bool {
    let (Some(parent), Some(name)) = (base.parent(), base.file_name()) else { return false };
    let Ok(entries) = parent.read_dir_utf8() else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        let rest = entry.file_name().strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| ["so", "pyd"].contains(&rest.rsplit('.').next().unwrap_or(rest)))
    })
}

/// Returns the module that an import names, seen from the module it stands in.
pub(super) fn absolute(module: &str, is_package: bool, level: u32, written: &str) -> String {
    if level == 0 {
        return written.to_owned();
    }
    let parts: Vec<&str> = module.split('.').collect();
    let keep = (parts.len() + usize::from(is_package)).saturating_sub(level as usize).min(parts.len());
    let above = parts[..keep].iter().copied();
    above.chain([written]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}
