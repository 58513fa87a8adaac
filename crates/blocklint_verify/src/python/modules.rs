//! Where the modules of packages lie, and their files.

use std::rc::Rc;

use blocklint_facts::FileFacts;
use camino::{Utf8Path, Utf8PathBuf};

use super::entity::{FileRef, ModuleRef};
use super::outline::outline;
use super::sources::Sources;

/// A module or package.
#[derive(Debug)]
pub(super) struct Module {
    /// Its dotted name.
    pub(super) name: Rc<str>,
    /// Whether it has modules of its own.
    pub(super) package: bool,
    /// Whether the interpreter's own format of it lies beside.
    pub(super) compiled: bool,
    /// Its source, stub and Cython source, as far as there are.
    pub(super) files: Vec<FileRef>,
}

/// What of a module is looked for, in this order; all count.
const SUFFIXES: [&str; 3] = ["py", "pyi", "pyx"];

impl Sources {
    /// The module of a dotted name, if there is one.
    pub(super) fn module(&self, name: &str) -> Option<ModuleRef> {
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        let found = self.find_module(name);
        self.known.borrow_mut().insert(Rc::from(name), found);
        found
    }

    fn find_module(&self, name: &str) -> Option<ModuleRef> {
        if name.is_empty() || name.split('.').any(|part| part.is_empty() || part.contains(['/', '\\'])) {
            return None;
        }
        let (mut package, mut compiled, mut found) = (false, false, false);
        let mut paths = Vec::new();
        for folder in &self.folders {
            found |= look(folder, name, &mut package, &mut compiled, &mut paths, true);
        }
        if let (false, Some(standard)) = (found, &self.standard) {
            found = look(standard, name, &mut package, &mut compiled, &mut paths, false);
        }
        if !found {
            return None;
        }
        let module = ModuleRef(self.modules.borrow().len() as u32);
        self.modules.borrow_mut().push(Rc::new(Module { name: Rc::from(name), package, compiled, files: Vec::new() }));
        let files: Vec<FileRef> = paths.iter().filter_map(|path| self.read(path, module)).collect();
        let whole = Module { name: Rc::from(name), package, compiled, files };
        self.modules.borrow_mut()[module.0 as usize] = Rc::new(whole);
        Some(module)
    }

    /// Reads one file of a module.
    fn read(&self, path: &Utf8Path, module: ModuleRef) -> Option<FileRef> {
        let bytes = std::fs::read(path).ok()?;
        let facts: FileFacts = if path.extension() == Some("pyx") {
            let text = String::from_utf8_lossy(&bytes);
            blocklint_python::extract(outline(&text, path.parent().unwrap_or(Utf8Path::new(""))).as_bytes())
        } else {
            blocklint_python::extract(&bytes)
        };
        Some(self.add_file(facts, module))
    }
}

/// Looks for a module below one folder. A folder without `__init__` is a package only where packages are looked for.
fn look(
    folder: &Utf8Path,
    name: &str,
    package: &mut bool,
    compiled: &mut bool,
    paths: &mut Vec<Utf8PathBuf>,
    bare: bool,
) -> bool {
    let mut found = false;
    let (top, rest) = name.split_once('.').map_or((name, None), |(top, rest)| (top, Some(rest)));
    for first in [top.to_owned(), format!("{top}-stubs")] {
        let mut base = folder.join(first);
        base.extend(rest.into_iter().flat_map(|rest| rest.split('.')));
        let inner = base.join("__init__");
        let is_folder = base.is_dir();
        if is_folder && (bare || with_suffix(&inner, "py").exists()) {
            (found, *package) = (true, true);
        }
        let stems = if is_folder { vec![inner, base.clone()] } else { vec![base.clone()] };
        for stem in stems {
            for suffix in SUFFIXES {
                let file = with_suffix(&stem, suffix);
                if file.is_file() {
                    paths.push(file);
                    found = true;
                }
            }
        }
        if is_compiled(&base) {
            (found, *compiled) = (true, true);
        }
    }
    found
}

/// The path with a suffix behind its last part, dots in which are part of the name.
fn with_suffix(stem: &Utf8Path, suffix: &str) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{stem}.{suffix}"))
}

/// Whether a compiled module of this name lies beside.
fn is_compiled(base: &Utf8Path) -> bool {
    let (Some(parent), Some(name)) = (base.parent(), base.file_name()) else { return false };
    let Ok(entries) = parent.read_dir_utf8() else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        let rest = entry.file_name().strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| ["so", "pyd"].contains(&rest.rsplit('.').next().unwrap_or(rest)))
    })
}
