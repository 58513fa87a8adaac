//! Hashes under which things are kept.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// 128 bits over some bytes: equal for equal bytes, and in practice for those only. It does not protect against texts
/// that are made to have equal digests, because an attacker who can write the project's files has no need of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Digest(pub u128);

impl Digest {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(xxh3_128(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

/// A digest of many parts, each told apart from the next.
#[derive(Default)]
pub struct Hasher(Xxh3);

impl Hasher {
    /// Over nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part; `["ab", "c"]` and `["a", "bc"]` differ.
    pub fn part(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds a number.
    pub fn number(&mut self, number: u128) -> &mut Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    /// Of all that was added.
    pub fn digest(&self) -> Digest {
        Digest(self.0.digest128())
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Hasher")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart() {
        let of = |parts: &[&str]| {
            parts
                .iter()
                .fold(Hasher::new(), |mut all, part| {
                    all.part(part.as_bytes());
                    all
                })
                .digest()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
    }
}
