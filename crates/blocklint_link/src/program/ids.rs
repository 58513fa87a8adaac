//! References to rows of any file: slot and local index, so that replacing a file moves no other reference.

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
}

/// A body of some file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BodyRef {
    /// The file.
    pub file: FileId,
    /// The body in it.
    pub body: BodyId,
}

/// A class of some file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassRef {
    /// The file.
    pub file: FileId,
    /// The class in it.
    pub class: ClassId,
}

/// A site of some file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SiteRef {
    /// The file.
    pub file: FileId,
    /// The site in it.
    pub site: SiteId,
}

/// A variable of some file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VarRef {
    /// The file.
    pub file: FileId,
    /// The variable in it.
    pub var: VarId,
}

/// A name, the same in every file and model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub u32);

/// An interned path of a library, in its canonical spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);
