//! Answers that are remembered.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::hash::Hash;

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

/// What a layer above the linker remembers of one program. The linker lends it a place and does not know what it is.
pub trait Remembers: Default + Any {
    /// The place, below [`PLACES`]; each layer has one of its own.
    const PLACE: usize;
}

const PLACES: usize = 3;

/// The places of the layers above.
#[derive(Default)]
pub(crate) struct Above([OnceCell<Box<dyn Any>>; PLACES]);

impl Above {
    /// What a layer remembers.
    pub(crate) fn of<T: Remembers>(&self) -> &T {
        let kept = self.0[T::PLACE].get_or_init(|| Box::new(T::default()));
        kept.downcast_ref().expect("each layer has a place of its own")
    }
}
