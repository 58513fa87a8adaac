//! Java: the linker's memo tables: names, overloads, build modules, event listeners, providers, deployments.

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

/// The memoized answers of queries about Java.
#[derive(Default)]
pub(crate) struct JavaTables<'a> {
    /// Values of names that neither their file nor an enclosing class binds.
    pub(crate) names: Table<(FileId, Sym), Typed, Plain>,
    /// The methods of libraries' interfaces that a lambda can implement.
    pub(crate) functional_names: OnceCell<FxHashSet<&'a str>>,
    /// True if a call may run several methods.
    pub(crate) several_targets: Table<SiteRef, bool, Plain>,
    /// True if a call may run an override of a derived class.
    pub(crate) override_targets: Table<(SiteRef, BodyRef), bool, Plain>,
    /// The names of types and of their supertypes.
    pub(crate) type_names: Table<Val, Option<Rc<str>>, Plain>,
    /// The qualified names of classes.
    pub(crate) class_names: Table<ClassRef, Rc<str>, Plain>,
    /// True for each name that is a member of a class, by the index of the name.
    pub(crate) member_names: OnceCell<Vec<bool>>,
    /// The number of lambdas that implement an interface.
    pub(crate) lambda_counts: Table<ClassRef, usize, Plain>,
    /// The modules of the project's build.
    pub(crate) build_modules: OnceCell<Modules>,
    /// The methods with an annotation, for event listeners.
    pub(crate) listeners: Table<PathId, Rc<[BodyRef]>, Plain>,
    /// The methods that make objects for a container.
    pub(crate) providers: OnceCell<Vec<Provider>>,
    /// The threads on which the project's classes are deployed.
    pub(crate) deployments: OnceCell<Deployments>,
    /// True if a module answers requests on a servlet container's threads, by its path.
    pub(crate) servlet_modules: Table<&'a str, bool, Plain>,
    /// True if a module imports or depends on a server that answers on event loops, by the module's path.
    pub(crate) event_loop_modules: Table<&'a str, bool, Plain>,
    /// The fields whose callables a method runs.
    pub(crate) run_fields: Table<BodyRef, Rc<[VarRef]>, Plain>,
    /// The paths of the project's classes that models describe.
    pub(crate) described_classes: Table<ClassRef, Option<PathId>, Plain>,
}
