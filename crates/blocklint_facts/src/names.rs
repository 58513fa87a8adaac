//! Each string of a file once.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::Sym;
use crate::draft::Strings;

/// Finds the symbol of a string: a table of symbols by hash, with the strings themselves only in [`Strings`].
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// A symbol plus one, or nothing; the length is a power of two.
    slots: Vec<u32>,
    hashes: Vec<u32>,
}

const SLOTS: usize = 512;

impl Names {
    /// Returns the symbol of the string, which is added if it is new.
    pub(crate) fn intern(&mut self, text: &str, symbols: &mut Strings) -> Sym {
        if (self.hashes.len() + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        let mut hasher = FxHasher::default();
        hasher.write(text.as_bytes());
        let hash = hasher.finish() as u32;
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(found) = self.slots[at].checked_sub(1) {
            if self.hashes[found as usize] == hash && symbols.get(Sym(found)) == text {
                return Sym(found);
            }
            at = (at + 1) & mask;
        }
        let sym = symbols.ends.len() as u32;
        symbols.text.push_str(text);
        symbols.ends.push(symbols.text.len() as u32);
        self.hashes.push(hash);
        self.slots[at] = sym + 1;
        Sym(sym)
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(SLOTS);
        self.slots.clear();
        self.slots.resize(len, 0);
        for (sym, &hash) in self.hashes.iter().enumerate() {
            let mut at = hash as usize & (len - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = sym as u32 + 1;
        }
    }

    /// Forgets all strings.
    pub(crate) fn clear(&mut self) {
        self.hashes.clear();
        self.slots.clear();
        self.slots.resize(SLOTS, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_strings_keep_their_symbols_when_the_table_grows() {
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
