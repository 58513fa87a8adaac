//! The interner of a file's strings (`Names`): it returns the symbol of a string, and stores each string once.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::Sym;
use crate::draft::Strings;

/// A hash table from strings to symbols; the strings are stored only in [`Strings`].
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The symbol plus one, or 0 for an empty slot; the length is a power of two.
    slots: Vec<u32>,
    hashes: Vec<u32>,
}

const MIN_SLOTS: usize = 512;

impl Names {
    /// Returns the symbol of a string; a new string is added.
    pub(crate) fn intern(&mut self, text: &str, symbols: &mut Strings) -> Sym {
        if (self.hashes.len() + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        let mut hasher = FxHasher::default();
        hasher.write(text.as_bytes());
        let hash = hasher.finish() as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(sym) = self.slots[slot].checked_sub(1) {
            if self.hashes[sym as usize] == hash && symbols.get(Sym(sym)) == text {
                return Sym(sym);
            }
            slot = (slot + 1) & mask;
        }
        let sym = symbols.ends.len() as u32;
        symbols.text.push_str(text);
        symbols.ends.push(symbols.text.len() as u32);
        self.hashes.push(hash);
        self.slots[slot] = sym + 1;
        Sym(sym)
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(MIN_SLOTS);
        self.slots.clear();
        self.slots.resize(len, 0);
        for (sym, &hash) in self.hashes.iter().enumerate() {
            let mut slot = hash as usize & (len - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = sym as u32 + 1;
        }
    }

    /// Removes all strings.
    pub(crate) fn clear(&mut self) {
        self.hashes.clear();
        self.slots.clear();
        self.slots.resize(MIN_SLOTS, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_symbols_when_the_table_grows() {
        let (mut names, mut symbols) = (Names::default(), Strings::default());
        let texts: Vec<String> = (0..5_000).map(|at| format!("name{at}")).collect();
        let syms: Vec<Sym> = texts.iter().map(|text| names.intern(text, &mut symbols)).collect();
        for (text, &sym) in texts.iter().zip(&syms) {
            assert_eq!(names.intern(text, &mut symbols), sym);
            assert_eq!(symbols.get(sym), text);
        }
        names.clear();
        let mut symbols = Strings::default();
        assert_eq!(names.intern("name7", &mut symbols), Sym(0));
        assert_eq!(names.intern("", &mut symbols), Sym(1));
        assert_eq!(names.intern("", &mut symbols), Sym(1));
    }
}
