//! References to rows of any file: the file's slot and the index in its table. Replacing a file keeps the references to
//! all other files valid.
//!
//! The index is private to `program`, because an index is valid only with the facts of its own file. Code above reads a
//! row through its reference ([`super::Program::body`], [`super::Program::site`]) and makes a reference from an index
//! and its file ([`FileId::body_ref`], [`FileId::site_ref`]).

use blocklint_facts::{BodyId, ClassId, SiteId, VarId};
use serde::{Deserialize, Serialize};

/// A file's slot in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId(pub u32);

impl FileId {
    /// Returns the index in the program's list of files.
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

/// Implements the method `index` of references.
macro_rules! impl_index {
    ($($reference:ident by $id:ident,)*) => {$(
        impl $reference {
            /// Returns the index in the table of its file.
            pub fn index(self) -> usize {
                self.$id.index()
            }
        }
    )*};
}

impl_index! {
    BodyRef by body,
    ClassRef by class,
    SiteRef by site,
    VarRef by var,
}

/// An interned name. Equal names of different files and models are the same `Name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub u32);

/// An interned path of a library in its canonical spelling: `os.path.join`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);
