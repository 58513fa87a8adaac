//! Tables of the answers about values that the linker keeps.

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

/// Assignments to an attribute of objects that are no receiver, with the object's class.
pub(crate) type ExternalAssigns = Rc<[(ClassRef, FileId, AssignId)]>;

/// Assignments to a name of modules, with the module.
pub(crate) type ModuleAssigns = Rc<[(FileId, FileId, AssignId)]>;

/// The answers about values.
#[derive(Default)]
pub(crate) struct ValueTables {
    /// Variables that are used in another body than their own.
    pub(crate) vars: Table<(VarRef, EnvId), Typed, Step>,
    /// The type that an alias stands for. It depends on the receiver, too.
    pub(crate) aliases: Table<ClassRef, Typed, UnkeptStep>,
    pub(crate) attrs: Table<(Val, Name), Typed, Step>,
    pub(crate) assigns: Table<(FileId, AssignId, EnvId), Typed, Step>,
    pub(crate) fields: Table<(ClassRef, Name), Typed, Step>,
    pub(crate) returns: Table<(BodyRef, EnvId), Typed, Step>,
    pub(crate) yields: Table<(BodyRef, EnvId), Typed, Step>,
    pub(crate) params: Table<VarRef, Typed, Step>,
    pub(crate) annotations: Table<(FileId, FormId, RegionId), Typed, Step>,
    pub(crate) imports: Table<(FileId, ImportId), Typed, Step>,
    /// Members that subclasses define.
    pub(crate) below: Table<(ClassRef, Name), Typed, Step>,
    /// Values kept in a component of a record, narrower than its declared type.
    pub(crate) components: Table<(VarRef, ValueId), Typed, Step>,
    /// Names by whether an attribute of that name is assigned anywhere.
    pub(crate) assigned_attrs: Table<Name, bool, Plain>,
    /// Assignments through objects that are no receiver. There are none while they are being looked at: an object may be typed by a field
    /// of the same name.
    pub(crate) external_assigns: Table<Name, ExternalAssigns, EmptyMeanwhile>,
    /// Python: assignments to names of modules from elsewhere: `settings.store = Store()`.
    pub(crate) module_assigns: Table<Name, ModuleAssigns, Plain>,
    /// Entries of literal tables: a table may name itself.
    pub(crate) literal_entries: Table<(FileId, FormId), Option<Typed>, UnkeptEmptyMeanwhile>,
    /// The sites of a file that may add to a container.
    pub(crate) additions: Table<FileId, Rc<Additions>, Plain>,
    pub(crate) adding_names: Table<Language, Rc<[Name]>, Plain>,
    /// The literals that fields always hold. Where one depends on itself it is not known.
    pub(crate) constant_fields: Table<VarRef, Option<Constant>, EmptyMeanwhile>,
    /// The literals that forms can be at sites.
    pub(crate) constants: Table<(SiteRef, FormId, EnvId), Rc<[ReachingConstant]>, Plain>,
}
