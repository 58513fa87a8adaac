//! References to rows of any file: slot and local index, so that replacing a file moves no other reference.
//!
//! The local index is private to `program`. An index means a row of one file only, and with the facts of another file
//! it would mean another row, or end the run. So a row is reached through its reference, which knows its file
//! ([`super::Program::body`] and its like), and a reference is made from an index by naming its file
//! ([`FileId::body_ref`] and its like).

use blocklint_facts::{BodyId, ClassId, SiteId, VarId};
use serde::{Deserialize, Serialize};

/// A file's slot in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId(pub u32);

impl FileId {
    /// Its index in the program's list of files.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the reference to a body of this file.
    pub fn body_ref(self, body: BodyId) -> BodyRef {
        BodyRef { file: self, body }
    }

    /// Returns the reference to a class of this file.
    pub fn class_ref(self, class: ClassId) -> ClassRef {
        ClassRef { file: self, class }
    }

    /// Returns the reference to a site of this file.
    pub fn site_ref(self, site: SiteId) -> SiteRef {
        SiteRef { file: self, site }
    }

    /// Returns the reference to a variable of this file.
    pub fn var_ref(self, var: VarId) -> VarRef {
        VarRef { file: self, var }
    }
}

/// A body of some file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BodyRef {
    /// The file.
    pub file: FileId,
    /// The body in it.
    pub(super) body: BodyId,
}

/// A class of some file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassRef {
    /// The file.
    pub file: FileId,
    /// The class in it.
    pub(super) class: ClassId,
}

/// A site of some file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SiteRef {
    /// The file.
    pub file: FileId,
    /// The site in it.
    pub(super) site: SiteId,
}

/// A variable of some file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VarRef {
    /// The file.
    pub file: FileId,
    /// The variable in it.
    pub(super) var: VarId,
}

/// Implements the traits that tables by number need.
macro_rules! numbered {
    ($($reference:ident by $id:ident,)*) => {$(
        impl $reference {
            /// Returns its index in the table of its file.
            pub fn index(self) -> usize {
                self.$id.index()
            }
        }
    )*};
}

numbered! {
    BodyRef by body,
    ClassRef by class,
    SiteRef by site,
    VarRef by var,
}

/// A name, the same in every file and model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub u32);

/// An interned path of a library, in its canonical spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);
