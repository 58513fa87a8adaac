//! Storage in the linker for memo tables of the layers above it, which live as long as the linker of one program.

use std::any::{Any, TypeId};

use elsa::FrozenMap;
use rustc_hash::FxBuildHasher;

/// The memo tables of layers above the linker, by their type. The linker stores them and does not know their content.
#[derive(Default)]
pub(crate) struct LayerMemos(FrozenMap<TypeId, Box<dyn Any>, FxBuildHasher>);

impl LayerMemos {
    /// Returns the memo table of type `T`, which is empty at the first call.
    pub(crate) fn get<T: Default + Any>(&self) -> &T {
        let key = TypeId::of::<T>();
        let memo = self.0.get(&key).unwrap_or_else(|| self.0.insert(key, Box::new(T::default())));
        memo.downcast_ref().expect("the key is the type")
    }
}
