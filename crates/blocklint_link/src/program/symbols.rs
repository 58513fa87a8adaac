//! The string interner for the names of all files, and the occurrences of each name. When one file changes, only its
//! entries are replaced.

use std::hash::BuildHasher;

use blocklint_facts::{FileFacts, Sym};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::program::SourceFile;
use crate::program::ids::{FileId, Name};

/// The occurrences of one name: files in the order of their slots, with its symbol in each.
type Occurrences = [(FileId, Sym)];

/// The names of a project's files and the occurrences of each.
///
/// A name keeps its number as long as this table lives, also when it occurs in no file any more.
#[derive(Debug, Default)]
pub struct Names {
    /// All texts, concatenated.
    texts: String,
    /// For each name, the start and end of its text in `texts`.
    bounds: Vec<(usize, usize)>,
    table: HashTable<Name>,
    /// For each file, the name of each symbol.
    globals: Vec<Box<[Name]>>,
    /// For each name of the first reading, the start of its run in `occurrences`; one entry more than names.
    starts: Vec<u32>,
    occurrences: Vec<(FileId, Sym)>,
    /// True if a file was replaced since the first reading.
    has_replaced_files: bool,
    /// The runs of names that now occur in other files than at the first reading.
    moved: FxHashMap<Name, Vec<(FileId, Sym)>>,
}

impl Names {
    /// Interns the symbols of all files: O(symbols).
    pub fn new(files: &[SourceFile]) -> Self {
        let symbols: usize = files.iter().map(|file| file.facts.symbols.len()).sum();
        // Most names occur in many files; growing the table step by step would hash each name several times.
        let mut names = Names { table: HashTable::with_capacity(symbols / 8), ..Names::default() };
        names.globals.reserve(files.len());
        let mut counts: Vec<u32> = Vec::new();
        for file in files {
            let of_file: Box<[Name]> = file
                .facts
                .symbols
                .iter()
                .map(|(_, text)| {
                    let name = names.intern(text);
                    match counts.get_mut(name.0 as usize) {
                        Some(count) => *count += 1,
                        None => counts.push(1),
                    }
                    name
                })
                .collect();
            names.globals.push(of_file);
        }
        names.starts.reserve(counts.len() + 1);
        let mut total = 0;
        names.starts.push(0);
        for count in counts {
            total += count;
            names.starts.push(total);
        }
        let mut next = names.starts.clone();
        names.occurrences = vec![(FileId(0), Sym(0)); total as usize];
        for (slot, of_file) in names.globals.iter().enumerate() {
            for (sym, name) in of_file.iter().enumerate() {
                let position = &mut next[name.0 as usize];
                names.occurrences[*position as usize] = (FileId(slot as u32), Sym(sym as u32));
                *position += 1;
            }
        }
        names
    }

    /// Replaces the names of the file in a slot, after the file has changed.
    pub fn replace(&mut self, file: FileId, facts: &FileFacts) {
        self.has_replaced_files = true;
        let Some(before) = self.globals.get_mut(file.index()).map(std::mem::take) else { return };
        let now: Box<[Name]> = facts.symbols.iter().map(|(_, text)| self.intern(text)).collect();
        let mut symbols: FxHashMap<Name, Sym> =
            now.iter().enumerate().map(|(sym, name)| (*name, Sym(sym as u32))).collect();
        for &name in &before {
            match symbols.remove(&name) {
                Some(sym) => self.renumber(name, file, sym),
                None => self.moved_run_mut(name).retain(|row| row.0 != file),
            }
        }
        for (name, sym) in symbols {
            let run = self.moved_run_mut(name);
            let position = run.partition_point(|row| row.0 < file);
            run.insert(position, (file, sym));
        }
        self.globals[file.index()] = now;
    }

    /// True if a file was replaced. The numbers of names may then differ from those of a new reading of all files.
    pub fn has_replaced_files(&self) -> bool {
        self.has_replaced_files
    }

    /// Returns the name with this text, if it occurs in any file.
    pub(super) fn name(&self, text: &str) -> Option<Name> {
        let interned = self.table.find(FxBuildHasher.hash_one(text), |name| self.text(*name) == text).copied();
        interned.filter(|&name| !self.occurrences(name).is_empty())
    }

    /// Returns the number of names; names are numbered from 0.
    pub(super) fn len(&self) -> usize {
        self.bounds.len()
    }

    /// Returns the text of a name.
    #[inline]
    pub(super) fn text(&self, name: Name) -> &str {
        let (start, end) = self.bounds[name.0 as usize];
        &self.texts[start..end]
    }

    /// Returns the name of a file's symbol.
    #[inline]
    pub(super) fn global(&self, file: FileId, sym: Sym) -> Option<Name> {
        self.globals[file.index()].get(sym.index()).copied()
    }

    /// Returns the names of a file, by symbol.
    pub(super) fn of_file(&self, file: FileId) -> &[Name] {
        self.globals.get(file.index()).map_or(&[], |names| names)
    }

    /// Returns the occurrences of a name.
    #[inline]
    pub(super) fn occurrences(&self, name: Name) -> &Occurrences {
        if !self.moved.is_empty()
            && let Some(run) = self.moved.get(&name)
        {
            return run;
        }
        self.first_run(name)
    }

    #[inline]
    fn first_run(&self, name: Name) -> &Occurrences {
        match self.starts.get(name.0 as usize..).and_then(<[_]>::first_chunk) {
            Some([start, end]) => &self.occurrences[*start as usize..*end as usize],
            None => &[],
        }
    }

    /// Returns the number of a name, which is new if the text is.
    fn intern(&mut self, text: &str) -> Name {
        let Names { texts, bounds, table, .. } = self;
        let text_of = |name: &Name| {
            let (start, end) = bounds[name.0 as usize];
            &texts[start..end]
        };
        let hash = FxBuildHasher.hash_one(text);
        match table.entry(hash, |name| text_of(name) == text, |name| FxBuildHasher.hash_one(text_of(name))) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let name = Name(bounds.len() as u32);
                entry.insert(name);
                let start = texts.len();
                texts.push_str(text);
                bounds.push((start, texts.len()));
                name
            }
        }
    }

    /// Changes the symbol of a name in a file in which the name already occurred.
    fn renumber(&mut self, name: Name, file: FileId, sym: Sym) {
        let run = match self.moved.get_mut(&name) {
            Some(run) => &mut run[..],
            None => match self.starts.get(name.0 as usize..).and_then(<[_]>::first_chunk) {
                Some([start, end]) => &mut self.occurrences[*start as usize..*end as usize],
                None => return,
            },
        };
        if let Ok(position) = run.binary_search_by_key(&file, |row| row.0) {
            run[position].1 = sym;
        }
    }

    /// Returns the occurrences of a name for changing them.
    fn moved_run_mut(&mut self, name: Name) -> &mut Vec<(FileId, Sym)> {
        let first = if self.moved.contains_key(&name) { Vec::new() } else { self.first_run(name).to_vec() };
        self.moved.entry(name).or_insert(first)
    }
}
