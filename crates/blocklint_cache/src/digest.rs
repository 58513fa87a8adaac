//! Hashes, which are the keys of the cache.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A hash of 128 bits: equal for equal bytes, and in practice only for those. It is not cryptographic, because an
/// attacker who can write the project's files does not need texts with equal hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Digest(pub u128);

impl Digest {
    /// Returns the digest of some bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Digest(xxh3_128(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

/// Computes the digest of many parts. The boundaries of the parts count.
#[derive(Default)]
pub struct Hasher(Xxh3);

impl Hasher {
    /// Returns a hasher without parts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part: `["ab", "c"]` and `["a", "bc"]` have different digests.
    pub fn add_part(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds a number.
    pub fn add_number(&mut self, number: u128) -> &mut Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    /// Returns the digest of the parts added so far.
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
    fn digests_depend_on_the_boundaries_of_parts() {
        let digest_of = |parts: &[&str]| {
            parts
                .iter()
                .fold(Hasher::new(), |mut all, part| {
                    all.add_part(part.as_bytes());
                    all
                })
                .digest()
        };
        assert_ne!(digest_of(&["ab", "c"]), digest_of(&["a", "bc"]));
        assert_ne!(digest_of(&["a"]), digest_of(&["a", ""]));
        assert_eq!(digest_of(&["a", "b"]), digest_of(&["a", "b"]));
    }
}
