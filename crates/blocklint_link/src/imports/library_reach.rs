//! The libraries whose values can be in each file (Python). A value of a library enters a project in a file that
//! imports the library, and reaches other files by their imports of that file. So the search excludes most calls of a
//! common name (`get`, `run`, `x["a"]`) by their file, before it evaluates a value.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{Import, ImportKind, Sym};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::linker::Linker;
use crate::program::ids::{FileId, Name};

/// A set of libraries, by the first segment of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibrarySet(SmallVec<[u64; 8]>);

impl LibrarySet {
    fn insert(&mut self, bit: u32) {
        let word = bit as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (bit % 64);
    }

    /// Adds all libraries of another set. Returns true if any of them was new.
    pub fn merge(&mut self, other: &LibrarySet) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut changed = false;
        for (own, word) in self.0.iter_mut().zip(&other.0) {
            changed |= *word & !*own != 0;
            *own |= word;
        }
        changed
    }

    fn intersects(&self, other: &LibrarySet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
}

/// The maximal number of importers of a file that count as its neighbours.
const MAX_IMPORTERS: usize = 256;

/// The libraries whose values can be in each Python file.
#[derive(Debug, Default)]
pub struct LibraryReach {
    /// The bit of each first segment in sets.
    bits: FxHashMap<String, u32>,
    /// The libraries whose values can be in each file; `None` if imports were not followed.
    files: Vec<Option<LibrarySet>>,
    /// The libraries that each file imports itself.
    direct: Vec<LibrarySet>,
    /// Imported modules, by the bit of their first segment.
    modules: Vec<(u32, Name)>,
    /// The files of the project that each file imports.
    imports: Vec<Vec<FileId>>,
    /// The slots of the files that import each file.
    importers: Vec<Vec<u32>>,
}

impl LibraryReach {
    /// Follows all imports once: O(imports).
    pub fn new(linker: &Linker<'_>) -> Self {
        let program = linker.program;
        let models = linker.library.of(Language::Python);
        let mut reach = LibraryReach { files: vec![None; program.files.len()], ..LibraryReach::default() };
        // Rows of the user may describe functions of the project, which need no import.
        if linker.library.has_user_rows() {
            return reach;
        }
        // A library includes the libraries of the types in its rows, and those that they include.
        let mut links: Vec<Vec<u32>> = Vec::new();
        for (from, to) in models.links() {
            let (from, to) = (reach.bit(from), reach.bit(to));
            links.resize_with(reach.bits.len(), Vec::new);
            links[from as usize].push(to);
        }
        let everywhere = reach.bit("builtins");
        let mut direct: Vec<LibrarySet> = vec![LibrarySet::default(); program.files.len()];
        let mut imports: Vec<Vec<FileId>> = vec![Vec::new(); program.files.len()];
        let mut heads: FxHashMap<Name, Option<u32>> = FxHashMap::default();
        let mut resolver = Resolver::default();
        for (slot, source) in program.files.iter().enumerate() {
            let file = FileId(slot as u32);
            let facts = &source.facts;
            if facts.language != Language::Python {
                continue;
            }
            direct[slot].insert(everywhere);
            let root = resolver.folder_number(lang::python::names::import_root(linker, &source.relative));
            let folder = resolver.folder_number(source.relative.rsplit_once('/').map_or("", |(folder, _)| folder));
            let mut before: Option<(Sym, u32, usize)> = None;
            for import in &facts.imports {
                // `from m import a, b` is several imports of one module.
                if let Some((module, level, number)) = before
                    && (module, level) == (import.module, import.level)
                {
                    if import.kind == ImportKind::Name
                        && resolver.modules[number].folder.is_some()
                        && let Some(name) = program.global(file, import.name)
                    {
                        imports[slot].extend(resolver.submodule(linker, number, name));
                    }
                    continue;
                }
                let Some(module) = program.global(file, import.module) else { continue };
                if import.level == 0 {
                    let bit = *heads.entry(module).or_insert_with(|| {
                        let text = program.text(module);
                        let head = text.split('.').next().unwrap_or(text);
                        // A library without rows is never looked up.
                        models.is_root(head).then(|| reach.bit(head))
                    });
                    if let Some(bit) = bit {
                        direct[slot].insert(bit);
                    }
                }
                let from = if import.level == 0 { root } else { folder };
                let number = resolver.module_number(linker, file, &import, (from, import.level as u8, module));
                let resolved = &resolver.modules[number];
                imports[slot].extend(resolved.file);
                before = Some((import.module, import.level, number));
                if import.kind == ImportKind::Name
                    && resolved.folder.is_some()
                    && let Some(name) = program.global(file, import.name)
                {
                    imports[slot].extend(resolver.submodule(linker, number, name));
                }
            }
        }
        reach.modules = heads.iter().filter_map(|(&name, &bit)| Some((bit?, name))).collect();
        reach.modules.sort();
        reach.direct = direct.clone();
        links.resize_with(reach.bits.len(), Vec::new);
        let closures: Vec<LibrarySet> = (0..links.len()).map(|bit| linked_roots(bit as u32, &links)).collect();
        for roots in &mut direct {
            let own: Vec<u32> = bits_of(roots);
            for bit in own {
                roots.merge(&closures[bit as usize]);
            }
        }
        reach.spread(direct, &imports);
        reach.imports = imports;
        reach
    }

    /// True if a file imports one of these files.
    pub fn imports_any(&self, file: FileId, files: &FxHashSet<FileId>) -> bool {
        self.imports.get(file.index()).is_some_and(|imported| imported.iter().any(|file| files.contains(file)))
    }

    /// Returns true if another file imports this one, and `None` if imports were not followed.
    pub fn is_imported(&self, file: FileId) -> Option<bool> {
        Some(self.importers.get(file.index())?.iter().any(|&slot| FileId(slot) != file))
    }

    /// Returns the neighbours of a file, which may call its functions through a container: the file itself, the files
    /// that it imports, its importers and their importers. `None` if imports were not followed.
    pub fn around(&self, file: FileId) -> Option<Vec<FileId>> {
        let mut files = vec![file];
        files.extend(self.imports.get(file.index())?);
        let importers = self.importers.get(file.index())?;
        // A module that half of the project imports does not make its importers neighbours.
        if importers.len() <= MAX_IMPORTERS {
            files.extend(importers.iter().map(|&slot| FileId(slot)));
            for &slot in importers {
                let indirect = &self.importers[slot as usize];
                if indirect.len() <= MAX_IMPORTERS {
                    files.extend(indirect.iter().map(|&slot| FileId(slot)));
                }
            }
        }
        Some(files)
    }

    /// Propagates libraries from imported to importing files over two imports, and one import back because of the
    /// arguments of calls. A file further away rarely uses a type without an import of a nearer file.
    fn spread(&mut self, direct: Vec<LibrarySet>, imports: &[Vec<FileId>]) {
        let mut importers: Vec<Vec<u32>> = vec![Vec::new(); direct.len()];
        for (slot, targets) in imports.iter().enumerate() {
            for target in targets {
                importers[target.index()].push(slot as u32);
            }
        }
        // The file of an imported value, then the file that defines the value's type.
        let over_one_import = with_imported(&direct, imports);
        let over_two_imports = with_imported(&over_one_import, imports);
        for (slot, mut own) in over_two_imports.into_iter().enumerate() {
            for &importer in &importers[slot] {
                own.merge(&over_one_import[importer as usize]);
            }
            self.files[slot] = Some(own);
        }
        self.importers = importers;
    }

    /// Returns the bit of a first segment, which is new if the segment is.
    fn bit(&mut self, root: &str) -> u32 {
        let next = self.bits.len() as u32;
        match self.bits.get(root) {
            Some(&bit) => bit,
            None => {
                self.bits.insert(root.to_owned(), next);
                next
            }
        }
    }

    /// Returns the set of libraries with these first segments. A library that no file imports is not in the set.
    pub fn roots<'t>(&self, roots: impl Iterator<Item = &'t str>) -> LibrarySet {
        let mut set = LibrarySet::default();
        for root in roots {
            if let Some(&bit) = self.bits.get(root) {
                set.insert(bit);
            }
        }
        set
    }

    /// Returns the names of imported modules with a first segment.
    pub fn modules_of(&self, root: &str) -> impl Iterator<Item = Name> + '_ {
        let bit = self.bits.get(root).copied();
        let start = bit.map_or(self.modules.len(), |bit| self.modules.partition_point(|(other, _)| *other < bit));
        self.modules[start..].iter().take_while(move |(other, _)| Some(*other) == bit).map(|(_, name)| *name)
    }

    /// True if a file imports one of these libraries directly, or if imports were not followed.
    pub fn imports_one(&self, file: FileId, roots: &LibrarySet) -> bool {
        self.direct.get(file.index()).is_none_or(|own| own.intersects(roots))
    }

    /// True if values of a library can be in any file. It is always true for languages other than Python.
    pub fn is_present(&self, language: Language, root: &str) -> bool {
        let roots = self.roots(std::iter::once(root));
        language != Language::Python
            || self.files.iter().all(Option::is_none)
            || self.files.iter().flatten().any(|own| own.intersects(&roots))
    }

    /// True if values of one of these libraries can be in a file. It is always true for languages other than Python.
    pub fn may_hold(&self, file: FileId, language: Language, roots: &LibrarySet) -> bool {
        language != Language::Python || self.files[file.index()].as_ref().is_none_or(|own| own.intersects(roots))
    }
}

/// A resolver of imports to files of the project, which resolves each module once.
#[derive(Default)]
struct Resolver<'p> {
    places: FxHashMap<&'p str, u32>,
    numbers: FxHashMap<(u32, u8, Name), usize>,
    modules: Vec<Module>,
    submodules: FxHashMap<(usize, Name), Option<FileId>>,
}

/// The target of an import: the module's file, and the folder of its submodules.
struct Module {
    file: Option<FileId>,
    folder: Option<String>,
}

impl<'p> Resolver<'p> {
    fn folder_number(&mut self, folder: &'p str) -> u32 {
        let next = self.places.len() as u32;
        *self.places.entry(folder).or_insert(next)
    }

    fn module_number(&mut self, linker: &Linker<'_>, file: FileId, import: &Import, key: (u32, u8, Name)) -> usize {
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let (file, folder) = lang::python::names::imported_module(linker, file, import);
        self.modules.push(Module { file, folder });
        self.numbers.insert(key, self.modules.len() - 1);
        self.modules.len() - 1
    }

    fn submodule(&mut self, linker: &Linker<'_>, module: usize, name: Name) -> Option<FileId> {
        let folder = self.modules[module].folder.as_deref()?;
        *self
            .submodules
            .entry((module, name))
            .or_insert_with(|| lang::python::names::module_file_in(linker, folder, name))
    }
}

/// Returns the union of each file's set and the sets of the files that it imports.
fn with_imported(sets: &[LibrarySet], imports: &[Vec<FileId>]) -> Vec<LibrarySet> {
    let mut united = sets.to_vec();
    for (own, targets) in united.iter_mut().zip(imports) {
        for target in targets {
            own.merge(&sets[target.index()]);
        }
    }
    united
}

/// Returns a library and all libraries that it includes.
fn linked_roots(bit: u32, links: &[Vec<u32>]) -> LibrarySet {
    let mut set = LibrarySet::default();
    let mut queue = vec![bit];
    let mut visited = vec![false; links.len()];
    while let Some(next) = queue.pop() {
        if std::mem::replace(&mut visited[next as usize], true) {
            continue;
        }
        set.insert(next);
        queue.extend(&links[next as usize]);
    }
    set
}

/// Returns the bits of a set.
fn bits_of(roots: &LibrarySet) -> Vec<u32> {
    let bits = roots.0.iter().enumerate().flat_map(|(word, bits)| {
        (0..64).filter(move |bit| bits & (1 << bit) != 0).map(move |bit| word as u32 * 64 + bit)
    });
    bits.collect()
}
