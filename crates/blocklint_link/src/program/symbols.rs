//! The names of all files, each once, and where they occur. A file that changes is taken out and put in again, alone.

use std::hash::BuildHasher;

use blocklint_facts::{FileFacts, Sym};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::program::SourceFile;
use crate::program::ids::{FileId, Name};

/// Where one name occurs: files in the order of their slots, with its symbol there.
type Occurrences = [(FileId, Sym)];

/// The names of a project's files and where they occur.
///
/// A name keeps its number for as long as this lives, also when no file bears it any more.
#[derive(Debug, Default)]
pub struct Names {
    /// All texts, one behind the other.
    texts: String,
    /// Per name, where its text begins and ends.
    bounds: Vec<(usize, usize)>,
    table: HashTable<Name>,
    /// Per file, local symbol → name.
    globals: Vec<Box<[Name]>>,
    /// Per name of the first reading, the run in `occurrences` (one entry more than names).
    starts: Vec<u32>,
    occurrences: Vec<(FileId, Sym)>,
    /// True if a file was replaced since the first reading.
    have_moved: bool,
    /// The runs of names that other files bear than at the first reading.
    moved: FxHashMap<Name, Vec<(FileId, Sym)>>,
}

impl Names {
    /// Reads the symbols of all files: O(symbols).
    pub fn new(files: &[SourceFile]) -> Self {
        let symbols: usize = files.iter().map(|file| file.facts.symbols.len()).sum();
        // Most names stand in many files; growing the table step by step would hash each several times.
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
                let at = &mut next[name.0 as usize];
                names.occurrences[*at as usize] = (FileId(slot as u32), Sym(sym as u32));
                *at += 1;
            }
        }
        names
    }

    /// The file in a slot has other facts now.
    pub fn replace(&mut self, file: FileId, facts: &FileFacts) {
        self.have_moved = true;
        let Some(before) = self.globals.get_mut(file.index()).map(std::mem::take) else { return };
        let now: Box<[Name]> = facts.symbols.iter().map(|(_, text)| self.intern(text)).collect();
        let mut symbols: FxHashMap<Name, Sym> =
            now.iter().enumerate().map(|(sym, name)| (*name, Sym(sym as u32))).collect();
        for &name in &before {
            match symbols.remove(&name) {
                Some(sym) => self.renumber(name, file, sym),
                None => self.run_to_change(name).retain(|row| row.0 != file),
            }
        }
        for (name, sym) in symbols {
            let run = self.run_to_change(name);
            let at = run.partition_point(|row| row.0 < file);
            run.insert(at, (file, sym));
        }
        self.globals[file.index()] = now;
    }

    /// True if a file was replaced. The numbers may then differ from those of a reading of all files.
    pub fn have_moved(&self) -> bool {
        self.have_moved
    }

    /// Returns the name with this text, if any file has it.
    pub(super) fn name(&self, text: &str) -> Option<Name> {
        let known = self.table.find(FxBuildHasher.hash_one(text), |name| self.text(*name) == text).copied();
        known.filter(|&name| !self.occurrences(name).is_empty())
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

    /// Returns where a name occurs.
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

    fn intern(&mut self, text: &str) -> Name {
        let Names { texts, bounds, table, .. } = self;
        let of = |name: &Name| {
            let (start, end) = bounds[name.0 as usize];
            &texts[start..end]
        };
        let hash = FxBuildHasher.hash_one(text);
        match table.entry(hash, |name| of(name) == text, |name| FxBuildHasher.hash_one(of(name))) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                let name = Name(bounds.len() as u32);
                free.insert(name);
                let start = texts.len();
                texts.push_str(text);
                bounds.push((start, texts.len()));
                name
            }
        }
    }

    /// The name stands under another symbol of a file that bore it before.
    fn renumber(&mut self, name: Name, file: FileId, sym: Sym) {
        let run = match self.moved.get_mut(&name) {
            Some(run) => &mut run[..],
            None => match self.starts.get(name.0 as usize..).and_then(<[_]>::first_chunk) {
                Some([start, end]) => &mut self.occurrences[*start as usize..*end as usize],
                None => return,
            },
        };
        if let Ok(at) = run.binary_search_by_key(&file, |row| row.0) {
            run[at].1 = sym;
        }
    }

    fn run_to_change(&mut self, name: Name) -> &mut Vec<(FileId, Sym)> {
        let first = if self.moved.contains_key(&name) { Vec::new() } else { self.first_run(name).to_vec() };
        self.moved.entry(name).or_insert(first)
    }
}
