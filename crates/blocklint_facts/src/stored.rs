//! The serialisation of the large columns of facts for the cache: as bytes, which are copied and not decoded number by
//! number.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::table::{Column, Row, Table};

/// The first byte of a column with 16 bits for each number.
const NARROW: u8 = 2;
/// The first byte of a column with 32 bits for each number.
const WIDE: u8 = 4;

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(1 + self.heap_size());
        match self {
            Column::Narrow(words) => {
                bytes.push(NARROW);
                bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            }
            Column::Wide(words) => {
                bytes.push(WIDE);
                bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            }
        }
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, "a column of numbers", |bytes| {
            let (width, rest) = bytes.split_first()?;
            match *width {
                NARROW => {
                    let (words, rest) = rest.as_chunks();
                    rest.is_empty()
                        .then(|| Column::Narrow(words.iter().map(|word| u16::from_le_bytes(*word)).collect()))
                }
                WIDE => {
                    let (words, rest) = rest.as_chunks();
                    rest.is_empty().then(|| Column::Wide(words.iter().map(|word| u32::from_le_bytes(*word)).collect()))
                }
                _ => None,
            }
        })
    }
}

impl<R: Row> Serialize for Table<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.words().serialize(serializer)
    }
}

impl<'de, R: Row> Deserialize<'de> for Table<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Column::deserialize(deserializer)?;
        Table::from_words(words).ok_or_else(|| D::Error::custom("a row is cut"))
    }
}

/// The serialisation of bytes, without a change.
pub(crate) mod bytes {
    use super::{Deserializer, Serializer, read};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<[u8]>, D::Error> {
        read(deserializer, "bytes", |bytes| Some(bytes.into()))
    }
}

/// The serialisation of the entries of lists, as a column of numbers.
pub(crate) mod forms {
    use super::{Column, Deserialize, Deserializer, Serialize, Serializer};
    use crate::FormId;

    pub(crate) fn serialize<S: Serializer>(forms: &[FormId], serializer: S) -> Result<S::Ok, S::Error> {
        let words = forms.iter().map(|form| form.0).collect::<Vec<_>>();
        Column::pack(&words).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FormId>, D::Error> {
        let words = Column::deserialize(deserializer)?;
        Ok((0..words.len()).map(|index| FormId(words.at(index))).collect())
    }
}

/// Deserialises bytes by a function, which returns `None` for invalid bytes. `expected` is for the error message.
fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    decode: impl Fn(&[u8]) -> Option<T>,
) -> Result<T, D::Error> {
    struct Bytes<T, F> {
        expected: &'static str,
        decode: F,
        value: PhantomData<T>,
    }
    impl<T, F: Fn(&[u8]) -> Option<T>> Visitor<'_> for Bytes<T, F> {
        type Value = T;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(self.expected)
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
            (self.decode)(bytes).ok_or_else(|| E::custom("bytes that no table has"))
        }
    }
    deserializer.deserialize_bytes(Bytes { expected, decode, value: PhantomData })
}
