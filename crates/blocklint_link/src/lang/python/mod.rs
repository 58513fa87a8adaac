//! Python semantics: name lookup, imports, members, implicit calls and builtin functions, as an implementation of
//! [`Semantics`].

pub(crate) mod arity;
pub(crate) mod assigned;
pub(crate) mod async_use;
pub(crate) mod builtin_calls;
pub mod builtins;
pub mod conventions;
pub(crate) mod coroutine_check;
pub(crate) mod data_class;
pub(crate) mod descriptors;
pub(crate) mod empty_container;
pub(crate) mod enum_member;
pub(crate) mod implicit_calls;
pub(crate) mod kwargs;
pub mod monkey_patch;
pub mod names;
pub(crate) mod none_check;
pub(crate) mod overloads;
pub mod protocols;
pub(crate) mod request_models;
pub(crate) mod tables;
pub(crate) mod words;

use blocklint_core::Runtime;
use blocklint_facts::{Assign, FormId, ImportId, RegionId, Sym, VarId};

use crate::calls::targets::Targets;
use crate::guards::loop_multiplier::{Rounds, iterates_over_varargs};
use crate::lang::Semantics;
use crate::lang::implicit::ImplicitCall;
use crate::lang::words::LanguageWords;
use crate::linker::{Linker, Typed};
use crate::models::entry_registration::imports;
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The implementation of [`Semantics`] for Python.
pub(crate) struct Python;

impl Semantics for Python {
    fn words(&self) -> &'static LanguageWords {
        &words::WORDS
    }

    fn unbound_name(&self, linker: &Linker<'_>, scope: Scope, sym: Sym) -> Typed {
        names::free_name(linker, scope.file, sym)
    }

    fn import(&self, linker: &Linker<'_>, file: FileId, import: ImportId) -> Typed {
        names::import(linker, file, import)
    }

    fn callee(&self, linker: &Linker<'_>, scope: Scope, site: SiteRef) -> Typed {
        linker.eval(scope, linker.program.site(site).callee)
    }

    fn callees_that_fit_use(&self, linker: &Linker<'_>, callee: Typed, site: SiteRef, env: EnvId) -> Typed {
        linker.callees_that_fit_use(callee, site, env)
    }

    fn can_take_arguments(&self, linker: &Linker<'_>, callee: Val, site: SiteRef) -> bool {
        linker.can_take_arguments(callee, site)
    }

    fn module_name(&self, linker: &Linker<'_>, file: FileId) -> String {
        names::module_name(linker, file)
    }

    fn path_member(&self, linker: &Linker<'_>, owner: Val, name: Name) -> Typed {
        linker.attr(owner, name)
    }

    fn module_member(&self, linker: &Linker<'_>, module: FileId, name: Name) -> Typed {
        names::module_member(linker, module, name)
    }

    fn member_of_instance(&self, linker: &Linker<'_>, instance: Val, name: Name, own: Typed) -> Typed {
        match instance {
            Val::Instance { class, exact: false, .. } => linker.with_subclass_members(class, name, own),
            _ => own,
        }
    }

    /// Returns a class attribute that is `None` in the class, with the values assigned from outside:
    /// `Base.client = Client()`, `cls.client = Client()`.
    fn member_of_class(&self, linker: &Linker<'_>, class: ClassRef, name: Name, own: Typed) -> Typed {
        if !linker.is_only_none(own) {
            return own;
        }
        let assigned = linker.field(class, name);
        let own = if linker.values.is_unknown(assigned.value) { own } else { linker.join(&[own, assigned]) };
        linker.with_subclass_members(class, name, own)
    }

    fn descriptor_value(&self, linker: &Linker<'_>, owner: ClassRef, var: VarId) -> Option<Typed> {
        linker.descriptor_value(owner, var)
    }

    fn implicit_calls(&self) -> &'static [ImplicitCall] {
        implicit_calls::IMPLICIT_CALLS
    }

    fn rows_are_alternatives(&self, targets: &Targets) -> bool {
        targets.one_of
    }

    fn builtin_result(&self, linker: &Linker<'_>, path: &str, site: SiteRef, env: EnvId) -> Option<Typed> {
        linker.python_builtin(path, site, env)
    }

    fn iterates_over_arguments(&self, linker: &Linker<'_>, site: SiteRef, env: EnvId) -> bool {
        !linker.iterated_arguments(site, env).is_empty()
    }

    fn first_param(&self, linker: &Linker<'_>, param: VarRef) -> Option<Typed> {
        linker.receiver_of(param)
    }

    fn assigned_by_other_files(&self, linker: &Linker<'_>, file: FileId, var: VarId) -> Option<Typed> {
        linker.assigned_by_other_files(file, var)
    }

    fn refine_by_value(&self, linker: &Linker<'_>, scope: Scope, _declared: Typed, row: &Assign) -> Option<Typed> {
        linker.literal_list_value(scope, row)
    }

    fn calls_declared_type(&self, linker: &Linker<'_>, file: FileId, declared: Val, value: FormId) -> bool {
        linker.calls_declared_type(file, declared, value)
    }

    fn default_runtime(&self, linker: &Linker<'_>, file: FileId) -> Option<Runtime> {
        let facts = linker.program.facts(file);
        Some(if imports(facts, "trio") {
            Runtime::Trio
        } else if imports(facts, "anyio") {
            Runtime::Anyio
        } else if imports(facts, Runtime::Twisted.as_str()) || !imports(facts, "asyncio") && linker.is_on_twisted() {
            Runtime::Twisted
        } else {
            Runtime::Asyncio
        })
    }

    fn condition_by_type(
        &self,
        linker: &Linker<'_>,
        members: &[Val],
        site: SiteRef,
        form: FormId,
        env: EnvId,
    ) -> Option<ConditionResult> {
        let is_abstract_stream = |val: &Val| matches!(*val, Val::Library { ty, .. } if builtins::is_abstract_stream(&linker.library.text(ty)));
        if members.iter().any(is_abstract_stream) { linker.decided_by_param(site, form, env) } else { None }
    }

    fn is_test_double_or_demo(&self, _linker: &Linker<'_>, _body: BodyRef, _of: ClassRef) -> bool {
        false
    }

    fn loop_rounds(&self, linker: &Linker<'_>, site: SiteRef, loop_region: RegionId) -> Rounds {
        let facts = linker.program.facts(site.file);
        if iterates_over_varargs(facts, facts.region(loop_region)) { Rounds::Few } else { Rounds::Many }
    }
}
