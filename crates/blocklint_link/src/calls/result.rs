//! Results of calls: of functions, constructors, library rows, decorators and builtins.

use crate::lang;
use crate::linker::{Linker, Typed};
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, PathId, SiteRef};
use crate::values::value::{ArgsId, BoundId, EnvId, Val, Why};
use blocklint_core::Language;
use blocklint_facts::{Flow, Form, FormId, SiteFlags, SiteKind, VarKind};
use blocklint_models::{Argument, CallRow, Passes, Selector};
use smallvec::SmallVec;

impl<'a> Linker<'a> {
    /// Returns the value of a site: the result of its call.
    pub fn result(&self, site: SiteRef, env: EnvId) -> Typed {
        self.query_value(&self.tables.calls.results, (site, env), || {
            let semantics = lang::semantics(self.program.language(site.file));
            let site_facts = self.program.site(site);
            let scope = self.scope_of(site, env);
            match site_facts.kind {
                SiteKind::Call | SiteKind::New | SiteKind::Macro => {
                    let callee = self.callee(site, env);
                    let callee = semantics.callees_that_fit_use(self, self.without_none(callee), site, env);
                    let result = self.map(callee, |val| self.call_member(val, site, env));
                    if self.values.is_unknown(result.value) {
                        return semantics.unknown_result(self, site, env).unwrap_or(result);
                    }
                    result
                }
                SiteKind::Decorate => self.decorated_value(site, env),
                SiteKind::Enter => {
                    let operand = self.eval(scope, site_facts.callee);
                    let is_async = site_facts.flags.has(SiteFlags::ASYNC);
                    self.map(operand, |val| self.context_value(val, is_async))
                }
                SiteKind::Operator | SiteKind::Subscript => {
                    let operand = self.eval(scope, site_facts.callee);
                    let Some(name) = self.program.global(site.file, site_facts.name) else {
                        return self.unknown(Why::Result);
                    };
                    let method = self.map(operand, |val| match val {
                        Val::Instance { .. } | Val::Library { .. } => self.attr(val, name),
                        _ => self.unknown(Why::Result),
                    });
                    self.map(method, |val| self.call_member(val, site, env))
                }
                _ => self.unknown(Why::Result),
            }
        })
    }

    /// Returns the value of the callee of a call, by the rules of its language.
    pub fn callee(&self, site: SiteRef, env: EnvId) -> Typed {
        lang::semantics(self.program.language(site.file)).callee(self, self.scope_of(site, env), site)
    }

    /// Returns the result of a call of one member of the callee's value.
    pub(crate) fn call_member(&self, val: Val, site: SiteRef, env: EnvId) -> Typed {
        match val {
            Val::Unknown(why) => self.unknown(if why == Why::Library { why } else { Why::Result }),
            Val::Class(class) => {
                lang::semantics(self.program.language(class.file)).constructor_result(self, class, site, env)
            }
            Val::Fn { body, receiver, env: captured } => {
                let with_receiver = self.has_implicit_receiver(body, receiver);
                let bound = self.bind(body, captured, site, env, with_receiver);
                let receiver = receiver.is_some().then(|| self.values.single(receiver));
                if let Some(picked) = self.overload_result(body, site, env, with_receiver, receiver) {
                    return picked;
                }
                let chosen = self.result_by_literals(body, bound, site, with_receiver);
                if let Some(chosen) = chosen.or_else(|| self.result_by_key(body, site, with_receiver)) {
                    return chosen;
                }
                let result = self.with_override_results(body, receiver, self.value_of_call(body, bound, receiver));
                if let Some(passed) = self.returned_argument(result, body, site, env, with_receiver) {
                    return passed;
                }
                let semantics = lang::semantics(self.program.language(body.file));
                semantics.refine_result(self, result, body, (site, env), with_receiver)
            }
            Val::External(path) => self.library_result(path, BoundId::NONE, site, env),
            Val::Method { path, receiver } => self.library_result(path, receiver, site, env),
            Val::Partial { inner, .. } => self.call_member(self.values.single(inner), site, env),
            Val::Instance { class, .. }
                if lang::semantics(self.program.language(class.file)).calls_getter_by_field() =>
            {
                self.known(val)
            }
            Val::Instance { .. } => match self.program.name("__call__") {
                Some(name) => {
                    let call = self.attr(val, name);
                    self.map(call, |call| match call {
                        Val::Fn { .. } => self.call_member(call, site, env),
                        _ => self.unknown(Why::Result),
                    })
                }
                None => self.unknown(Why::Result),
            },
            Val::Library { ty, args, .. } => {
                let path = self.library.member(ty, "__call__");
                if !self.library.calls(path).is_empty() {
                    return self.library_result(path, self.values.bound(val), site, env);
                }
                match self.transparent_inner(ty, args) {
                    Some(inner) => self.map(inner, |inner| self.call_member(inner, site, env)),
                    None => self.unknown(Why::Result),
                }
            }
            _ => self.unknown(Why::Result),
        }
    }

    /// Returns the argument that a function without declared result type returns: `def same(it): return it`. In Rust it
    /// returns the result of a callable argument if the function returns that:
    /// `fn with<T>(&self, work: impl FnOnce(&Conn) -> T) -> T { work(&conn) }`.
    pub(crate) fn returned_argument(
        &self,
        declared: Typed,
        body: BodyRef,
        site: SiteRef,
        env: EnvId,
        with_receiver: bool,
    ) -> Option<Typed> {
        if !self.values.is_unknown(declared.value) {
            return None;
        }
        let (facts, body_id) = self.program.facts_and_id(body);
        let param = |form: FormId| {
            let Form::Var(var) = facts.form(form) else { return None };
            match facts.var(var).kind {
                VarKind::Param(index) if facts.var(var).body == body_id => Some(index),
                _ => None,
            }
        };
        let passed = |index: u32| {
            let form = self.argument_for_param(site, body, index, with_receiver)?;
            Some(self.eval(self.scope_of(site, env), form))
        };
        let if_known = |typed: Typed| (!self.values.is_unknown(typed.value)).then_some(typed);
        if self.program.body(body).flow == Flow::Sync
            && let Some(index) = self.program.exits_in(body).find_map(|exit| param(exit.value))
            && let Some(typed) = passed(index).and_then(if_known)
        {
            return Some(typed);
        }
        if !lang::words_of(facts.language).returns_result_of_callable {
            return None;
        }
        let called = self.program.exits_in(body).find_map(|exit| match facts.form(exit.value) {
            Form::Result(call) => param(facts.site(call).callee),
            _ => None,
        })?;
        let typed = self.map(passed(called)?, |val| self.result_of_callable(val, false));
        if_known(self.as_value(typed))
    }

    /// Returns the value of a decorated function or class.
    pub(crate) fn decorated_value(&self, site: SiteRef, env: EnvId) -> Typed {
        let site_facts = self.program.site(site);
        let scope = self.scope_of(site, env);
        let [arg] = self.program.args_of(site)[..] else { return self.unknown(Why::Result) };
        let inner = self.eval(scope, arg.value);
        let decorator = self.eval(scope, site_facts.callee);
        self.map(decorator, |val| match val {
            // A library's decorator without a row returns the function. An unknown decorator is assumed to do so, which
            // is an inferred step.
            Val::Unknown(Why::Library) => inner,
            Val::Unknown(_) => self.inferred(inner),
            Val::External(_) | Val::Method { .. } => {
                let path = match val {
                    Val::External(path) | Val::Method { path, .. } => path,
                    _ => return inner,
                };
                let wraps = self.library.handovers(path).iter().any(|row| row.wraps);
                if wraps {
                    return self.map(inner, |inner| {
                        self.known(Val::Partial { inner: self.values.bound(inner), made: site, given: 0 })
                    });
                }
                inner
            }
            _ => {
                let result = self.call_member(val, site, env);
                let members = self.values.members(result.value);
                // A decorator whose result is unknown or cannot be called is assumed to return the function.
                let result = self.closures_of_same_kind(result, inner);
                if members.iter().any(|val| {
                    matches!(val, Val::Fn { .. } | Val::Class(_) | Val::Partial { .. } | Val::Method { .. })
                        || matches!(val, Val::Instance { .. })
                }) {
                    result
                } else {
                    Typed { inferred_steps: inner.inferred_steps.max(1), ..inner }
                }
            }
        })
    }

    /// Returns the closures of a decorator's result that are of the same kind as the decorated function: the coroutine
    /// functions if that is a coroutine function. A result without closures of both kinds is returned unchanged.
    pub(crate) fn closures_of_same_kind(&self, result: Typed, inner: Typed) -> Typed {
        let is_coroutine = |val: &Val| match *val {
            Val::Fn { body, .. } => Some(self.program.body(body).flow == Flow::Coroutine),
            _ => None,
        };
        let members = self.values.members(result.value);
        let kinds: Vec<Option<bool>> = members.iter().map(is_coroutine).collect();
        if !(kinds.contains(&Some(true)) && kinds.contains(&Some(false))) {
            return result;
        }
        let [decorated] = self.values.members(inner.value)[..] else { return result };
        let Some(decorated) = is_coroutine(&decorated) else { return result };
        let same_kind: Vec<Val> =
            members.iter().zip(&kinds).filter(|(_, kind)| **kind == Some(decorated)).map(|(val, _)| *val).collect();
        Typed { value: self.values.union(&same_kind), ..result }
    }

    /// Returns the value that `with … as` binds for one member of the context manager's value.
    pub(crate) fn context_value(&self, val: Val, is_async: bool) -> Typed {
        match val {
            Val::Iter { body, env } => self.yielded(body, env),
            Val::Library { ty, args, .. } => {
                for &supertype in self.library.supertypes(ty).iter() {
                    if let Some(enters) = self.library.ty(supertype).and_then(|rows| rows.enters().cloned()) {
                        return self.type_value(&enters, val, None);
                    }
                }
                if let Some(inner) = self.transparent_inner(ty, args) {
                    return inner;
                }
                self.known(val)
            }
            Val::Instance { .. } => {
                let method = if is_async { "__aenter__" } else { "__enter__" };
                let Some(name) = self.program.name(method) else { return self.known(val) };
                let enter = self.attr(val, name);
                self.map(enter, |enter| match enter {
                    Val::Fn { body, env, .. } => {
                        let entered = self.returned(body, env, Some(val));
                        if self.values.is_unknown(entered.value) { self.known(val) } else { entered }
                    }
                    Val::Method { .. } => self.known(val),
                    _ => self.unknown(Why::Result),
                })
            }
            Val::Unknown(why) => self.unknown(why),
            Val::Awaitable(value) if is_async => {
                let inner = Typed { value, inferred_steps: 0 };
                self.map(inner, |inner| self.context_value(inner, true))
            }
            other => self.known(other),
        }
    }

    /// Returns the result of a library call, by its rows.
    pub(crate) fn library_result(&self, path: PathId, receiver: BoundId, site: SiteRef, env: EnvId) -> Typed {
        let text = self.library.text(path);
        let facts = self.program.facts(site.file);
        let semantics = lang::semantics(facts.language);
        if let Some(typed) = semantics.builtin_result(self, &text, site, env) {
            return typed;
        }
        if let Some(wrapped) = self.wrapped_argument(path, site, env) {
            return wrapped;
        }
        if receiver.is_some()
            && let Some(collected) = semantics.collect_result(self, &text, self.values.single(receiver), (site, env))
        {
            return collected;
        }
        let rows = self.rows_for_call(path, site);
        let receiver_val = if receiver.is_some() {
            self.values.single(receiver)
        } else {
            match self.library.split(path) {
                Some((parent, _)) if self.library.is_type(parent) => Val::External(parent),
                _ => Val::External(path),
            }
        };
        let holds = |row: &CallRow| self.conditions_hold(&row.when, &row.unless, site, env);
        // A row with a condition that the caller decides may be lazy too.
        let may_hold = |row: &CallRow| {
            row.when.iter().all(|when| {
                matches!(
                    self.condition_result(when, site, receiver, env),
                    ConditionResult::Yes | ConditionResult::Param(_)
                )
            })
        };
        let effect_row = rows.effect().find(|matched| holds(matched.row)).or_else(|| {
            let is_rust = facts.language == Language::Rust;
            rows.effect().filter(|row| is_rust && row.lazy).find(|matched| may_hold(matched.row))
        });
        let returns = rows.with(|row| row.returns.is_some()).find(|matched| holds(matched.row));
        let is_async = rows.with(|row| row.is_async.is_some()).next().is_some_and(|row| row.is_async == Some(true));
        let result = match returns.and_then(|matched| matched.row.returns.as_ref()) {
            Some(returns) => self.type_value(returns, receiver_val, Some((site, env))),
            None if !is_async && self.library.is_type(path) => {
                let creation = Some(site).filter(|_| self.library.makes_state(path));
                self.known(Val::Library { ty: path, args: ArgsId::NONE, made: creation })
            }
            None if rows.is_empty()
                && let Some(result) =
                    semantics.result_without_row(self, &text, receiver_val, receiver, (site, env)) =>
            {
                result
            }
            None if let Some(written) = semantics.result_by_type_argument(self, site, env) => written,
            None if rows.is_empty() && !self.library.is_described(path) => self.unknown(Why::Library),
            None => self.unknown(Why::Result),
        };
        if is_async && lang::words_of(self.library.language(path)).has_await {
            return self.known(Val::Awaitable(result.value));
        }
        let lazy = effect_row.is_some_and(|row| row.lazy);
        if lazy && effect_row.is_some_and(|row| row.held_effect().is_none()) {
            let inputs = self.lazy_inputs(receiver, site, env);
            if !inputs.is_empty() {
                // The elements of `lines.map(parse)` differ from those of `lines`.
                let element = self.map(result, |val| self.element(val)).value;
                let holding = inputs.into_iter().map(|val| match val {
                    Val::Lazy { made, path, .. } if !self.values.is_unknown(element) => {
                        Val::Lazy { made, path, element }
                    }
                    other => other,
                });
                return Typed { value: self.values.union(&holding.collect::<Vec<Val>>()), ..result };
            }
        } else if lazy {
            let element = self.map(result, |val| self.element(val));
            return self.known(Val::Lazy { made: site, path, element: element.value });
        }
        // The later iteration runs no library call, but it calls methods of the project's objects.
        if lazy && lang::semantics(self.library.language(path)).iterates_over_arguments(self, site, env) {
            let element = self.map(result, |val| self.element(val));
            return Typed {
                value: self.values.union(&[Val::Lazy { made: site, path, element: element.value }]),
                ..result
            };
        }
        result
    }

    /// Returns the lazy values among a call's receiver and arguments, over which the call's own lazy result iterates.
    pub(crate) fn lazy_inputs(&self, receiver: BoundId, site: SiteRef, env: EnvId) -> SmallVec<[Val; 4]> {
        let scope = self.scope_of(site, env);
        let mut members: SmallVec<[Val; 4]> = SmallVec::new();
        if receiver.is_some() {
            members.push(self.values.single(receiver));
        }
        for arg in &self.program.args_of(site) {
            members.extend(self.values.members(self.eval(scope, arg.value).value));
        }
        members.retain(|val| matches!(val, Val::Lazy { .. } | Val::Iter { .. }));
        members
    }

    /// Returns the callable that wraps an argument, if a row of the call has `wraps`.
    pub(crate) fn wrapped_argument(&self, path: PathId, site: SiteRef, env: EnvId) -> Option<Typed> {
        let handovers = self.library.handovers(path);
        for row in handovers.iter().filter(|row| row.wraps) {
            let Selector::Argument(argument) = &row.selector else { continue };
            let Some(form) = self.argument(site, argument) else {
                // `@sync_to_async(thread_sensitive=False)` without the callable returns a decorator.
                if self.program.args_of(site).iter().all(|arg| arg.name.is_some()) {
                    return Some(self.known(Val::External(path)));
                }
                continue;
            };
            let inner = self.eval(self.scope_of(site, env), form);
            let bound_count = match (row.passes, argument) {
                (Some(Passes::Rest), Argument::Position(0) | Argument::Either(_, 0)) => {
                    self.program.args_of(site).iter().filter(|arg| arg.name.is_none()).count().saturating_sub(1)
                }
                _ => 0,
            };
            return Some(self.map(inner, |inner| match inner {
                Val::Unknown(why) => self.unknown(why),
                inner => self.known(Val::Partial {
                    inner: self.values.bound(inner),
                    made: site,
                    given: u8::try_from(bound_count).unwrap_or(u8::MAX),
                }),
            }));
        }
        None
    }
}
