//! Rust semantics: paths, modules, traits, type inference and implicit calls, as an implementation of [`Semantics`].

pub(crate) mod assigned;
pub(crate) mod closure_args;
pub(crate) mod collect;
pub(crate) mod constant_field;
pub mod conventions;
pub(crate) mod data_origin;
pub(crate) mod derived_builder;
pub(crate) mod derived_members;
pub(crate) mod fn_paths;
pub(crate) mod generics;
pub(crate) mod impl_selection;
pub(crate) mod implicit_calls;
pub(crate) mod macros;
pub mod modules;
pub mod names;
pub(crate) mod option_guards;
pub(crate) mod readers;
pub(crate) mod stored_closures;
pub(crate) mod tables;
pub(crate) mod trait_methods;
pub(crate) mod words;

use std::ops::ControlFlow;

use blocklint_core::{Language, Runtime};
use blocklint_facts::{Assign, BodyKind, DisplayKind, FormId, ImportId, RegionId, Sym, VarId};
use blocklint_models::Argument;

use crate::guards::loop_multiplier::Rounds;
use crate::lang::Semantics;
use crate::lang::implicit::ImplicitCall;
use crate::lang::words::LanguageWords;
use crate::linker::{Linker, Typed};
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{BoundId, EnvId, Val, Why};

/// The implementation of [`Semantics`] for Rust.
pub(crate) struct Rust;

impl Semantics for Rust {
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
        names::callee(linker, scope, site)
    }

    fn module_name(&self, linker: &Linker<'_>, file: FileId) -> String {
        names::module_name(linker, file)
    }

    fn path_member(&self, linker: &Linker<'_>, owner: Val, name: Name) -> Typed {
        names::path_member(linker, owner, name)
    }

    /// Returns a member of the type with its type parameters replaced, of the target of its `Deref`, or of a trait.
    fn member_of_instance(&self, linker: &Linker<'_>, instance: Val, name: Name, own: Typed) -> Typed {
        let Val::Instance { class, .. } = instance else { return own };
        if !linker.values.is_unknown(own.value) {
            return if linker.has_param(own.value) {
                linker.substitute(own, &linker.bindings(class, instance))
            } else {
                own
            };
        }
        if let Some(inner) = linker.deref_target(instance) {
            let inner_member = linker.map(inner, |inner| linker.attr(inner, name));
            if !linker.values.is_unknown(inner_member.value) {
                return inner_member;
            }
        }
        let added = linker.project_trait_method(instance, name).or_else(|| linker.delegated_to_variants(class, name));
        added.or_else(|| receiver_returning_method(linker, instance, name)).unwrap_or(own)
    }

    fn implied_member_of_class(
        &self,
        linker: &Linker<'_>,
        class: ClassRef,
        name: Name,
        receiver: Val,
    ) -> Option<Typed> {
        let derived = words::WORDS.derived_function(linker.program.text(name));
        let path = derived.or_else(|| linker.derived_constructor(class, name))?;
        let path = linker.library.path(Language::Rust, path);
        Some(linker.known(Val::Method { path, receiver: linker.values.bound(receiver) }))
    }

    /// Returns `clone` of a closure or function: `let job = self.job.clone();`.
    fn member_of_function(&self, linker: &Linker<'_>, function: Val, name: Name) -> Option<Typed> {
        names::keeps_receiver(linker.program.text(name)).then(|| {
            let path = linker.library.path(Language::Rust, "std::clone::Clone::clone");
            linker.known(Val::Method { path, receiver: linker.values.bound(function) })
        })
    }

    fn member_of_library(&self, linker: &Linker<'_>, instance: Val, name: Name) -> Option<Typed> {
        linker.project_trait_method(instance, name)
    }

    fn iterator_type(&self, linker: &Linker<'_>) -> Option<PathId> {
        Some(linker.library.path(Language::Rust, "std::iter::Iterator"))
    }

    /// Returns `std::result::Result` for a library's alias of it: `anyhow::Result`.
    fn alias_target_type(&self, linker: &Linker<'_>, ty: PathId) -> Option<PathId> {
        names::aliased_result(&linker.library.text(ty)).map(|path| linker.library.path(Language::Rust, path))
    }

    /// True for the field of a library's newtype: `state.0`.
    fn is_field_of_wrapper(&self, name: &str) -> bool {
        name == "0"
    }

    fn unknown_result(&self, linker: &Linker<'_>, site: SiteRef, env: EnvId) -> Option<Typed> {
        linker.derived_builder_result(site, env)
    }

    fn implicit_calls(&self) -> &'static [ImplicitCall] {
        implicit_calls::IMPLICIT_CALLS
    }

    fn constructor_result(&self, linker: &Linker<'_>, class: ClassRef, site: SiteRef, env: EnvId) -> Typed {
        linker.constructor_result(class, site, env)
    }

    fn refine_result(
        &self,
        linker: &Linker<'_>,
        declared: Typed,
        body: BodyRef,
        (site, env): (SiteRef, EnvId),
        with_receiver: bool,
    ) -> Typed {
        linker.inferred_from_arguments(declared, body, site, env, with_receiver)
    }

    fn calls_getter_by_field(&self) -> bool {
        true
    }

    fn collect_result(&self, linker: &Linker<'_>, path: &str, receiver: Val, call: (SiteRef, EnvId)) -> Option<Typed> {
        linker.collect_result(path, receiver, call.0, call.1)
    }

    fn result_without_row(
        &self,
        linker: &Linker<'_>,
        path: &str,
        owner: Val,
        receiver: BoundId,
        (site, env): (SiteRef, EnvId),
    ) -> Option<Typed> {
        if names::keeps_receiver(path.rsplit("::").next().unwrap_or("")) {
            return Some(match (receiver.is_some(), linker.argument(site, &Argument::Position(0))) {
                (true, _) => linker.known(owner),
                (false, Some(form)) => linker.eval(linker.scope_of(site, env), form),
                (false, None) => linker.unknown(Why::Result),
            });
        }
        match owner {
            // A method of a builder usually returns the builder.
            Val::Library { ty, .. } if conventions::is_builder(&linker.library.text(ty)) => {
                Some(linker.inferred(linker.known(owner)))
            }
            _ => None,
        }
    }

    fn result_by_type_argument(&self, linker: &Linker<'_>, site: SiteRef, env: EnvId) -> Option<Typed> {
        linker.option_of_type_argument(site, env)
    }

    fn element_of_instance(&self, linker: &Linker<'_>, member: Val) -> Option<Typed> {
        let result_of = |method: &str| {
            let typed = linker.attr(member, linker.program.name(method)?);
            linker.has_function(typed).then(|| {
                linker.map(typed, |val| match val {
                    Val::Fn { body, env, .. } => linker.value_of_call(body, env, Some(member)),
                    _ => linker.unknown(Why::Result),
                })
            })
        };
        if let Some(next) = result_of("next") {
            return Some(linker.map(next, |val| linker.success_value(val)));
        }
        Some(match result_of("into_iter") {
            Some(iterator) => {
                linker.map(iterator, |val| if val == member { linker.unknown(Why::Cycle) } else { linker.element(val) })
            }
            None => linker.unknown(Why::Result),
        })
    }

    fn pattern_field(&self, linker: &Linker<'_>, member: Val, index: u32) -> Option<Typed> {
        let name = linker.program.name(&index.to_string());
        Some(name.map_or_else(|| linker.unknown(Why::Attribute), |name| linker.attr(member, name)))
    }

    fn lambda_param(&self, linker: &Linker<'_>, body: BodyRef, index: u32) -> Option<Typed> {
        linker.lambda_param(body, index)
    }

    fn returned_on_receiver(
        &self,
        linker: &Linker<'_>,
        body: BodyRef,
        typed: Typed,
        receiver: Val,
    ) -> ControlFlow<Typed, Typed> {
        let body_facts = linker.program.body(body);
        let Some(class) = body_facts.class.get() else { return ControlFlow::Continue(typed) };
        match linker.associated_type(body, body_facts.returns, receiver) {
            Some(projected) => ControlFlow::Break(projected),
            None => {
                let bindings = linker.bindings(body.file.class_ref(class), receiver);
                ControlFlow::Continue(linker.substitute(typed, &bindings))
            }
        }
    }

    fn as_owned(&self, linker: &Linker<'_>, typed: Typed) -> Typed {
        linker.as_value(typed)
    }

    fn items_of_same_name(&self, linker: &Linker<'_>, scope: Scope, var: VarId) -> Option<Typed> {
        linker.program.facts(scope.file).assigns_of(var).nth(1).is_some().then(|| linker.items_under_cfg(scope, var))
    }

    fn refine_assigned(&self, linker: &Linker<'_>, var: VarRef, assigned: Typed) -> Typed {
        let kind = linker.program.facts(var.file).body(linker.program.var(var).body).kind;
        if kind == BodyKind::Class { linker.or_stored_callables(var, assigned) } else { assigned }
    }

    fn refine_by_value(&self, linker: &Linker<'_>, scope: Scope, declared: Typed, row: &Assign) -> Option<Typed> {
        linker.declared_with_inferred_parts(scope, declared, row)
    }

    fn displayed_type(&self, linker: &Linker<'_>, kind: DisplayKind, parts: &[Typed]) -> Typed {
        linker.rust_display(kind, parts)
    }

    fn default_runtime(&self, linker: &Linker<'_>, file: FileId) -> Option<Runtime> {
        Some(linker.runtime_of_crate(file).unwrap_or(Runtime::Tokio))
    }

    fn condition_by_type(
        &self,
        linker: &Linker<'_>,
        members: &[Val],
        site: SiteRef,
        form: FormId,
        env: EnvId,
    ) -> Option<ConditionResult> {
        linker.reader_condition(members, site, form, env)
    }

    fn library_type_arguments(&self, linker: &Linker<'_>, val: Val) -> Vec<PathId> {
        linker.library_type_arguments(val)
    }

    fn overrides_in_other_impls(
        &self,
        linker: &Linker<'_>,
        derived: ClassRef,
        base: ClassRef,
        name: Name,
    ) -> Vec<BodyRef> {
        linker.supertrait_impl_methods(derived, base, name)
    }

    fn runs_any_implementation(&self, _linker: &Linker<'_>, _body: BodyRef) -> bool {
        true
    }

    fn is_test_module(&self, linker: &Linker<'_>, file: FileId) -> bool {
        linker.rust_parents().is_test(file)
    }

    fn loop_rounds(&self, linker: &Linker<'_>, site: SiteRef, loop_region: RegionId) -> Rounds {
        let region = linker.program.facts(site.file).region(loop_region);
        // A loop that searches for the first match ends early.
        let is_short = linker.is_short_literal(site.file, region.test) || linker.ends_search(site, loop_region);
        if is_short { Rounds::Few } else { Rounds::Many }
    }
}

/// Returns a method of the language's traits that returns its receiver, or a view of it: `clone`, `as_ref`.
fn receiver_returning_method(linker: &Linker<'_>, receiver: Val, name: Name) -> Option<Typed> {
    let text = linker.program.text(name);
    names::keeps_receiver(text).then(|| {
        let path = linker.library.path(Language::Rust, &format!("std::clone::Clone::{text}"));
        linker.known(Val::Method { path, receiver: linker.values.bound(receiver) })
    })
}
