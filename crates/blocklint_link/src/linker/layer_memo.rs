//! Places that the linker lends to the layers above it for their answers about one program.

use std::any::{Any, TypeId};

use elsa::FrozenMap;
use rustc_hash::FxBuildHasher;

/// Answers that layers above the linker keep for one program, by their type. The linker lends them a place and does not know them.
#[derive(Default)]
pub(crate) struct LayerMemos(FrozenMap<TypeId, Box<dyn Any>, FxBuildHasher>);

impl LayerMemos {
    /// Returns the answers of type `T`, which are empty when they are first asked for.
    pub(crate) fn of<T: Default + Any>(&self) -> &T {
        let key = TypeId::of::<T>();
        let kept = self.0.get(&key).unwrap_or_else(|| self.0.insert(key, Box::new(T::default())));
        kept.downcast_ref().expect("the key is the type")
    }
}
