//! Java semantics: name lookup, imports, members, implicit calls and declared types, as an implementation of
//! [`Semantics`].

pub(crate) mod annotated_threads;
pub(crate) mod build_modules;
pub(crate) mod class_annotations;
pub mod completed_future;
pub(crate) mod constructor_callbacks;
pub(crate) mod declarative_methods;
pub(crate) mod declared;
pub(crate) mod deployment;
pub(crate) mod element_calls;
pub(crate) mod event_listeners;
pub(crate) mod generated_code;
pub(crate) mod glob_sites;
pub(crate) mod implicit_calls;
pub(crate) mod injection;
pub(crate) mod lambda_count;
pub mod library_roots;
pub(crate) mod method_refs;
pub mod names;
pub(crate) mod overloads;
pub(crate) mod own_library;
pub(crate) mod servlet_modules;
pub(crate) mod tables;
pub(crate) mod time_unit;
pub mod words;
pub(crate) mod worker_objects;

use blocklint_core::Language;
use blocklint_facts::{Assign, AssignKind, DisplayKind, FormId, ImportId, RegionId, SiteKind, Sym, VarId, VarKind};
use blocklint_models::Role;
use rustc_hash::FxHashSet;

use crate::calls::targets::{Target, Targets};
use crate::guards::loop_multiplier::{Rounds, iterates_over_few};
use crate::lang::Semantics;
use crate::lang::implicit::ImplicitCall;
use crate::lang::words::LanguageWords;
use crate::linker::{Linker, Typed};
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef, VarRef};
use crate::program::path_kind::is_in_demo_folder;
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, BoundId, EnvId, Val};

/// The implementation of [`Semantics`] for Java.
pub(crate) struct Java;

impl Semantics for Java {
    fn words(&self) -> &'static LanguageWords {
        &words::WORDS
    }

    fn unbound_name(&self, linker: &Linker<'_>, scope: Scope, sym: Sym) -> Typed {
        names::free_name(linker, scope, sym)
    }

    fn import(&self, linker: &Linker<'_>, file: FileId, import: ImportId) -> Typed {
        linker.query_value(&linker.tables.values.imports, (file, import), || {
            names::import(linker, file, &linker.program.facts(file).import(import))
        })
    }

    fn callee(&self, linker: &Linker<'_>, scope: Scope, site: SiteRef) -> Typed {
        linker.query_value(&linker.tables.calls.callees, (site, scope.env), || names::callee(linker, scope, site))
    }

    fn module_name(&self, linker: &Linker<'_>, file: FileId) -> String {
        names::package_of_file(linker, file).to_owned()
    }

    /// Returns the callable of a method reference: `T::m`, `object::m`, `T::new`.
    fn path_member(&self, linker: &Linker<'_>, owner: Val, name: Name) -> Typed {
        names::method_reference(linker, owner, name)
    }

    /// Returns the value of `Outer.this`.
    fn implied_member_of_class(
        &self,
        linker: &Linker<'_>,
        class: ClassRef,
        name: Name,
        _receiver: Val,
    ) -> Option<Typed> {
        let is_this = linker.program.text(name) == words::THIS;
        is_this.then(|| linker.known(Val::Instance { class, exact: false, args: ArgsId::NONE }))
    }

    fn field_on_receiver(&self, linker: &Linker<'_>, owner: ClassRef, var: VarId, receiver: Val) -> Option<Typed> {
        linker.field_as_type_argument(owner, var, receiver)
    }

    /// Returns the result of a generated method, of a functional interface's method, or of `andThen` and `compose`.
    fn unknown_result(&self, linker: &Linker<'_>, site: SiteRef, env: EnvId) -> Option<Typed> {
        let result =
            generated_code::generated_result(linker, site, env).or_else(|| linker.functional_result(site, env));
        result.or_else(|| linker.composed_callable(site, env))
    }

    fn implicit_calls(&self) -> &'static [ImplicitCall] {
        implicit_calls::IMPLICIT_CALLS
    }

    /// True if a site runs one of its targets. A loop runs all of them: `iterator` of the object and the methods of
    /// that iterator.
    fn bodies_are_alternatives(&self, linker: &Linker<'_>, site: SiteRef, targets: &Targets) -> bool {
        let facts = linker.program.facts(site.file);
        let site_facts = linker.program.site(site);
        let iterates =
            site_facts.kind == SiteKind::Iterate || words::INHERITED_ITERATIONS.contains(&facts.text(site_facts.name));
        if !iterates {
            return self.rows_are_alternatives(targets);
        }
        let mut names = FxHashSet::default();
        targets.list.iter().any(|target| match *target {
            Target::Body { body, .. } => {
                let body_facts = linker.program.facts(body.file);
                !names.insert(body_facts.text(linker.program.body(body).name))
            }
            Target::Overrides { .. } => true,
            Target::Row { .. } => false,
        })
    }

    fn is_iteration_method(&self, linker: &Linker<'_>, body: BodyRef) -> bool {
        !linker.names_of_iterating_sites(body).is_empty()
    }

    fn constructor_result(&self, linker: &Linker<'_>, class: ClassRef, _site: SiteRef, env: EnvId) -> Typed {
        let instance = Val::Instance { class, exact: true, args: ArgsId::NONE };
        linker.known(linker.as_closure(instance, env).unwrap_or(instance))
    }

    fn result_without_row(
        &self,
        linker: &Linker<'_>,
        path: &str,
        _owner: Val,
        receiver: BoundId,
        (site, env): (SiteRef, EnvId),
    ) -> Option<Typed> {
        if let Some(stub) = generated_code::generated_stub(path) {
            let ty = linker.library.path(Language::Java, &stub);
            return Some(linker.known(Val::Library { ty, args: ArgsId::NONE, made: None }));
        }
        let delegate = generated_code::rxjava_delegate(path)?;
        let result = linker.library_result(linker.library.path(Language::Java, &delegate), receiver, site, env);
        Some(linker.map(result, |val| linker.rxjava_result(val)))
    }

    fn refine_param(&self, linker: &Linker<'_>, body: BodyRef, index: u32, declared: Typed) -> Typed {
        linker.param_narrowed_by_row(body, index, declared)
    }

    fn lambda_param(&self, linker: &Linker<'_>, body: BodyRef, index: u32) -> Option<Typed> {
        linker.lambda_param(body, index)
    }

    fn refine_returned(&self, linker: &Linker<'_>, body: BodyRef, declared: Typed) -> Typed {
        linker.refine_return(body, declared)
    }

    fn declared_variable(&self, linker: &Linker<'_>, scope: Scope, var: VarId) -> Option<Typed> {
        let facts = linker.program.facts(scope.file);
        // The declared type applies to later assignments, too.
        match facts.assigns_of(var).find(|assignment| assignment.annotation.is_some()) {
            Some(row) => Some(linker.annotation(Scope { at: row.at, ..scope }, row.annotation)),
            None => {
                matches!(facts.var(var).kind, VarKind::Param(_)).then(|| linker.param_value(scope.file.var_ref(var)))
            }
        }
    }

    fn shares_name_with_method(&self, linker: &Linker<'_>, file: FileId, var: VarId) -> bool {
        linker.program.facts(file).assigns_of(var).any(|assignment| assignment.kind == AssignKind::Definition)
    }

    fn refine_declared(&self, linker: &Linker<'_>, var: VarRef, declared: Typed) -> Typed {
        linker.with_assigned_callables(var, declared)
    }

    fn refine_assigned(&self, linker: &Linker<'_>, var: VarRef, assigned: Typed) -> Typed {
        linker.with_assigned_callables(var, linker.refine_field(var, assigned))
    }

    fn refine_by_value(&self, linker: &Linker<'_>, scope: Scope, declared: Typed, row: &Assign) -> Option<Typed> {
        Some(linker.declared_or_value(scope, declared, row))
    }

    fn type_parameter(
        &self,
        linker: &Linker<'_>,
        scope: Scope,
        sym: Sym,
        receiver: Option<Val>,
        depth: u32,
    ) -> Option<Typed> {
        linker.type_parameter(scope, sym, receiver, depth)
    }

    fn displayed_type(&self, linker: &Linker<'_>, _kind: DisplayKind, parts: &[Typed]) -> Typed {
        linker.array_of(linker.join(parts))
    }

    fn condition_by_type(
        &self,
        linker: &Linker<'_>,
        members: &[Val],
        site: SiteRef,
        form: FormId,
        env: EnvId,
    ) -> Option<ConditionResult> {
        if !members.iter().any(|val| linker.is_any_stream(*val)) {
            return None;
        }
        linker.decided_by_param(site, linker.unwrap_readers(site, form), env)
    }

    fn states_set_by_calls(&self, linker: &Linker<'_>, site: SiteRef, form: FormId) -> Vec<Val> {
        linker.states_set_by_calls(site, form)
    }

    fn is_test_double_or_demo(&self, linker: &Linker<'_>, body: BodyRef, base: ClassRef) -> bool {
        let is_in_demo_folder = |file: FileId| is_in_demo_folder(&linker.program.files[file.index()].relative);
        linker.is_test_double(body, linker.class_body(base))
            || is_in_demo_folder(body.file) && !is_in_demo_folder(base.file)
    }

    fn runs_any_implementation(&self, linker: &Linker<'_>, body: BodyRef) -> bool {
        !linker.method_kind(body).is_static
    }

    fn is_registration(&self, linker: &Linker<'_>, decorator: PathId, body: BodyRef) -> bool {
        !names::is_jax_rs_annotation(&linker.library.text(decorator)) || linker.serves_on_event_loops(body.file)
    }

    fn runs_on_workers(&self, linker: &Linker<'_>, class: ClassRef) -> bool {
        linker.is_passed_to_workers(class) || linker.is_deployed_on_workers(class)
    }

    fn returns_async_result(&self, linker: &Linker<'_>, body: BodyRef) -> bool {
        matches!(linker.declared_role(body), Some(Role::Publisher | Role::Future))
    }

    fn runs_async_on_loop(&self, linker: &Linker<'_>, file: FileId) -> bool {
        !linker.serves_by_servlets(file)
    }

    fn loop_rounds(&self, linker: &Linker<'_>, site: SiteRef, loop_region: RegionId) -> Rounds {
        let facts = linker.program.facts(site.file);
        let is_short = iterates_over_few(facts, facts.region(loop_region)) || linker.returns_on_success(site);
        if is_short { Rounds::FewInAll } else { Rounds::Many }
    }
}
