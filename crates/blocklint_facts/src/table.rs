//! Tables of packed rows (`Table`): words of 16 bits if all numbers of the table fit, as in most files, otherwise of 32
//! bits.
//!
//! Rows are packed because the facts of all files are in memory together, and most of their numbers are small.

use std::fmt;
use std::marker::PhantomData;

use smallvec::SmallVec;

/// A column of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Numbers below `u16::MAX`; `u16::MAX` means `u32::MAX`.
    Narrow(Box<[u16]>),
    /// Numbers of any size.
    Wide(Box<[u32]>),
}

impl Default for Column {
    fn default() -> Self {
        Column::Narrow(Box::default())
    }
}

impl Column {
    pub(crate) fn pack(words: &[u32]) -> Self {
        // Adding one turns `u32::MAX` (the id of no row) into 0. The union of all bits then shows if all numbers fit.
        let bits = words.iter().fold(0, |bits: u32, &word| bits | word.wrapping_add(1));
        if bits <= u32::from(u16::MAX) {
            Column::Narrow(words.iter().map(|&word| word as u16).collect())
        } else {
            Column::Wide(words.into())
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Column::Narrow(words) => words.len(),
            Column::Wide(words) => words.len(),
        }
    }

    #[inline]
    pub(crate) fn at(&self, index: usize) -> u32 {
        match self {
            Column::Narrow(words) => widen(words[index]),
            Column::Wide(words) => words[index],
        }
    }

    pub(crate) fn heap_size(&self) -> usize {
        match self {
            Column::Narrow(words) => size_of_val(&**words),
            Column::Wide(words) => size_of_val(&**words),
        }
    }
}

#[inline]
fn widen(word: u16) -> u32 {
    if word == u16::MAX { u32::MAX } else { u32::from(word) }
}

/// A row that can be packed into words.
pub trait Row: Copy {
    /// The number of words of a row.
    const WORDS: usize;

    /// Appends the words of the row.
    fn write(self, words: &mut Vec<u32>);

    /// Returns the row whose n-th word is `word(n)`; an arbitrary row for invalid words.
    fn read(word: impl Fn(usize) -> u32) -> Self;
}

/// A table of rows of one kind; a row is unpacked at each access.
#[derive(Clone, PartialEq, Eq)]
pub struct Table<R> {
    words: Column,
    rows: PhantomData<R>,
}

impl<R> Default for Table<R> {
    fn default() -> Self {
        Table { words: Column::default(), rows: PhantomData }
    }
}

impl<R: Row> Table<R> {
    /// Returns a table of these rows; `scratch` is overwritten.
    pub(crate) fn pack(rows: impl IntoIterator<Item = R>, scratch: &mut Vec<u32>) -> Self {
        scratch.clear();
        for row in rows {
            row.write(scratch);
        }
        Table { words: Column::pack(scratch), rows: PhantomData }
    }

    /// Returns the number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len() / R::WORDS
    }

    /// True if the table is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.len() == 0
    }

    /// Returns the row at an index; panics if the index is out of bounds, like a slice.
    #[inline]
    pub fn at(&self, index: usize) -> R {
        let range = index * R::WORDS..(index + 1) * R::WORDS;
        match &self.words {
            Column::Narrow(words) => {
                let words = &words[range];
                R::read(|word| widen(words[word]))
            }
            Column::Wide(words) => {
                let words = &words[range];
                R::read(|word| words[word])
            }
        }
    }

    /// Returns the row at an index; `None` if the index is out of bounds.
    #[inline]
    pub fn get(&self, index: usize) -> Option<R> {
        (index < self.len()).then(|| self.at(index))
    }

    /// Returns the rows in a range of indices; panics if it is out of bounds.
    pub fn slice<const N: usize>(&self, range: std::ops::Range<usize>) -> SmallVec<[R; N]> {
        range.map(|index| self.at(index)).collect()
    }

    /// Returns all rows, in order.
    #[inline]
    pub fn iter(&self) -> Rows<'_, R> {
        Rows { table: self, next: 0, end: self.len() }
    }

    pub(crate) fn heap_size(&self) -> usize {
        self.words.heap_size()
    }

    /// Returns the numbers of the table, for serialisation.
    pub(crate) fn words(&self) -> &Column {
        &self.words
    }

    /// Returns the table with these numbers; `None` if the last row is incomplete.
    pub(crate) fn from_words(words: Column) -> Option<Self> {
        words.len().is_multiple_of(R::WORDS).then_some(Table { words, rows: PhantomData })
    }
}

impl<R: Row + fmt::Debug> fmt::Debug for Table<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self).finish()
    }
}

impl<'a, R: Row> IntoIterator for &'a Table<R> {
    type Item = R;
    type IntoIter = Rows<'a, R>;

    fn into_iter(self) -> Rows<'a, R> {
        self.iter()
    }
}

/// The rows of a table, unpacked one by one.
pub struct Rows<'a, R> {
    table: &'a Table<R>,
    next: usize,
    end: usize,
}

impl<R> Clone for Rows<'_, R> {
    fn clone(&self) -> Self {
        Rows { ..*self }
    }
}

impl<R: Row> Iterator for Rows<'_, R> {
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        (self.next < self.end).then(|| {
            self.next += 1;
            self.table.at(self.next - 1)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.end - self.next, Some(self.end - self.next))
    }
}

impl<R: Row> DoubleEndedIterator for Rows<'_, R> {
    #[inline]
    fn next_back(&mut self) -> Option<R> {
        (self.next < self.end).then(|| {
            self.end -= 1;
            self.table.at(self.end)
        })
    }
}

impl<R: Row> ExactSizeIterator for Rows<'_, R> {}

impl Row for u32 {
    const WORDS: usize = 1;

    fn write(self, words: &mut Vec<u32>) {
        words.push(self);
    }

    #[inline]
    fn read(word: impl Fn(usize) -> u32) -> Self {
        word(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_as_wide_as_its_largest_number() {
        for (largest, bytes) in [(0, 2), (0xFFFE, 2), (0xFFFF, 4), (0x1_0000, 4), (u32::MAX - 1, 4)] {
            let rows = [7, largest, u32::MAX];
            let table = Table::pack(rows, &mut vec![1]);
            assert_eq!(table.heap_size(), 3 * bytes, "{largest:#x}");
            assert_eq!(table.iter().collect::<Vec<_>>(), rows);
            assert_eq!(table.iter().rev().collect::<Vec<_>>(), [u32::MAX, largest, 7]);
            assert_eq!((table.len(), table.get(1), table.get(3)), (3, Some(largest), None));
        }
    }
}
