//! Names, values and calls of Rust.

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

/// Rust.
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

    fn path_member(&self, linker: &Linker<'_>, of: Val, name: Name) -> Typed {
        names::path_member(linker, of, name)
    }

    /// Returns a member of the type itself with its type parameters replaced, of what it dereferences to, or of a
    /// trait.
    fn member_of_instance(&self, linker: &Linker<'_>, instance: Val, name: Name, own: Typed) -> Typed {
        let Val::Instance { class, .. } = instance else { return own };
        if !linker.values.is_unknown(own.value) {
            return if linker.has_param(own.value) {
                linker.substitute(own, &linker.bindings(class, instance))
            } else {
                own
            };
        }
        if let Some(inner) = linker.dereferenced(instance) {
            let given = linker.map(inner, |inner| linker.attr(inner, name));
            if !linker.values.is_unknown(given.value) {
                return given;
            }
        }
        let added = linker.added_by_trait(instance, name).or_else(|| linker.handed_to_variants(class, name));
        added.or_else(|| keeping_method(linker, instance, name)).unwrap_or(own)
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

    /// `let job = self.job.clone();`
    fn member_of_function(&self, linker: &Linker<'_>, function: Val, name: Name) -> Option<Typed> {
        names::keeps_receiver(linker.program.text(name)).then(|| {
            let path = linker.library.path(Language::Rust, "std::clone::Clone::clone");
            linker.known(Val::Method { path, receiver: linker.values.bound(function) })
        })
    }

    fn member_of_library(&self, linker: &Linker<'_>, instance: Val, name: Name) -> Option<Typed> {
        linker.added_by_trait(instance, name)
    }

    fn iterator_type(&self, linker: &Linker<'_>) -> Option<PathId> {
        Some(linker.library.path(Language::Rust, "std::iter::Iterator"))
    }

    /// A library's own `Result` is the language's.
    fn type_behind(&self, linker: &Linker<'_>, ty: PathId) -> Option<PathId> {
        names::result_behind(&linker.library.text(ty)).map(|of| linker.library.path(Language::Rust, of))
    }

    /// `state.0`: the one field of a library's struct around one value.
    fn is_field_of_wrapper(&self, name: &str) -> bool {
        name == "0"
    }

    fn unknown_result(&self, linker: &Linker<'_>, site: SiteRef, env: EnvId) -> Option<Typed> {
        linker.built_by_derived(site, env)
    }

    fn implicit_calls(&self) -> &'static [ImplicitCall] {
        implicit_calls::IMPLICIT_CALLS
    }

    fn constructed(&self, linker: &Linker<'_>, class: ClassRef, site: SiteRef, env: EnvId) -> Typed {
        linker.constructed(class, site, env)
    }

    fn refine_result(
        &self,
        linker: &Linker<'_>,
        given: Typed,
        body: BodyRef,
        at: (SiteRef, EnvId),
        with_receiver: bool,
    ) -> Typed {
        linker.inferred_from_arguments(given, body, at.0, at.1, with_receiver)
    }

    fn calls_getter_by_field(&self) -> bool {
        true
    }

    fn collected(&self, linker: &Linker<'_>, path: &str, receiver: Val, at: (SiteRef, EnvId)) -> Option<Typed> {
        linker.collected(path, receiver, at.0, at.1)
    }

    fn result_without_row(
        &self,
        linker: &Linker<'_>,
        path: &str,
        own: Val,
        receiver: BoundId,
        at: (SiteRef, EnvId),
    ) -> Option<Typed> {
        if names::keeps_receiver(path.rsplit("::").next().unwrap_or("")) {
            return Some(match (receiver.is_some(), linker.argument(at.0, &Argument::Position(0))) {
                (true, _) => linker.known(own),
                (false, Some(form)) => linker.eval(linker.scope_of(at.0, at.1), form),
                (false, None) => linker.unknown(Why::Result),
            });
        }
        match own {
            // A method of a builder: its others return the builder.
            Val::Library { ty, .. } if conventions::is_builder(&linker.library.text(ty)) => {
                Some(linker.inferred(linker.known(own)))
            }
            _ => None,
        }
    }

    fn written_result(&self, linker: &Linker<'_>, site: SiteRef, env: EnvId) -> Option<Typed> {
        linker.written_in_call(site, env)
    }

    fn element_of_instance(&self, linker: &Linker<'_>, member: Val) -> Option<Typed> {
        let made_by = |method: &str| {
            let typed = linker.attr(member, linker.program.name(method)?);
            linker.has_function(typed).then(|| {
                linker.map(typed, |val| match val {
                    Val::Fn { body, env, .. } => linker.value_of_call(body, env, Some(member)),
                    _ => linker.unknown(Why::Result),
                })
            })
        };
        if let Some(next) = made_by("next") {
            return Some(linker.map(next, |val| linker.success_value(val)));
        }
        Some(match made_by("into_iter") {
            Some(made) => {
                linker.map(made, |val| if val == member { linker.unknown(Why::Cycle) } else { linker.element(val) })
            }
            None => linker.unknown(Why::Result),
        })
    }

    fn part_of_instance(&self, linker: &Linker<'_>, member: Val, index: u32) -> Option<Typed> {
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
        let row = linker.program.body(body);
        let Some(class) = row.class.get() else { return ControlFlow::Continue(typed) };
        match linker.projected(body, row.returns, receiver) {
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

    fn items_of_one_name(&self, linker: &Linker<'_>, scope: Scope, var: VarId) -> Option<Typed> {
        linker.program.facts(scope.file).assigns_of(var).nth(1).is_some().then(|| linker.rust_twins(scope, var))
    }

    fn refine_assigned(&self, linker: &Linker<'_>, var: VarRef, assigned: Typed) -> Typed {
        let of = linker.program.facts(var.file).body(linker.program.var(var).body).kind;
        if of == BodyKind::Class { linker.or_written_callables(var, assigned) } else { assigned }
    }

    fn refine_by_value(&self, linker: &Linker<'_>, scope: Scope, declared: Typed, row: &Assign) -> Option<Typed> {
        linker.declared_with_value(scope, declared, row)
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
        linker.reader_by_callers(members, site, form, env)
    }

    fn types_of_arguments(&self, linker: &Linker<'_>, val: Val) -> Vec<PathId> {
        linker.types_of_arguments(val)
    }

    fn overrides_beside(&self, linker: &Linker<'_>, derived: ClassRef, of: ClassRef, name: Name) -> Vec<BodyRef> {
        linker.beside_impl(derived, of, name)
    }

    fn runs_any_implementation(&self, _linker: &Linker<'_>, _body: BodyRef) -> bool {
        true
    }

    fn is_test_module(&self, linker: &Linker<'_>, file: FileId) -> bool {
        linker.rust_parents().is_test(file)
    }

    fn rounds(&self, linker: &Linker<'_>, site: SiteRef, within: RegionId) -> Rounds {
        let region = linker.program.facts(site.file).region(within);
        // A search for the first of some ends early.
        let is_short = linker.is_short_literal(site.file, region.test) || linker.ends_search(site, within);
        if is_short { Rounds::Few } else { Rounds::Many }
    }
}

/// Returns a method of the language's traits that returns its receiver, or a view of it: `clone`.
fn keeping_method(linker: &Linker<'_>, receiver: Val, name: Name) -> Option<Typed> {
    let text = linker.program.text(name);
    names::keeps_receiver(text).then(|| {
        let path = linker.library.path(Language::Rust, &format!("std::clone::Clone::{text}"));
        linker.known(Val::Method { path, receiver: linker.values.bound(receiver) })
    })
}
