//! Tables of the answers about classes that the linker keeps.

use std::rc::Rc;

use blocklint_facts::{BodyId, VarId};

use crate::classes::hierarchy::Mro;
use crate::classes::method_kind::MethodKind;
use crate::linker::query::{Plain, Step, Table};
use crate::program::ids::{BodyRef, ClassRef, FileId, Name};
use crate::values::value::Val;

/// Functions by their variables, sorted.
pub(crate) type Functions = Rc<[(VarId, BodyId)]>;

/// The answers about classes.
#[derive(Default)]
pub(crate) struct ClassTables {
    pub(crate) bases: Table<ClassRef, Rc<[Val]>, Step>,
    pub(crate) mros: Table<ClassRef, Rc<Mro>, Step>,
    /// The classes that name one as a base.
    pub(crate) derived: Table<ClassRef, Rc<[ClassRef]>, Plain>,
    pub(crate) overrides: Table<(ClassRef, Name), Rc<[BodyRef]>, Plain>,
    /// The functions of a file by the variables that hold them.
    pub(crate) functions: Table<FileId, Functions, Plain>,
    pub(crate) method_kinds: Table<BodyRef, MethodKind, Plain>,
}
