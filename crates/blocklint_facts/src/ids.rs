//! The ids of rows (`SiteId`, `BodyId`, …): typed indices into the tables of one file, and lists of them.

use serde::{Deserialize, Serialize};

/// Defines a `u32` index with a niche value for "none".
macro_rules! id {
    ($($(#[$meta:meta])* $name:ident,)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of no row.
            pub const NONE: $name = $name(u32::MAX);

            /// Returns the index into the table.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the id; `None` for [`Self::NONE`].
            pub fn get(self) -> Option<Self> {
                if self == Self::NONE { None } else { Some(self) }
            }

            /// True for [`Self::NONE`].
            pub fn is_none(self) -> bool {
                self == Self::NONE
            }

            /// True if this is the id of a row.
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
    /// The id of a string.
    Sym,
    /// The id of a form.
    FormId,
    /// The id of a body; 0 is the file's top level.
    BodyId,
    /// The id of a class, struct, enum, trait, interface, impl block or inline module.
    ClassId,
    /// The id of a site.
    SiteId,
    /// The id of a variable.
    VarId,
    /// The id of a region; the region of a whole body precedes those inside of it.
    RegionId,
    /// The id of an assignment.
    AssignId,
    /// The id of an import.
    ImportId,
}

/// A range of entries in [`crate::FileFacts::lists`], or of rows in another table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct List {
    /// Index of the first entry.
    pub start: u32,
    /// The number of entries.
    pub len: u32,
}

impl List {
    /// The empty range.
    pub const EMPTY: List = List { start: 0, len: 0 };

    /// Returns the range of indices.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }

    /// True if the range is empty.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}
