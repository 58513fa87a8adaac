//! Arrays of records of fixed size (`Packed`) that are read in place, so that opening a table decodes none of them.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

/// A record of a fixed number of 32-bit words.
pub(super) trait Record: Sized {
    /// The number of words.
    const WORDS: usize;
    /// Calls `put` with each word, in order.
    fn write(&self, put: impl FnMut(u32));
    /// Returns the record of these words; `word` returns the word with an index below `WORDS`.
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

/// An array of records as bytes, in little-endian order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = ""))]
pub(super) struct Packed<R> {
    #[serde(borrow)]
    bytes: Cow<'static, [u8]>,
    #[serde(skip)]
    record: PhantomData<fn() -> R>,
}

impl<R: Record> Packed<R> {
    /// Returns an array without records.
    pub(super) fn empty() -> Self {
        Packed { bytes: Cow::Borrowed(&[]), record: PhantomData }
    }

    /// Encodes records.
    pub(super) fn encode(records: &[R]) -> Self {
        let mut bytes = Vec::with_capacity(records.len() * R::WORDS * 4);
        for record in records {
            record.write(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        }
        Packed { bytes: Cow::Owned(bytes), record: PhantomData }
    }

    /// Returns the number of records.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / (R::WORDS * 4)
    }

    /// Returns the record with this index.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<R> {
        let size = R::WORDS * 4;
        let start = index.checked_mul(size)?;
        let bytes = self.bytes.get(start..start.checked_add(size)?)?;
        Some(R::read(|index| {
            bytes
                .get(index * 4..index * 4 + 4)
                .map_or(0, |word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        }))
    }

    /// Returns all records, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = R> + '_ {
        self.iter_from(0)
    }

    /// Returns the records from an index on.
    pub(super) fn iter_from(&self, start: usize) -> impl Iterator<Item = R> + '_ {
        (start..self.len()).filter_map(|index| self.get(index))
    }

    /// Returns the first index whose record does not satisfy the predicate; all records before it do.
    pub(super) fn partition_point(&self, predicate: impl Fn(&R) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle) {
                Some(record) if predicate(&record) => low = middle + 1,
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
    fn records_are_read_in_place() {
        let packed = Packed::encode(&[1_u32, 70_000, u32::MAX]);
        assert_eq!(packed.len(), 3);
        assert_eq!(packed.iter().collect::<Vec<_>>(), [1, 70_000, u32::MAX]);
        assert_eq!(packed.iter_from(2).collect::<Vec<_>>(), [u32::MAX]);
        assert_eq!(packed.get(3), None);
        assert_eq!(packed.partition_point(|record| *record < 70_000), 1);
        assert_eq!(Packed::<u32>::empty().partition_point(|_| true), 0);
    }
}
