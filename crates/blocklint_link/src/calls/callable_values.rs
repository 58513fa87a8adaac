//! Values of functional interfaces and closure types: the lambdas, method references and closures that code assigns,
//! passes or returns where such a type is declared. Objects as callables are in `callable_objects.rs`.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{Exit, ExitKind, Form, FormId, VarKind};

use crate::calls::param_summary::unwrap_single_argument;
use crate::linker::{LOW_STEPS, Linker, Typed};
use crate::program::ids::{BodyRef, FileId, Name, SiteRef, VarRef};
use crate::program::occurrences::Mention;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, UNION_LIMIT, Val};

/// The maximal number of callables of a value. A value with more callables keeps its declared type.
const MAX_CALLABLES: usize = 8;

/// The maximal nesting of pointers and containers around a callable: `Box<Arc<dyn Fn()>>`.
const MAX_POINTERS: u32 = 4;

/// The maximal number of calls or exits whose values are evaluated for one parameter or result.
const MAX_SOURCES: usize = 48;

impl Linker<'_> {
    /// True if a declared type is a functional interface (Java) or a closure type, also behind pointers (Rust).
    pub fn is_callable_type(&self, declared: Typed) -> bool {
        self.is_callable_type_within(declared, MAX_POINTERS)
    }

    fn is_callable_type_within(&self, declared: Typed, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.values.members(declared.value)[..] {
            [Val::Instance { class, .. }] => {
                self.program.language(class.file) == Language::Java && self.functional_method(class).is_some()
            }
            [Val::Library { ty, args, .. }] => match self.library.language(ty) {
                Language::Java => self.is_functional_type(ty),
                Language::Rust => {
                    lang::rust::names::is_callable(&self.library.text(ty))
                        || self
                            .transparent_inner(ty, args)
                            .is_some_and(|inner| self.is_callable_type_within(inner, depth))
                }
                Language::Python => false,
            },
            [param @ Val::Param { .. }] => self.is_callable_type_within(self.bound_of(param), depth),
            _ => false,
        }
    }

    /// Adds the callables of a value, also those behind pointers: `Box::new(work)`. With `objects` also objects that
    /// implement a functional interface of a library.
    fn collect_callables(&self, typed: Typed, objects: bool, depth: u32, found: &mut Vec<Val>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for val in self.values.members(typed.value) {
            match val {
                Val::Fn { .. } | Val::Partial { .. } if !found.contains(&val) => found.push(val),
                // `(Iterable<Path>) files::iterator`
                Val::Method { path, .. } if self.library.language(path) == Language::Java && !found.contains(&val) => {
                    found.push(val);
                }
                Val::Instance { .. } if objects && !found.contains(&val) && !self.callables_of(val).is_empty() => {
                    found.push(val);
                }
                Val::Library { ty, args, .. } if self.library.language(ty) == Language::Rust => {
                    // The elements of a container count too: `Some(Arc::new(work))`.
                    let inner = self.transparent_inner(ty, args).or_else(|| {
                        let value = self.values.list(args).last().copied()?;
                        Some(Typed { value, inferred_steps: typed.inferred_steps })
                    });
                    if let Some(inner) = inner {
                        self.collect_callables(inner, objects, depth, found);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns a declared type with the callables among its stored values. The declared type stays a member if classes
    /// of the project implement it.
    pub(crate) fn with_callables(&self, declared: Typed, stored: impl FnOnce() -> Vec<Typed>) -> Typed {
        if !self.is_callable_type(declared) {
            return declared;
        }
        self.callables_for(declared, stored())
    }

    /// Returns a declared type with the callables that a table contains. It allows more callables than
    /// [`Linker::with_callables`], because the key of a call selects one of many.
    pub(crate) fn with_table_callables(&self, declared: Typed, stored: impl FnOnce() -> Vec<Typed>) -> Typed {
        if !self.is_callable_type(declared) {
            return declared;
        }
        self.callables_up_to(UNION_LIMIT - 1, declared, stored())
    }

    /// Returns a declared type with the callables among its stored values. The declared type can also be a type
    /// parameter (Rust).
    pub(crate) fn callables_for(&self, declared: Typed, stored: Vec<Typed>) -> Typed {
        self.callables_up_to(MAX_CALLABLES, declared, stored)
    }

    /// Returns a declared type with the callables among its stored values, or the declared type if there are more than
    /// `limit` callables.
    fn callables_up_to(&self, limit: usize, declared: Typed, stored: Vec<Typed>) -> Typed {
        // A single value may come from a table, which allows more callables.
        let limit = if stored.len() == 1 { UNION_LIMIT - 1 } else { limit };
        let of_library = matches!(self.values.members(declared.value)[..], [Val::Library { .. } | Val::Param { .. }]);
        let mut steps = declared.inferred_steps;
        let mut callables: Vec<Val> = Vec::new();
        for typed in stored {
            let before = callables.len();
            self.collect_callables(typed, of_library, MAX_POINTERS, &mut callables);
            if callables.len() > before {
                steps = steps.max(typed.inferred_steps);
            }
        }
        if callables.is_empty() || callables.len() > limit {
            return declared;
        }
        let is_single = callables.len() == 1;
        if let [Val::Instance { class, .. }] = self.values.members(declared.value)[..]
            && !self.direct_subclasses(class).is_empty()
        {
            callables.extend(self.values.members(declared.value));
        }
        let typed = Typed { value: self.values.union(&callables), inferred_steps: steps };
        if is_single { typed } else { self.inferred(typed) }
    }

    /// Returns the declared type of a field with the callables that are assigned to it (Java).
    pub(crate) fn with_assigned_callables(&self, field: VarRef, declared: Typed) -> Typed {
        self.with_callables(declared, || {
            let argument_value = self
                .program
                .assigns_of(field)
                .filter(|assignment| assignment.value.is_some())
                .map(|assignment| (assignment.at, assignment.value));
            let assigned = argument_value.chain(self.values_assigned_to(field));
            assigned
                .map(|(at, value)| self.eval_stored_callable(Scope { file: field.file, at, env: EnvId::NONE }, value))
                .collect()
        })
    }

    /// Returns the value of a form that is stored for later calls. If the form is a parameter, the value contains the
    /// callables that callers pass. Calls in the parameter's own body do not use this value, because the parameter's
    /// summary describes them for each caller.
    pub(crate) fn eval_stored_callable(&self, scope: Scope, form: FormId) -> Typed {
        let facts = self.program.facts(scope.file);
        let typed = self.eval(scope, form);
        let inner = unwrap_single_argument(facts, form);
        match facts.form(inner) {
            Form::Var(var) => match facts.var(var).kind {
                VarKind::Param(index) if facts.assigns_of(var).next().is_none() => {
                    let body = scope.file.body_ref(facts.var(var).body);
                    let argument_value = if inner == form { typed } else { self.eval(scope, inner) };
                    let passed = self.with_passed_callables(body, index, argument_value);
                    if passed.value == argument_value.value { typed } else { passed }
                }
                _ => typed,
            },
            _ => typed,
        }
    }

    /// Returns the declared type of a parameter with the callables that known callers pass.
    fn with_passed_callables(&self, body: BodyRef, index: u32, declared: Typed) -> Typed {
        let typed = self.with_callables(declared, || {
            let sites = self.sites_calling(body);
            let passed = sites.into_iter().take(MAX_SOURCES).filter_map(|site| {
                let form = self.passed_argument(site, body, index)?;
                Some(self.eval(self.scope_of(site, EnvId::NONE), form))
            });
            passed.collect()
        });
        // Each object stores one of several callables, and the code that creates the object decides which one.
        let is_callable = |val: &&Val| match val {
            Val::Fn { .. } | Val::Partial { .. } => true,
            Val::Instance { .. } => !self.callables_of(**val).is_empty(),
            _ => false,
        };
        let several = self.values.members(typed.value).iter().filter(is_callable).count() > 1;
        if several { Typed { inferred_steps: LOW_STEPS, ..typed } } else { typed }
    }

    /// Returns the declared result type of a body with the callables that the body returns.
    pub(crate) fn with_returned_callables(&self, body: BodyRef, env: EnvId, declared: Typed) -> Typed {
        self.with_callables(declared, || {
            let returns_value = |exit: &Exit| exit.kind == ExitKind::Return && exit.value.is_some();
            let exits = self.program.exits_in(body).filter(returns_value);
            let returned =
                exits.take(MAX_SOURCES).map(|exit| self.eval(Scope { file: body.file, at: exit.at, env }, exit.value));
            returned.collect()
        })
    }

    /// Returns both callables of a composition: `load.andThen(show)` runs `load` and then `show` (Java).
    pub(crate) fn composed_callable(&self, site: SiteRef, env: EnvId) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        if !lang::java::names::COMPOSERS.contains(&facts.text(self.program.site(site).name)) {
            return None;
        }
        let scope = self.scope_of(site, env);
        let [second] = self.program.args_of(site)[..] else { return None };
        let mut callables = Vec::new();
        let receiver_value = self.eval(scope, self.receiver_form(site)?);
        self.collect_callables(receiver_value, true, MAX_POINTERS, &mut callables);
        if callables.is_empty() {
            return None;
        }
        let second = self.eval(scope, second.value);
        self.collect_callables(second, true, MAX_POINTERS, &mut callables);
        Some(Typed {
            value: self.values.union(&callables),
            inferred_steps: receiver_value.inferred_steps.max(second.inferred_steps),
        })
    }

    /// Returns the method names under which a lambda or method reference can be called, by the functional interfaces
    /// that are declared at the place of the mention (Java).
    pub fn interface_method_names(&self, file: FileId, mention: Mention) -> Vec<Name> {
        if self.program.language(file) != Language::Java {
            return Vec::new();
        }
        let mut names: Vec<Name> = Vec::new();
        if let Mention::Arg(site, arg) = mention {
            names.extend(self.names_called_by_rows(file.site_ref(site), arg));
            names.extend(self.names_of_callback_calls(file.site_ref(site), arg));
        }
        for val in self.declared_types_at(file, mention) {
            match val {
                Val::Instance { class, .. } => names.extend(
                    self.functional_method(class)
                        .and_then(|method| self.program.global(method.file, self.program.body(method).name)),
                ),
                Val::Library { ty, .. } => match self.library.ty(ty).and_then(|rows| rows.functional()) {
                    Some(method) => names.extend(self.program.name(method)),
                    None if self.is_functional_type(ty) => names.extend(self.functional_names_of_language()),
                    None => {}
                },
                _ => {}
            }
        }
        names
    }

    /// Returns the method names of Java's own functional interfaces.
    fn functional_names_of_language(&self) -> impl Iterator<Item = Name> {
        lang::java::words::FUNCTIONAL_METHODS.iter().filter_map(|method| self.program.name(method))
    }

    /// Returns the method names by which a library can call an argument. An element of a library's container and an
    /// argument of a call that creates a library's value (`Map.of("a", work)`) can be called by any method name of
    /// Java's own functional interfaces.
    fn names_called_by_rows(&self, site: SiteRef, arg: u32) -> Vec<Name> {
        let targets = self.targets(site, EnvId::NONE);
        let is_stored = targets.list.iter().any(|target| match *target {
            crate::calls::targets::Target::Row { path, .. } => {
                self.library.calls(path).with(|row| row.adds.is_some() || row.returns.is_some()).any(|matched| {
                    matched.row.adds.as_ref().is_none_or(|argument| self.is_argument(site, arg, argument))
                })
            }
            _ => false,
        });
        if !is_stored {
            return Vec::new();
        }
        self.functional_names_of_language().collect()
    }
}
