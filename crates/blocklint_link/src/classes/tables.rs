//! The memo tables of queries about classes.

use std::rc::Rc;

use blocklint_facts::{BodyId, VarId};

use crate::classes::hierarchy::Mro;
use crate::classes::method_kind::MethodKind;
use crate::linker::query::{Plain, Step, Table};
use crate::program::ids::{BodyRef, ClassRef, FileId, Name};
use crate::values::value::Val;

/// The functions of a file, sorted by the variable to which their definition binds them.
pub(crate) type Functions = Rc<[(VarId, BodyId)]>;

/// The memo tables of queries about classes.
#[derive(Default)]
pub(crate) struct ClassTables {
    pub(crate) bases: Table<ClassRef, Rc<[Val]>, Step>,
    pub(crate) mros: Table<ClassRef, Rc<Mro>, Step>,
    /// The direct subclasses of a class.
    pub(crate) derived: Table<ClassRef, Rc<[ClassRef]>, Plain>,
    pub(crate) overrides: Table<(ClassRef, Name), Rc<[BodyRef]>, Plain>,
    /// The functions of each file, by variable.
    pub(crate) functions: Table<FileId, Functions, Plain>,
    /// By class: true if it is a test double by its name, and only tests name it.
    pub(crate) doubles: Table<ClassRef, bool, Plain>,
    pub(crate) method_kinds: Table<BodyRef, MethodKind, Plain>,
}
