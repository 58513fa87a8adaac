//! Tables of the answers about Java that the linker keeps.

use std::cell::OnceCell;
use std::rc::Rc;

use blocklint_facts::Sym;
use rustc_hash::FxHashSet;

use crate::lang::java::build_modules::Modules;
use crate::lang::java::deployment::Deployments;
use crate::lang::java::injection::Provider;
use crate::linker::Typed;
use crate::linker::query::{Plain, Table};
use crate::program::ids::{BodyRef, ClassRef, FileId, PathId, SiteRef, VarRef};
use crate::values::value::Val;

/// The answers about Java.
#[derive(Default)]
pub(crate) struct JavaTables<'a> {
    /// Values of names that neither their file nor a class around binds.
    pub(crate) names: Table<(FileId, Sym), Typed, Plain>,
    /// The methods of libraries' interfaces that a lambda can implement.
    pub(crate) functional_names: OnceCell<FxHashSet<&'a str>>,
    /// True if a call may mean several methods.
    pub(crate) means_several: Table<SiteRef, bool, Plain>,
    /// True if a call means a method of a derived class.
    pub(crate) means_override: Table<(SiteRef, BodyRef), bool, Plain>,
    /// The names of types and of their supertypes.
    pub(crate) type_names: Table<Val, Option<Rc<str>>, Plain>,
    /// The qualified names of classes.
    pub(crate) class_names: Table<ClassRef, Rc<str>, Plain>,
    /// The names of members that classes have, by name.
    pub(crate) member_names: OnceCell<Vec<bool>>,
    /// How many lambdas implement an interface.
    pub(crate) lambdas: Table<ClassRef, usize, Plain>,
    /// The modules of the project's build.
    pub(crate) build_modules: OnceCell<Modules>,
    /// The methods with an annotation that makes them run during calls.
    pub(crate) listeners: Table<PathId, Rc<[BodyRef]>, Plain>,
    /// The methods that make objects for a container.
    pub(crate) providers: OnceCell<Vec<Provider>>,
    /// Where the project's classes are deployed.
    pub(crate) deployments: OnceCell<Deployments>,
    /// True if a module answers requests on a servlet container's threads, by its path.
    pub(crate) servlets: Table<&'a str, bool, Plain>,
    /// True if something shows that a module answers requests on event loops, by its path.
    pub(crate) on_loops: Table<&'a str, bool, Plain>,
    /// The fields whose callables methods run.
    pub(crate) fields_run: Table<BodyRef, Rc<[VarRef]>, Plain>,
    /// The types of models that classes of the project are.
    pub(crate) modelled_classes: Table<ClassRef, Option<PathId>, Plain>,
}
