//! Typed indices into the tables of one file.

use serde::{Deserialize, Serialize};

/// Defines a `u32` index with a value that stands for "there is none".
macro_rules! id {
    ($($(#[$meta:meta])* $name:ident,)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// There is none.
            pub const NONE: $name = $name(u32::MAX);

            /// Returns the index, for the table it belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// `None` for [`Self::NONE`].
            pub fn get(self) -> Option<Self> {
                if self == Self::NONE { None } else { Some(self) }
            }

            /// True if there is none.
            pub fn is_none(self) -> bool {
                self == Self::NONE
            }

            /// True if there is one.
            pub fn is_some(self) -> bool {
                self != Self::NONE
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::NONE
            }
        }
    )*};
}

id! {
    /// A string of this file.
    Sym,
    /// A form.
    FormId,
    /// A body; 0 is the file's top level.
    BodyId,
    /// A class, struct, enum, trait, interface, impl block or inline module.
    ClassId,
    /// A site.
    SiteId,
    /// A variable.
    VarId,
    /// A region; the regions of a body follow its own.
    RegionId,
    /// An assignment.
    AssignId,
    /// An import.
    ImportId,
}

/// A run of entries in [`crate::FileFacts::lists`], or of rows in another table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct List {
    /// Index of the first.
    pub start: u32,
    /// How many.
    pub len: u32,
}

impl List {
    /// Nothing.
    pub const EMPTY: List = List { start: 0, len: 0 };

    /// Returns it as a range of indices.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }

    /// True if nothing is in it.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}
