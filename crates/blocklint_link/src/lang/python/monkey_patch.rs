//! Which files belong to a program whose code patches: a script that patches shows nothing about the service beside it.

use blocklint_core::Language;
use blocklint_facts::ImportKind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lang::python::names::{file_below, imported_module};
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, Name};
use crate::values::value::{EnvId, Val};

/// The programs that some files patch.
#[derive(Default)]
pub struct Patched {
    /// The files that patch, and the files that load these.
    starts: FxHashSet<FileId>,
    /// These, and all that they load. Imports inside functions count, what is loaded by a name at run time does not.
    files: FxHashSet<FileId>,
    /// The files that load each file.
    loaded_by: FxHashMap<FileId, Vec<FileId>>,
}

impl Patched {
    /// Returns the programs of files that patch.
    pub fn new(linker: &Linker<'_>, patching: &[FileId]) -> Self {
        if patching.is_empty() {
            return Patched::default();
        }
        let mut loads: FxHashMap<FileId, Vec<FileId>> = FxHashMap::default();
        let mut loaded_by: FxHashMap<FileId, Vec<FileId>> = FxHashMap::default();
        for slot in 0..linker.program.files.len() {
            let file = FileId(slot as u32);
            // Tests load everything, and are no program.
            if linker.program.language(file) != Language::Python || linker.program.is_test(file) {
                continue;
            }
            let found = loaded(linker, file);
            for &of in &found {
                loaded_by.entry(of).or_default().push(file);
            }
            loads.insert(file, found);
        }
        let starts = closure(patching.iter().copied(), &loaded_by);
        let files = closure(starts.iter().copied(), &loads);
        Patched { starts, files, loaded_by }
    }

    /// True if a file belongs to a patched program.
    pub fn holds(&self, file: FileId) -> bool {
        self.files.contains(&file)
    }

    /// True if a patched program uses a function without a known caller, or its class: it stands in a file where the
    /// program starts, or another file takes its name from there.
    pub fn uses(&self, linker: &Linker<'_>, entry: BodyRef) -> bool {
        if self.starts.contains(&entry.file) {
            return true;
        }
        let (facts, entry_id) = linker.program.facts_and_id(entry);
        let mut outermost = entry_id;
        while let Some(parent) = facts.body(outermost).parent.get().filter(|parent| parent.index() != 0) {
            outermost = parent;
        }
        let Some(name) = linker.program.global(entry.file, facts.body(outermost).name) else { return false };
        // Packages pass on what they load.
        let is_package = |file: FileId| linker.program.files[file.index()].relative.ends_with("__init__.py");
        let by = |file: FileId| self.loaded_by.get(&file).into_iter().flatten().copied();
        let packages: Vec<FileId> = by(entry.file).filter(|file| is_package(*file)).collect();
        let loading = by(entry.file).chain(packages.iter().flat_map(|package| by(*package)));
        let mut loading = loading.filter(|file| self.files.contains(file) && !is_package(*file));
        loading.any(|file| takes(linker, file, name, entry.file, &packages))
    }
}

/// True if a file imports a name from a module or the packages that re-export it, or uses it as a member of one.
fn takes(linker: &Linker<'_>, file: FileId, name: Name, of: FileId, packages: &[FileId]) -> bool {
    let facts = linker.program.facts(file);
    let text = linker.program.text(name);
    let imports = facts.imports.iter().filter(|import| facts.text(import.name) == text);
    let mut targets = imports.filter_map(|import| imported_module(linker, file, &import).0);
    if targets.any(|target| target == of || packages.contains(&target)) {
        return true;
    }
    let occurrences = linker.program.occurrences(name).iter().filter(|(other, _)| *other == file);
    let mut sites = occurrences.flat_map(|&(_, sym)| linker.program.index_of(file).sites_named(sym).iter().copied());
    sites.any(|site| {
        let callee = linker.callee(file.site_ref(site), EnvId::NONE);
        linker.values.members(callee.value).iter().any(|val| match *val {
            Val::Class(class) => class.file == of,
            Val::Fn { body, .. } => body.file == of,
            _ => false,
        })
    })
}

fn closure(from: impl IntoIterator<Item = FileId>, edges: &FxHashMap<FileId, Vec<FileId>>) -> FxHashSet<FileId> {
    let mut open: Vec<FileId> = from.into_iter().collect();
    let mut seen: FxHashSet<FileId> = open.iter().copied().collect();
    while let Some(file) = open.pop() {
        for &next in edges.get(&file).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

/// Returns the project's files that a file's imports load, with the packages that they lie in.
pub fn loaded(linker: &Linker<'_>, file: FileId) -> Vec<FileId> {
    let facts = linker.program.facts(file);
    let mut found: Vec<FileId> = Vec::new();
    for import in facts.imports.iter() {
        let (target, folder) = imported_module(linker, file, &import);
        found.extend(target);
        if import.kind == ImportKind::Name
            && let Some(folder) = folder
            && let Some(name) = linker.program.global(file, import.name)
        {
            found.extend(file_below(linker, &folder, name));
        }
    }
    let own: Vec<FileId> = found.clone();
    for of in own {
        let relative = &linker.program.files[of.index()].relative;
        let mut folder = relative.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            found.extend(linker.program.file_at(&format!("{above}/__init__.py")));
            folder = above;
        }
    }
    found.sort();
    found.dedup();
    found.retain(|of| *of != file);
    found
}
