//! The memo tables of queries about values.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AssignId, FormId, ImportId, RegionId};

use crate::effect::constant::Constant;
use crate::linker::Typed;
use crate::linker::query::{EmptyMeanwhile, Plain, Step, Table, UnkeptEmptyMeanwhile, UnkeptStep};
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef, VarRef};
use crate::values::container_elements::Additions;
use crate::values::reaching_constants::ReachingConstant;
use crate::values::value::{EnvId, Val, ValueId};

/// Assignments to an attribute through objects other than the receiver: the object's class, the file, the assignment.
pub(crate) type ExternalAssigns = Rc<[(ClassRef, FileId, AssignId)]>;

/// Assignments to a name of modules in other files: the module, the assigning file, the assignment.
pub(crate) type ModuleAssigns = Rc<[(FileId, FileId, AssignId)]>;

/// The memo tables of queries about values.
#[derive(Default)]
pub(crate) struct ValueTables {
    /// The values of variables that are used in a body other than their own.
    pub(crate) vars: Table<(VarRef, EnvId), Typed, Step>,
    /// The types behind type aliases; not kept, because they also depend on the receiver.
    pub(crate) aliases: Table<ClassRef, Typed, UnkeptStep>,
    pub(crate) attrs: Table<(Val, Name), Typed, Step>,
    pub(crate) assigns: Table<(FileId, AssignId, EnvId), Typed, Step>,
    pub(crate) fields: Table<(ClassRef, Name), Typed, Step>,
    pub(crate) returns: Table<(BodyRef, EnvId), Typed, Step>,
    pub(crate) yields: Table<(BodyRef, EnvId), Typed, Step>,
    pub(crate) params: Table<VarRef, Typed, Step>,
    pub(crate) annotations: Table<(FileId, FormId, RegionId), Typed, Step>,
    pub(crate) imports: Table<(FileId, ImportId), Typed, Step>,
    /// The values of members that subclasses define.
    pub(crate) subclass_members: Table<(ClassRef, Name), Typed, Step>,
    /// The values of components of records, which are narrower than their declared types (Java).
    pub(crate) components: Table<(VarRef, ValueId), Typed, Step>,
    /// True for names of attributes that are assigned anywhere.
    pub(crate) assigned_attrs: Table<Name, bool, Plain>,
    /// Assignments through objects other than the receiver. The list is empty while it is computed, because the type of
    /// an object may depend on a field of the same name.
    pub(crate) external_assigns: Table<Name, ExternalAssigns, EmptyMeanwhile>,
    /// Assignments in other files to names of modules: `settings.store = Store()` (Python).
    pub(crate) module_assigns: Table<Name, ModuleAssigns, Plain>,
    /// Entries of literal tables; not kept, because a table may refer to itself.
    pub(crate) literal_entries: Table<(FileId, FormId), Option<Typed>, UnkeptEmptyMeanwhile>,
    /// The sites of a file that may add to a container.
    pub(crate) additions: Table<FileId, Rc<Additions>, Plain>,
    pub(crate) adding_names: Table<Language, Rc<[Name]>, Plain>,
    /// The literals that fields always have. A field that depends on itself has none.
    pub(crate) constant_fields: Table<VarRef, Option<Constant>, EmptyMeanwhile>,
    /// The constants that forms may have at sites.
    pub(crate) constants: Table<(SiteRef, FormId, EnvId), Rc<[ReachingConstant]>, Plain>,
}
