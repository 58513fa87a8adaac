//! Answers that are remembered.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::hash::Hash;

use elsa::FrozenMap;
use rustc_hash::FxHashMap;

/// What is known for a key, or what is found now. Finding may ask for other keys of the same.
pub fn remembered<K: Eq + Hash, V: Copy>(known: &RefCell<FxHashMap<K, V>>, key: K, find: impl FnOnce() -> V) -> V {
    if let Some(&known) = known.borrow().get(&key) {
        return known;
    }
    let found = find();
    known.borrow_mut().insert(key, found);
    found
}

/// Answers that layers above the linker keep for one program, by their type. The linker lends them a place and does not know them.
#[derive(Default)]
pub(crate) struct LayerMemos(FrozenMap<TypeId, Box<dyn Any>>);

impl LayerMemos {
    /// Returns the answers of type `T`, which are empty when they are first asked for.
    pub(crate) fn of<T: Default + Any>(&self) -> &T {
        let key = TypeId::of::<T>();
        let kept = self.0.get(&key).unwrap_or_else(|| self.0.insert(key, Box::new(T::default())));
        kept.downcast_ref().expect("the key is the type")
    }
}
