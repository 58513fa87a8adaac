//! Arrays of records of fixed size that are read where they lie: opening a table does not touch them.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

/// A record that is so many words of 32 bits.
pub(super) trait Record: Sized {
    /// How many.
    const WORDS: usize;
    /// Gives its words in order.
    fn write(&self, put: impl FnMut(u32));
    /// Takes them: the word of an index below `WORDS`.
    fn read(word: impl Fn(usize) -> u32) -> Self;
}

impl Record for u32 {
    const WORDS: usize = 1;

    fn write(&self, mut put: impl FnMut(u32)) {
        put(*self);
    }

    fn read(word: impl Fn(usize) -> u32) -> Self {
        word(0)
    }
}

/// Records one behind the other, little end first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = ""))]
pub(super) struct Packed<R> {
    #[serde(borrow)]
    bytes: Cow<'static, [u8]>,
    #[serde(skip)]
    of: PhantomData<fn() -> R>,
}

impl<R: Record> Packed<R> {
    /// None.
    pub(super) fn empty() -> Self {
        Packed { bytes: Cow::Borrowed(&[]), of: PhantomData }
    }

    /// Packs records.
    pub(super) fn of(records: &[R]) -> Self {
        let mut bytes = Vec::with_capacity(records.len() * R::WORDS * 4);
        for record in records {
            record.write(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        }
        Packed { bytes: Cow::Owned(bytes), of: PhantomData }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / (R::WORDS * 4)
    }

    /// Returns the record of this index.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<R> {
        let size = R::WORDS * 4;
        let start = index.checked_mul(size)?;
        let bytes = self.bytes.get(start..start.checked_add(size)?)?;
        Some(R::read(|at| {
            bytes.get(at * 4..at * 4 + 4).map_or(0, |word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        }))
    }

    /// Returns all of them, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = R> + '_ {
        self.from(0)
    }

    /// Returns those from an index on.
    pub(super) fn from(&self, start: usize) -> impl Iterator<Item = R> + '_ {
        (start..self.len()).filter_map(|index| self.get(index))
    }

    /// Returns the first index whose record does not pass; those that do stand first.
    pub(super) fn partition_point(&self, passes: impl Fn(&R) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle) {
                Some(record) if passes(&record) => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::Packed;

    #[test]
    fn records_are_read_where_they_lie() {
        let packed = Packed::of(&[1_u32, 70_000, u32::MAX]);
        assert_eq!(packed.len(), 3);
        assert_eq!(packed.iter().collect::<Vec<_>>(), [1, 70_000, u32::MAX]);
        assert_eq!(packed.from(2).collect::<Vec<_>>(), [u32::MAX]);
        assert_eq!(packed.get(3), None);
        assert_eq!(packed.partition_point(|record| *record < 70_000), 1);
        assert_eq!(Packed::<u32>::empty().partition_point(|_| true), 0);
    }
}
