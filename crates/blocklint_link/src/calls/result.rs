//! Results of calls: of functions, constructors, library rows and builtins.

use crate::lang;
use crate::linker::{Linker, Query, Typed};
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, PathId, SiteRef};
use crate::values::value::{ArgsId, BoundId, EnvId, Val, Why};
use blocklint_core::Language;
use blocklint_facts::{Form, FormId, SiteKind, VarKind};
use blocklint_models::{Argument, CallRow, Selector};
use smallvec::SmallVec;

impl<'a> Linker<'a> {
    /// What a site gives.
    pub fn result(&self, site: SiteRef, env: EnvId) -> Typed {
        self.remember(Query::Result(site, env), || {
            let facts = self.program.facts(site.file);
            let row = self.program.site(site);
            let scope = self.scope_of(site, env);
            match row.kind {
                SiteKind::Call | SiteKind::New | SiteKind::Macro => {
                    let callee = self.callee(site, env);
                    let callee = self.without_none(callee);
                    let given = self.map(callee, |val| self.call_member(val, site, env));
                    if facts.language == Language::Java && self.values.is_unknown(given.value) {
                        let made = lang::java::generated_code::generated(self, site, env);
                        let made = made.or_else(|| self.functional_result(site, env));
                        return made.or_else(|| self.put_together(site, env)).unwrap_or(given);
                    }
                    if facts.language == Language::Rust && self.values.is_unknown(given.value) {
                        return self.built_by_derived(site, env).unwrap_or(given);
                    }
                    given
                }
                SiteKind::Decorate => self.decorated(site, env),
                SiteKind::Enter => {
                    let operand = self.eval(scope, row.callee);
                    let is_async = row.flags.has(blocklint_facts::SiteFlags::ASYNC);
                    self.map(operand, |val| self.context_value(val, is_async))
                }
                SiteKind::Operator | SiteKind::Subscript => {
                    let operand = self.eval(scope, row.callee);
                    let Some(name) = self.program.global(site.file, row.name) else {
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

    /// The callee of a call; of Java's bare names a method of the classes around.
    pub fn callee(&self, site: SiteRef, env: EnvId) -> Typed {
        let facts = self.program.facts(site.file);
        let row = self.program.site(site);
        let scope = self.scope_of(site, env);
        match facts.language {
            Language::Java => self.remember(Query::Callee(site, env), || lang::java::names::callee(self, scope, site)),
            Language::Rust => lang::rust::names::callee(self, scope, site),
            Language::Python => self.eval(scope, row.callee),
        }
    }

    /// What calling one member gives.
    pub(crate) fn call_member(&self, val: Val, site: SiteRef, env: EnvId) -> Typed {
        match val {
            Val::Unknown(why) => self.unknown(if why == Why::Library { why } else { Why::Result }),
            Val::Class(class) if self.program.language(class.file) == Language::Rust => {
                self.constructed(class, site, env)
            }
            Val::Class(class) => {
                let made = Val::Instance { class, exact: true, args: ArgsId::NONE };
                self.known(self.as_closure(made, env).unwrap_or(made))
            }
            Val::Fn { body, receiver, env: captured } => {
                let with_receiver = self.takes(body, receiver);
                let bound = self.bind(body, captured, site, env, with_receiver);
                let receiver = receiver.is_some().then(|| self.values.single(receiver));
                if let Some(picked) = self.overloaded(body, site, env, with_receiver, receiver) {
                    return picked;
                }
                if let Some(chosen) = self.given_by_literals(body, bound, site, with_receiver) {
                    return chosen;
                }
                let given = self.with_override_results(body, receiver, self.called(body, bound, receiver));
                if let Some(passed) = self.returned_argument(given, body, site, env, with_receiver) {
                    return passed;
                }
                if self.program.language(body.file) == Language::Rust {
                    return self.inferred_from_arguments(given, body, site, env, with_receiver);
                }
                given
            }
            Val::External(path) => self.library_result(path, BoundId::NONE, site, env),
            Val::Method { path, receiver } => self.library_result(path, receiver, site, env),
            Val::Partial { inner, .. } => self.call_member(self.values.single(inner), site, env),
            // A method that a macro wrote under the name of a field: its getter.
            Val::Instance { class, .. } if self.program.language(class.file) == Language::Rust => self.known(val),
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

    /// Where a function without declared result returns a parameter, what was passed there; in Rust also what that gives where the
    /// function calls it for its result: `fn with<T>(&self, work: impl FnOnce(&Conn) -> T) -> T { work(&conn) }`.
    pub(crate) fn returned_argument(
        &self,
        given: Typed,
        body: BodyRef,
        site: SiteRef,
        env: EnvId,
        with_receiver: bool,
    ) -> Option<Typed> {
        if !self.values.is_unknown(given.value) {
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
        let known = |typed: Typed| (!self.values.is_unknown(typed.value)).then_some(typed);
        if self.program.body(body).flow == blocklint_facts::Flow::Sync
            && let Some(index) = self.program.exits_in(body).find_map(|exit| param(exit.value))
            && let Some(typed) = passed(index).and_then(known)
        {
            return Some(typed);
        }
        if facts.language != Language::Rust {
            return None;
        }
        let called = self.program.exits_in(body).find_map(|exit| match facts.form(exit.value) {
            Form::Result(call) => param(facts.site(call).callee),
            _ => None,
        })?;
        let typed = self.map(passed(called)?, |val| self.result_of_callable(val, false));
        known(self.as_value(typed))
    }

    /// What a decorator makes of what it decorates.
    pub(crate) fn decorated(&self, site: SiteRef, env: EnvId) -> Typed {
        let row = self.program.site(site);
        let scope = self.scope_of(site, env);
        let [arg] = self.program.args_of(site)[..] else { return self.unknown(Why::Result) };
        let inner = self.eval(scope, arg.value);
        let decorator = self.eval(scope, row.callee);
        self.map(decorator, |val| match val {
            // A decorator without a row keeps the function; one that is not known does so at medium.
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
                let given = self.call_member(val, site, env);
                let members = self.values.members(given.value);
                // What says nothing of its result, or gives an object that cannot be called, kept the function.
                let given = self.of_same_kind(given, inner);
                if members.iter().any(|val| {
                    matches!(val, Val::Fn { .. } | Val::Class(_) | Val::Partial { .. } | Val::Method { .. })
                        || matches!(val, Val::Instance { .. })
                }) {
                    given
                } else {
                    Typed { inferred_steps: inner.inferred_steps.max(1), ..inner }
                }
            }
        })
    }

    /// Of closures of both kinds that a decorator may return, those of the kind of what it decorates: a coroutine
    /// function gets the coroutine.
    pub(crate) fn of_same_kind(&self, given: Typed, inner: Typed) -> Typed {
        let is_coroutine = |val: &Val| match *val {
            Val::Fn { body, .. } => Some(self.program.body(body).flow == blocklint_facts::Flow::Coroutine),
            _ => None,
        };
        let members = self.values.members(given.value);
        let kinds: Vec<Option<bool>> = members.iter().map(is_coroutine).collect();
        if !(kinds.contains(&Some(true)) && kinds.contains(&Some(false))) {
            return given;
        }
        let [wanted] = self.values.members(inner.value)[..] else { return given };
        let Some(wanted) = is_coroutine(&wanted) else { return given };
        let kept: Vec<Val> =
            members.iter().zip(&kinds).filter(|(_, kind)| **kind == Some(wanted)).map(|(val, _)| *val).collect();
        Typed { value: self.values.union(&kept), ..given }
    }

    /// What `with … as` binds.
    pub(crate) fn context_value(&self, val: Val, is_async: bool) -> Typed {
        match val {
            Val::Iter { body, env } => self.yielded(body, env),
            Val::Library { ty, args, .. } => {
                for &of in self.library.supertypes(ty).iter() {
                    if let Some(enters) = self.library.ty(of).and_then(|rows| rows.enters().cloned()) {
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
                        let given = self.returned(body, env, Some(val));
                        if self.values.is_unknown(given.value) { self.known(val) } else { given }
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

    /// What a library call gives, by its rows.
    pub(crate) fn library_result(&self, path: PathId, receiver: BoundId, site: SiteRef, env: EnvId) -> Typed {
        let text = self.library.text(path);
        let facts = self.program.facts(site.file);
        if facts.language == Language::Python
            && let Some(typed) = self.python_builtin(&text, site, env)
        {
            return typed;
        }
        if let Some(wrapped) = self.wrapped_argument(path, site, env) {
            return wrapped;
        }
        if receiver.is_some()
            && facts.language == Language::Rust
            && let Some(collected) = self.collected(&text, self.values.single(receiver), site, env)
        {
            return collected;
        }
        let rows = self.rows_at(path, site);
        let own = if receiver.is_some() {
            self.values.single(receiver)
        } else {
            match self.library.split(path) {
                Some((parent, _)) if self.library.is_type(parent) => Val::External(parent),
                _ => Val::External(path),
            }
        };
        let holds = |row: &CallRow| self.conditions_shown(&row.when, &row.unless, site, env);
        // What a caller decides is lazy all the same.
        let may_hold = |row: &CallRow| {
            row.when.iter().all(|when| {
                matches!(self.shown(when, site, receiver, env), ConditionResult::Yes | ConditionResult::Param(_))
            })
        };
        let effect_row = rows.effect().find(|row| holds(row.row)).or_else(|| {
            let is_rust = facts.language == Language::Rust;
            rows.effect().filter(|row| is_rust && row.lazy).find(|row| may_hold(row.row))
        });
        let returns = rows.with(|row| row.returns.is_some()).find(|row| holds(row.row));
        let is_async = rows.with(|row| row.is_async.is_some()).next().is_some_and(|row| row.is_async == Some(true));
        let given = match returns.and_then(|row| row.row.returns.as_ref()) {
            Some(returns) => self.type_value(returns, own, Some((site, env))),
            None if !is_async && self.library.is_type(path) => {
                let made = Some(site).filter(|_| self.library.makes_state(path));
                self.known(Val::Library { ty: path, args: ArgsId::NONE, made })
            }
            // `clone` and the like of a type that says nothing of them.
            None if rows.is_empty()
                && facts.language == Language::Rust
                && lang::rust::names::keeps_receiver(text.rsplit("::").next().unwrap_or("")) =>
            {
                match (receiver.is_some(), self.argument(site, &blocklint_models::Argument::Position(0))) {
                    (true, _) => self.known(own),
                    (false, Some(form)) => self.eval(self.scope_of(site, env), form),
                    (false, None) => self.unknown(Why::Result),
                }
            }
            None if rows.is_empty()
                && facts.language == Language::Java
                && let Some(stub) = lang::java::generated_code::generated_stub(&text) =>
            {
                let ty = self.library.path(Language::Java, &stub);
                self.known(Val::Library { ty, args: ArgsId::NONE, made: None })
            }
            // A method of a builder that no row names: its others give the builder back.
            None if rows.is_empty()
                && facts.language == Language::Rust
                && let Val::Library { ty, .. } = own
                && lang::rust::conventions::is_builder(&self.library.text(ty)) =>
            {
                self.inferred(self.known(own))
            }
            // `request.app_data::<Data<App>>()`: a value of the type that is written there, or none.
            None if facts.language == Language::Rust
                && let Some(written) = self.written_in_call(site, env) =>
            {
                written
            }
            None if rows.is_empty()
                && facts.language == Language::Java
                && let Some(plain) = lang::java::generated_code::behind_binding(&text) =>
            {
                let given = self.library_result(self.library.path(Language::Java, &plain), receiver, site, env);
                self.map(given, |val| self.given_by_binding(val))
            }
            None if rows.is_empty() && !self.library.speaks(path) => self.unknown(Why::Library),
            None => self.unknown(Why::Result),
        };
        // Java has nothing that awaits: its rows name the future or publisher itself.
        if is_async && self.library.language(path) != Language::Java {
            return self.known(Val::Awaitable(given.value));
        }
        let lazy = effect_row.is_some_and(|row| row.lazy);
        if lazy && effect_row.is_some_and(|row| row.held().is_none()) {
            let carried = self.lazy_inputs(receiver, site, env);
            if !carried.is_empty() {
                // `lines.map(parse)` holds other elements back.
                let element = self.map(given, |val| self.element(val)).value;
                let holding = carried.into_iter().map(|val| match val {
                    Val::Lazy { made, path, .. } if !self.values.is_unknown(element) => {
                        Val::Lazy { made, path, element }
                    }
                    other => other,
                });
                return Typed { value: self.values.union(&holding.collect::<Vec<Val>>()), ..given };
            }
        } else if lazy {
            let element = self.map(given, |val| self.element(val));
            return self.known(Val::Lazy { made: site, path, element: element.value });
        }
        // What it goes through later is no call of a library, but objects whose iteration does something.
        if lazy && self.library.language(path) == Language::Python && !self.sources(site, env).is_empty() {
            let element = self.map(given, |val| self.element(val));
            return Typed {
                value: self.values.union(&[Val::Lazy { made: site, path, element: element.value }]),
                ..given
            };
        }
        given
    }

    /// The lazy values among a call's receiver and arguments, which its own lazy result goes through.
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

    /// Calls of builtins that mean something to the language itself.
    pub(crate) fn python_builtin(&self, path: &str, site: SiteRef, env: EnvId) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        let args = self.program.args_of(site);
        let scope = self.scope_of(site, env);
        match path {
            // A decorator that is called by hand.
            _ if lang::python::names::decorator(path) == Some(lang::python::names::Decorator::ContextManager) => {
                let [function] = args[..] else { return None };
                Some(self.eval(scope, function.value))
            }
            "builtins.super" => {
                let body = facts.body_of(scope.at);
                let class = match args[..] {
                    [of, ..] => match self.values.members(self.eval(scope, of.value).value)[..] {
                        [Val::Class(class)] => class,
                        _ => return Some(self.unknown(Why::Result)),
                    },
                    [] => self.class_around(site.file.body_ref(body))?,
                };
                // What derives from the class does not count: the lookup goes the other way.
                let receiver = self.values.bound(Val::Instance { class, exact: true, args: ArgsId::NONE });
                Some(self.known(Val::Super { class, receiver }))
            }
            "typing.cast" => {
                let [ty, value] = args[..] else { return None };
                let declared = self.annotation(scope, ty.value);
                Some(if self.values.is_unknown(declared.value) { self.eval(scope, value.value) } else { declared })
            }
            "builtins.getattr" => {
                let [object, name, ref rest @ ..] = args[..] else { return None };
                let Form::Str(sym) = facts.form(name.value) else { return Some(self.unknown(Why::Result)) };
                let object = self.eval(scope, object.value);
                let name = self.program.global(site.file, sym)?;
                let given = self.map(object, |val| self.attr(val, name));
                Some(match rest {
                    [default] if !self.values.is_unknown(given.value) => {
                        self.join(&[given, self.eval(scope, default.value)])
                    }
                    _ => given,
                })
            }
            "builtins.type" => {
                let [object] = args[..] else { return Some(self.unknown(Why::Result)) };
                let object = self.eval(scope, object.value);
                Some(self.map(object, |val| match val {
                    Val::Instance { class, .. } => self.known(Val::Class(class)),
                    Val::Library { ty, .. } => self.known(Val::External(ty)),
                    _ => self.unknown(Why::Result),
                }))
            }
            _ => None,
        }
    }

    /// The callable that a row with `wraps` makes of an argument.
    pub(crate) fn wrapped_argument(&self, path: PathId, site: SiteRef, env: EnvId) -> Option<Typed> {
        let handovers = self.library.handovers(path);
        for row in handovers.iter().filter(|row| row.wraps) {
            let Selector::Argument(argument) = &row.selector else { continue };
            let Some(form) = self.argument(site, argument) else {
                // `@sync_to_async(thread_sensitive=False)`: without the callable it makes a decorator of itself.
                if self.program.args_of(site).iter().all(|arg| arg.name.is_some()) {
                    return Some(self.known(Val::External(path)));
                }
                continue;
            };
            let inner = self.eval(self.scope_of(site, env), form);
            let given = match (row.passes, argument) {
                (Some(blocklint_models::Passes::Rest), Argument::Position(0) | Argument::Either(_, 0)) => {
                    self.program.args_of(site).iter().filter(|arg| arg.name.is_none()).count().saturating_sub(1)
                }
                _ => 0,
            };
            return Some(self.map(inner, |inner| match inner {
                Val::Unknown(why) => self.unknown(why),
                inner => self.known(Val::Partial {
                    inner: self.values.bound(inner),
                    made: site,
                    given: u8::try_from(given).unwrap_or(u8::MAX),
                }),
            }));
        }
        None
    }
}
