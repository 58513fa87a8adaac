//! Answers that are remembered.

use std::cell::RefCell;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// What is known for a key, or what is found now. Finding may ask for other keys of the same.
pub(crate) fn remembered<K: Eq + Hash, V: Copy>(
    known: &RefCell<FxHashMap<K, V>>,
    key: K,
    find: impl FnOnce() -> V,
) -> V {
    if let Some(&known) = known.borrow().get(&key) {
        return known;
    }
    let found = find();
    known.borrow_mut().insert(key, found);
    found
}
