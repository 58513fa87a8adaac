//! Python: files that belong to a program with monkey patches (`gevent.monkey.patch_all()`). Patches in one script have
//! no effect on another program of the same project.

use blocklint_core::Language;
use blocklint_facts::ImportKind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lang::python::names::{imported_module, module_file_in};
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, Name};
use crate::values::value::{EnvId, Val};

/// The files of the programs that monkey patches affect.
#[derive(Default)]
pub struct Patched {
    /// The files that patch, and the files that load these.
    starts: FxHashSet<FileId>,
    /// The files of `starts`, and all files that these load. Imports inside functions count; files that are loaded by a
    /// name at run time do not.
    files: FxHashSet<FileId>,
    /// The files that load each file.
    loaded_by: FxHashMap<FileId, Vec<FileId>>,
}

impl Patched {
    /// Returns the programs that the files with a patch belong to.
    pub fn new(linker: &Linker<'_>, patching: &[FileId]) -> Self {
        if patching.is_empty() {
            return Patched::default();
        }
        let mut loads: FxHashMap<FileId, Vec<FileId>> = FxHashMap::default();
        let mut loaded_by: FxHashMap<FileId, Vec<FileId>> = FxHashMap::default();
        for slot in 0..linker.program.files.len() {
            let file = FileId(slot as u32);
            // Tests import all programs and belong to none.
            if linker.program.language(file) != Language::Python || linker.program.is_test(file) {
                continue;
            }
            let targets = loaded_files(linker, file);
            for &target in &targets {
                loaded_by.entry(target).or_default().push(file);
            }
            loads.insert(file, targets);
        }
        let starts = reachable(patching.iter().copied(), &loaded_by);
        let files = reachable(starts.iter().copied(), &loads);
        Patched { starts, files, loaded_by }
    }

    /// True if a file belongs to a patched program.
    pub fn contains(&self, file: FileId) -> bool {
        self.files.contains(&file)
    }

    /// True if a patched program uses an entry point or its class: the entry point is in a file that patches or loads a
    /// patching file, or another file of the program imports its name.
    pub fn uses_entry_point(&self, linker: &Linker<'_>, entry: BodyRef) -> bool {
        if self.starts.contains(&entry.file) {
            return true;
        }
        let (facts, entry_id) = linker.program.facts_and_id(entry);
        let mut outermost = entry_id;
        while let Some(parent) = facts.body(outermost).parent.get().filter(|parent| parent.index() != 0) {
            outermost = parent;
        }
        let Some(name) = linker.program.global(entry.file, facts.body(outermost).name) else { return false };
        // An `__init__.py` may re-export names that it imports.
        let is_package = |file: FileId| linker.program.files[file.index()].relative.ends_with("__init__.py");
        let loaders = |file: FileId| self.loaded_by.get(&file).into_iter().flatten().copied();
        let packages: Vec<FileId> = loaders(entry.file).filter(|file| is_package(*file)).collect();
        let loading = loaders(entry.file).chain(packages.iter().flat_map(|package| loaders(*package)));
        let mut loading = loading.filter(|file| self.files.contains(file) && !is_package(*file));
        loading.any(|file| imports_or_uses(linker, file, name, entry.file, &packages))
    }
}

/// True if a file imports a name from a module or the packages that re-export it, or uses it as a member of one.
fn imports_or_uses(linker: &Linker<'_>, file: FileId, name: Name, module: FileId, packages: &[FileId]) -> bool {
    let facts = linker.program.facts(file);
    let text = linker.program.text(name);
    let imports = facts.imports.iter().filter(|import| facts.text(import.name) == text);
    let mut targets = imports.filter_map(|import| imported_module(linker, file, &import).0);
    if targets.any(|target| target == module || packages.contains(&target)) {
        return true;
    }
    let occurrences = linker.program.occurrences(name).iter().filter(|(other, _)| *other == file);
    let mut sites = occurrences.flat_map(|&(_, sym)| linker.program.index_of(file).sites_named(sym).iter().copied());
    sites.any(|site| {
        let callee = linker.callee(file.site_ref(site), EnvId::NONE);
        linker.values.members(callee.value).iter().any(|val| match *val {
            Val::Class(class) => class.file == module,
            Val::Fn { body, .. } => body.file == module,
            _ => false,
        })
    })
}

/// Returns the files that are reached from some files over edges, with these files.
fn reachable(start: impl IntoIterator<Item = FileId>, edges: &FxHashMap<FileId, Vec<FileId>>) -> FxHashSet<FileId> {
    let mut open: Vec<FileId> = start.into_iter().collect();
    let mut visited: FxHashSet<FileId> = open.iter().copied().collect();
    while let Some(file) = open.pop() {
        for &next in edges.get(&file).into_iter().flatten() {
            if visited.insert(next) {
                open.push(next);
            }
        }
    }
    visited
}

/// Returns the project's files that a file's imports load, with the `__init__.py` of each package around them.
pub fn loaded_files(linker: &Linker<'_>, file: FileId) -> Vec<FileId> {
    let facts = linker.program.facts(file);
    let mut files: Vec<FileId> = Vec::new();
    for import in facts.imports.iter() {
        let (target, folder) = imported_module(linker, file, &import);
        files.extend(target);
        if import.kind == ImportKind::Name
            && let Some(folder) = folder
            && let Some(name) = linker.program.global(file, import.name)
        {
            files.extend(module_file_in(linker, &folder, name));
        }
    }
    let imported: Vec<FileId> = files.clone();
    for target in imported {
        let relative = &linker.program.files[target.index()].relative;
        let mut folder = relative.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            files.extend(linker.program.file_at(&format!("{above}/__init__.py")));
            folder = above;
        }
    }
    files.sort();
    files.dedup();
    files.retain(|loaded| *loaded != file);
    files
}
