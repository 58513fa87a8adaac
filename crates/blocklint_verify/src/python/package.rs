//! The packages of a library, read as one program: the source, the stub and the Cython source of each module are one
//! file.

use std::sync::OnceLock;

use blocklint_facts::{FileFacts, ImportKind};
use blocklint_link::program::{Layout, Names, Program, SourceFile};
use camino::{Utf8Path, Utf8PathBuf};
use rustc_hash::{FxHashMap, FxHashSet};

use super::outline::outline;

/// The modules whose names the linker knows, so that their sources are not read.
const KNOWN_BY_NAME: [&str; 5] = ["typing", "typing_extensions", "functools", "abc", "enum"];

/// The suffixes of the files of a module; all existing files are read, in this order.
const SUFFIXES: [&str; 3] = ["py", "pyi", "pyx"];

/// The modules of some paths, and all modules that they import.
#[derive(Debug)]
pub(crate) struct Package {
    files: Vec<SourceFile>,
    layout: Layout,
    names: Names,
    /// The paths of the modules that have a compiled file (`.so`, `.pyd`).
    pub(super) compiled: FxHashSet<String>,
}

impl Package {
    /// Reads the modules of the paths. The folders are searched in order, then the standard library.
    pub(crate) fn read(folders: &[Utf8PathBuf], standard: Option<&Utf8Path>, paths: &[String]) -> Self {
        let mut reader = Reader { folders, standard, ..Reader::default() };
        for path in paths {
            reader.request(path);
        }
        while let Some(name) = reader.waiting.pop() {
            reader.read_module(&name);
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

/// Reads requested modules and the modules that they import.
#[derive(Debug, Default)]
struct Reader<'a> {
    folders: &'a [Utf8PathBuf],
    standard: Option<&'a Utf8Path>,
    requested: FxHashSet<String>,
    waiting: Vec<String>,
    files: FxHashMap<String, SourceFile>,
    compiled: FxHashSet<String>,
}

impl Reader<'_> {
    /// Requests each module that may contain a dotted path: `a`, `a.b` and `a.b.c` for `a.b.c`.
    fn request(&mut self, path: &str) {
        let ends = path.match_indices('.').map(|(index, _)| index).chain([path.len()]);
        for end in ends {
            let name = &path[..end];
            if name.is_empty() || !self.requested.insert(name.to_owned()) {
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

    fn read_module(&mut self, name: &str) {
        let mut module = ModuleFiles::default();
        for folder in self.folders {
            module.find_in(folder, name, true);
        }
        if let (false, Some(standard)) = (module.exists, self.standard) {
            module.find_in(standard, name, false);
        }
        if !module.exists {
            return;
        }
        let relative = format!("{}{}", name.replace('.', "/"), if module.is_package { "/__init__.py" } else { ".py" });
        if module.is_compiled {
            self.compiled.insert(relative.clone());
        }
        let mut text = Vec::new();
        for path in &module.paths {
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
        self.request_imports(name, module.is_package, &facts);
        let path = Utf8PathBuf::from(&relative);
        let file = SourceFile {
            path: path.into(),
            relative,
            facts,
            index: OnceLock::new(),
            reported: false,
            resolved_suppressions: Vec::new(),
        };
        self.files.insert(name.to_owned(), file);
    }

    fn request_imports(&mut self, module: &str, is_package: bool, facts: &FileFacts) {
        for import in facts.imports.iter() {
            let source = absolute_module(module, is_package, import.level, facts.text(import.module));
            match import.kind {
                ImportKind::Name => self.request(&format!("{source}.{}", facts.text(import.name))),
                _ => self.request(&source),
            }
        }
    }
}

/// The files of one module.
#[derive(Debug, Default)]
struct ModuleFiles {
    exists: bool,
    is_package: bool,
    is_compiled: bool,
    paths: Vec<Utf8PathBuf>,
}

impl ModuleFiles {
    /// Adds the files of a module below a folder. A folder without `__init__` is a package only if `allow_namespaces`
    /// is true.
    fn find_in(&mut self, folder: &Utf8Path, name: &str, allow_namespaces: bool) {
        let (top, rest) = name.split_once('.').map_or((name, None), |(top, rest)| (top, Some(rest)));
        for first in [top.to_owned(), format!("{top}-stubs")] {
            let mut base = folder.join(first);
            base.extend(rest.into_iter().flat_map(|rest| rest.split('.')));
            let inner = base.join("__init__");
            let is_folder = base.is_dir();
            if is_folder && (allow_namespaces || with_suffix(&inner, "py").exists()) {
                (self.exists, self.is_package) = (true, true);
            }
            let stems = if is_folder { vec![inner, base.clone()] } else { vec![base.clone()] };
            let files = stems.iter().flat_map(|stem| SUFFIXES.map(|suffix| with_suffix(stem, suffix)));
            self.paths.extend(files.filter(|file| file.is_file()));
            self.is_compiled |= has_compiled_file(&base);
        }
        self.exists |= self.is_compiled || !self.paths.is_empty();
    }
}

/// Returns the path with an added suffix; dots in its last part are kept.
fn with_suffix(stem: &Utf8Path, suffix: &str) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{stem}.{suffix}"))
}

/// True if the folder of a module has a compiled file of its name: `fast.cpython-312.so`.
fn has_compiled_file(base: &Utf8Path) -> bool {
    let (Some(parent), Some(name)) = (base.parent(), base.file_name()) else { return false };
    let Ok(entries) = parent.read_dir_utf8() else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        let rest = entry.file_name().strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| ["so", "pyd"].contains(&rest.rsplit('.').next().unwrap_or(rest)))
    })
}

/// Returns the absolute name of the module in an import of `module`.
pub(super) fn absolute_module(module: &str, is_package: bool, level: u32, written: &str) -> String {
    if level == 0 {
        return written.to_owned();
    }
    let parts: Vec<&str> = module.split('.').collect();
    let keep = (parts.len() + usize::from(is_package)).saturating_sub(level as usize).min(parts.len());
    let above = parts[..keep].iter().copied();
    above.chain([written]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}
