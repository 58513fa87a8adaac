//! Callables as values: what a field, variable, parameter or result that is declared as a functional interface may hold. A lambda or a
//! method reference is an implementation of the interface that its place asks for.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{Exit, ExitKind, Form, FormId, VarKind};

use crate::calls::param_summary::unwrap_single_argument;
use crate::linker::{LOW_STEPS, Linker, Typed};
use crate::program::ids::{BodyRef, FileId, Name, SiteRef, VarRef};
use crate::program::occurrences::Mention;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, UNION_LIMIT, Val};

/// The number of callables up to which a call of one of them is resolved.
const MOST: usize = 8;

/// Types in each other that are looked through for a callable.
const POINTERS: u32 = 4;

/// Calls and exits looked at for one parameter or result.
const MOST_PLACES: usize = 48;

impl Linker<'_> {
    /// True if a declared type is an interface that a lambda implements (Java) or the type of a closure, also behind
    /// pointers (Rust).
    pub fn takes_lambda(&self, declared: Typed) -> bool {
        self.takes_lambda_within(declared, POINTERS)
    }

    fn takes_lambda_within(&self, declared: Typed, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.values.members(declared.value)[..] {
            [Val::Instance { class, .. }] => {
                self.program.language(class.file) == Language::Java && self.functional_method(class).is_some()
            }
            [Val::Library { ty, args, .. }] => match self.library.language(ty) {
                Language::Java => self.is_functional_type(ty),
                Language::Rust => {
                    lang::rust::names::is_callable(&self.library.text(ty))
                        || self.transparent_inner(ty, args).is_some_and(|inner| self.takes_lambda_within(inner, depth))
                }
                Language::Python => false,
            },
            [param @ Val::Param { .. }] => self.takes_lambda_within(self.bound_of(param), depth),
            _ => false,
        }
    }

    /// The callables of a value, also those behind pointers: `Box::new(work)`. With `objects` also those that implement an
    /// interface of a library.
    fn callables_in(&self, typed: Typed, objects: bool, depth: u32, found: &mut Vec<Val>) {
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
                    // Also what a container holds: `Some(Arc::new(work))`.
                    let inner = self.transparent_inner(ty, args).or_else(|| {
                        let value = self.values.list(args).last().copied()?;
                        Some(Typed { value, inferred_steps: typed.inferred_steps })
                    });
                    if let Some(inner) = inner {
                        self.callables_in(inner, objects, depth, found);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns a declared type with the callables that code is seen to store there. An interface of the project may be
    /// implemented by classes as well.
    pub(crate) fn or_callables(&self, declared: Typed, given: impl FnOnce() -> Vec<Typed>) -> Typed {
        if !self.takes_lambda(declared) {
            return declared;
        }
        self.callables_for(declared, given())
    }

    /// Returns a declared type with the callables that a table holds. It allows more of them than `or_callables`,
    /// because the key of a call picks one of many.
    pub(crate) fn or_callables_of_table(&self, declared: Typed, given: impl FnOnce() -> Vec<Typed>) -> Typed {
        if !self.takes_lambda(declared) {
            return declared;
        }
        self.callables_up_to(UNION_LIMIT - 1, declared, given())
    }

    /// Returns a declared type with the callables among the given values. The declared type need not be a callable
    /// type: it may be a type parameter (Rust).
    pub(crate) fn callables_for(&self, declared: Typed, given: Vec<Typed>) -> Typed {
        self.callables_up_to(MOST, declared, given)
    }

    fn callables_up_to(&self, most: usize, declared: Typed, given: Vec<Typed>) -> Typed {
        // One value may have been taken from a table.
        let most = if given.len() == 1 { UNION_LIMIT - 1 } else { most };
        let of_library = matches!(self.values.members(declared.value)[..], [Val::Library { .. } | Val::Param { .. }]);
        let mut steps = declared.inferred_steps;
        let mut found: Vec<Val> = Vec::new();
        for typed in given {
            let before = found.len();
            self.callables_in(typed, of_library, POINTERS, &mut found);
            if found.len() > before {
                steps = steps.max(typed.inferred_steps);
            }
        }
        if found.is_empty() || found.len() > most {
            return declared;
        }
        let is_one = found.len() == 1;
        if let [Val::Instance { class, .. }] = self.values.members(declared.value)[..]
            && !self.derived(class).is_empty()
        {
            found.extend(self.values.members(declared.value));
        }
        let typed = Typed { value: self.values.union(&found), inferred_steps: steps };
        if is_one { typed } else { self.inferred(typed) }
    }

    /// Returns the declared type of a field that takes a lambda, with the callables that are assigned to it (Java).
    pub(crate) fn or_assigned_callables(&self, field: VarRef, declared: Typed) -> Typed {
        self.or_callables(declared, || {
            let own = self.program.assigns_of(field).filter(|row| row.value.is_some()).map(|row| (row.at, row.value));
            let given = own.chain(self.values_assigned_to(field));
            given
                .map(|(at, value)| self.callable_kept(Scope { file: field.file, at, env: EnvId::NONE }, value))
                .collect()
        })
    }

    /// Returns the value of a form that is stored. For a parameter it adds the callables that callers pass, because the
    /// code that calls the stored value later is none of these callers. Calls in the parameter's own body belong to its
    /// summary, which lists them for each caller.
    pub(crate) fn callable_kept(&self, scope: Scope, form: FormId) -> Typed {
        let facts = self.program.facts(scope.file);
        let typed = self.eval(scope, form);
        let inner = unwrap_single_argument(facts, form);
        match facts.form(inner) {
            Form::Var(var) => match facts.var(var).kind {
                VarKind::Param(index) if facts.assigns_of(var).next().is_none() => {
                    let body = scope.file.body_ref(facts.var(var).body);
                    let own = if inner == form { typed } else { self.eval(scope, inner) };
                    let passed = self.or_passed_callables(body, index, own);
                    if passed.value == own.value { typed } else { passed }
                }
                _ => typed,
            },
            _ => typed,
        }
    }

    /// Returns the declared type of a parameter that takes a lambda, with the callables that known callers pass.
    fn or_passed_callables(&self, body: BodyRef, index: u32, declared: Typed) -> Typed {
        let typed = self.or_callables(declared, || {
            let sites = self.sites_calling(body);
            let passed = sites.into_iter().take(MOST_PLACES).filter_map(|site| {
                let form = self.passed(site, body, index)?;
                Some(self.eval(self.scope_of(site, EnvId::NONE), form))
            });
            passed.collect()
        });
        // The maker of an object decides which of several callables the object got.
        let is_callable = |val: &&Val| match val {
            Val::Fn { .. } | Val::Partial { .. } => true,
            Val::Instance { .. } => !self.callables_of(**val).is_empty(),
            _ => false,
        };
        let several = self.values.members(typed.value).iter().filter(is_callable).count() > 1;
        if several { Typed { inferred_steps: LOW_STEPS, ..typed } } else { typed }
    }

    /// Returns the declared result type of a body, with the callables that the body returns, if a lambda can implement
    /// the type.
    pub(crate) fn or_returned_callables(&self, body: BodyRef, env: EnvId, declared: Typed) -> Typed {
        self.or_callables(declared, || {
            let is_given = |exit: &Exit| exit.kind == ExitKind::Return && exit.value.is_some();
            let exits = self.program.exits_in(body).filter(is_given);
            let given =
                exits.take(MOST_PLACES).map(|exit| self.eval(Scope { file: body.file, at: exit.at, env }, exit.value));
            given.collect()
        })
    }

    /// Returns both halves of a composed callable: `load.andThen(show)` runs one and then the other (Java).
    pub(crate) fn put_together(&self, site: SiteRef, env: EnvId) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        if !lang::java::names::COMPOSERS.contains(&facts.text(self.program.site(site).name)) {
            return None;
        }
        let scope = self.scope_of(site, env);
        let [second] = self.program.args_of(site)[..] else { return None };
        let mut found = Vec::new();
        let first = self.eval(scope, self.receiver_form(site)?);
        self.callables_in(first, true, POINTERS, &mut found);
        if found.is_empty() {
            return None;
        }
        let second = self.eval(scope, second.value);
        self.callables_in(second, true, POINTERS, &mut found);
        Some(Typed {
            value: self.values.union(&found),
            inferred_steps: first.inferred_steps.max(second.inferred_steps),
        })
    }

    /// Returns the names under which a lambda or method reference is called, by the interfaces that its place asks for
    /// (Java).
    pub fn called_through(&self, file: FileId, mention: Mention) -> Vec<Name> {
        if self.program.language(file) != Language::Java {
            return Vec::new();
        }
        let mut names: Vec<Name> = Vec::new();
        if let Mention::Arg(site, arg) = mention {
            names.extend(self.asked_by_rows(file.site_ref(site), arg));
            names.extend(self.names_run_during(file.site_ref(site), arg));
        }
        for val in self.declared_for(file, mention) {
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

    /// Returns the method names of the language's own functional interfaces.
    fn functional_names_of_language(&self) -> impl Iterator<Item = Name> {
        lang::java::words::FUNCTIONAL_METHODS.iter().filter_map(|method| self.program.name(method))
    }

    /// Returns the method names by which a library may call an argument. Elements of a library's container and
    /// arguments of a call that makes a library's value (`Map.of("a", work)`) may be called by any name of the
    /// language's own interfaces.
    fn asked_by_rows(&self, site: SiteRef, arg: u32) -> Vec<Name> {
        let targets = self.targets(site, EnvId::NONE);
        let is_added = targets.list.iter().any(|target| match *target {
            crate::calls::targets::Target::Row { path, .. } => self
                .library
                .calls(path)
                .with(|row| row.adds.is_some() || row.returns.is_some())
                .any(|row| row.row.adds.as_ref().is_none_or(|argument| self.is_argument(site, arg, argument))),
            _ => false,
        });
        if !is_added {
            return Vec::new();
        }
        self.functional_names_of_language().collect()
    }
}
