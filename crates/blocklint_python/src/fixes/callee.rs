//! Thread-bound actions of called functions: they commit a session, set a `ContextVar`, read the handled exception,
//! raise `StopIteration`, or write to a transport. A call of such a function cannot move to another thread.
//!
//! [`Functions::can_move`] follows calls within one file. For other files the engine calls [`find_bindings`], because
//! it knows the targets of a call.

use blocklint_core::{Refusal, Span};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    Arguments, ExceptHandler, Expr, ExprCall, ExprContext, ModModule, Stmt, StmtFunctionDef, StmtTry,
};
use ruff_text_size::Ranged;
use rustc_hash::{FxHashMap, FxHashSet};

use super::once::{ONCE, initialises_once};
use super::shared::{CollectionAttributes, Helpers, SHARED, find_shared_change};
use crate::walk::span;

/// The functions that a file defines, by name: functions outside of classes, and methods.
#[derive(Debug, Default)]
pub(super) struct Functions<'a> {
    free: FxHashMap<&'a str, Vec<&'a StmtFunctionDef>>,
    methods: FxHashMap<&'a str, Vec<&'a StmtFunctionDef>>,
}

impl<'a> Functions<'a> {
    pub(super) fn add(&mut self, function: &'a StmtFunctionDef, is_method: bool) {
        let table = if is_method { &mut self.methods } else { &mut self.free };
        table.entry(function.name.as_str()).or_default().push(function);
    }

    /// Returns the functions of the file with the name that is called: `load()`, `self.load()`.
    fn find_called(&self, call: &ExprCall) -> &[&'a StmtFunctionDef] {
        let functions = match &*call.func {
            Expr::Name(name) => self.free.get(name.id.as_str()),
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(name) if matches!(name.id.as_str(), "self" | "cls") => {
                    self.methods.get(attribute.attr.as_str())
                }
                _ => None,
            },
            _ => None,
        };
        functions.map_or(&[], Vec::as_slice)
    }

    /// Refuses a call that reaches a thread-bound action. `handles` is true if the call is in an exception handler.
    pub(super) fn can_move(&self, call: &ExprCall, handles: bool, locals: &ThreadLocals<'a>) -> Result<(), Refusal> {
        let mut visited = FxHashSet::default();
        let handlers = Handlers { handles, catches_stop: false };
        let mut pending: Vec<(&StmtFunctionDef, Handlers)> =
            self.find_called(call).iter().map(|function| (*function, handlers)).collect();
        while let Some((function, handlers)) = pending.pop() {
            if function.is_async || !visited.insert((std::ptr::from_ref(function), handlers)) {
                continue;
            }
            let mut body = Body::new(function, locals, handlers);
            body.visit_body(&function.body);
            match body.binding {
                // A generator's code runs where the generator is consumed.
                _ if body.yields => {}
                Some(reason) => return Err(Refusal::new(reason)),
                None => {
                    pending.extend(body.calls.iter().flat_map(|(call, handlers)| {
                        self.find_called(call).iter().map(|function| (*function, *handlers))
                    }))
                }
            }
        }
        Ok(())
    }
}

/// A thread-bound action of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The reason against the move: a clause that completes "no fix: …".
    pub reason: &'static str,
    /// The place to report: the name of the function, or the statement that changes shared state.
    pub span: Span,
    /// True if it matters only where the call is in an exception handler.
    pub only_while_handling: bool,
    /// True if it matters only where the blocking call is in the function, or is reached through it.
    pub only_on_the_way: bool,
}

/// Returns the thread-bound actions of each of these functions, which are given by their spans.
pub(super) fn find_bindings(module: &ModModule, functions: &[Span]) -> Vec<Vec<Binding>> {
    let locals = ThreadLocals::collect(&module.body);
    let collections = CollectionAttributes::collect(module);
    let helpers = Helpers::collect(module);
    let mut definitions = Definitions::default();
    definitions.visit_body(&module.body);
    let bindings_of = |function_span: &Span| {
        let Some(function) = definitions.0.get(function_span) else { return Vec::new() };
        // `__next__` ends an iteration by `StopIteration`.
        if function.is_async || function.name.as_str() == "__next__" {
            return Vec::new();
        }
        let mut bindings: Vec<Binding> = Vec::new();
        if initialises_once(function) {
            let span = span(function.name.range());
            bindings.push(Binding { reason: ONCE, span, only_while_handling: false, only_on_the_way: true });
        }
        if let Some(statement) = find_shared_change(function, &collections, &helpers) {
            let span = span(statement);
            bindings.push(Binding { reason: SHARED, span, only_while_handling: false, only_on_the_way: true });
        }
        for handles in [false, true] {
            let mut body = Body::new(function, &locals, Handlers { handles, catches_stop: false });
            body.visit_body(&function.body);
            let reason = body.binding.filter(|_| !body.yields);
            let span = span(function.name.range());
            let is_bound = reason.is_some();
            let binding = |reason| Binding { reason, span, only_while_handling: handles, only_on_the_way: false };
            bindings.extend(reason.map(binding));
            if is_bound {
                break;
            }
        }
        bindings
    };
    functions.iter().map(bindings_of).collect()
}

/// The functions of a module by their spans.
#[derive(Default)]
struct Definitions<'a>(FxHashMap<Span, &'a StmtFunctionDef>);

impl<'a> SourceOrderVisitor<'a> for Definitions<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::FunctionDef(function) = statement {
            self.0.insert(span(function.range()), function);
        }
        walk_stmt(self, statement);
    }
}

/// The exception handlers around a call, also around the calls on the path to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Handlers {
    /// True if an exception of the calling thread is being handled.
    handles: bool,
    /// True if a `StopIteration` is caught.
    catches_stop: bool,
}

/// Module-level names whose value differs for each thread or task: `ContextVar(…)`, `threading.local()`.
#[derive(Debug, Default)]
pub(super) struct ThreadLocals<'a>(FxHashSet<&'a str>);

impl<'a> ThreadLocals<'a> {
    pub(super) fn collect(body: &'a [Stmt]) -> Self {
        let mut found = FxHashSet::default();
        for statement in body {
            let (target, value) = match statement {
                Stmt::Assign(assign) => match assign.targets.as_slice() {
                    [target] => (target, Some(&assign.value)),
                    _ => continue,
                },
                Stmt::AnnAssign(assign) => (&*assign.target, assign.value.as_ref()),
                _ => continue,
            };
            if let (Expr::Name(name), Some(Expr::Call(call))) = (target, value.map(|value| &**value))
                && matches!(last_name(&call.func), Some("ContextVar" | "local"))
            {
                found.insert(name.id.as_str());
            }
        }
        ThreadLocals(found)
    }
}

/// The thread-bound actions and the calls in the statements of one function, without those of inner functions.
struct Body<'a, 'l> {
    /// The names of the parameters.
    parameters: FxHashSet<&'a str>,
    /// All names that the function binds, parameters included.
    bound: FxHashSet<&'a str>,
    locals: &'l ThreadLocals<'a>,
    handlers: Handlers,
    /// The reason of the last thread-bound action.
    binding: Option<&'static str>,
    yields: bool,
    calls: Vec<(&'a ExprCall, Handlers)>,
}

impl<'a, 'l> Body<'a, 'l> {
    fn new(function: &'a StmtFunctionDef, locals: &'l ThreadLocals<'a>, handlers: Handlers) -> Self {
        let parameters: FxHashSet<&str> =
            function.parameters.iter().map(|parameter| parameter.name().as_str()).collect();
        let mut names = BoundNames(parameters.clone());
        names.visit_body(&function.body);
        Body { parameters, bound: names.0, locals, handlers, binding: None, yields: false, calls: Vec::new() }
    }

    fn add_call(&mut self, call: &'a ExprCall) {
        self.calls.push((call, self.handlers));
        let Expr::Attribute(attribute) = &*call.func else { return };
        let root = root_name(&attribute.value).filter(|root| !self.bound.contains(root));
        match attribute.attr.as_str() {
            // A module-level session belongs to the thread, or all threads share it.
            "commit" | "rollback" if root.is_some() && attribute.value.is_name_expr() => {
                self.binding = Some("it ends a transaction of the session that belongs to this thread");
            }
            // A connection in an attribute is shared: on the loop no other task uses it between the function's
            // statements.
            "commit" | "rollback"
                if attribute.value.is_attribute_expr() && self.begins_with_outer_name(&attribute.value) =>
            {
                self.binding = Some("it ends a transaction on a stored connection, which other tasks use meanwhile");
            }
            "set" | "reset" if root.is_some_and(|root| self.locals.0.contains(root)) => {
                self.binding = Some("it sets a context variable of the calling task");
            }
            // Protocols of asyncio mostly keep their transport in an attribute of this name, without an annotation.
            "write" | "writelines" | "sendto" | "write_eof" | "abort"
                if matches!(last_name(&attribute.value), Some("transport" | "_transport")) =>
            {
                self.binding = Some("it writes to a transport, which belongs to the running loop");
            }
            "exc_info" | "format_exc" | "print_exc" => self.add_exception_read(),
            // `logger.exception(message)`; the `exception()` of a future has no arguments.
            "exception" if !call.arguments.args.is_empty() && has_no_exc_info(&call.arguments) => {
                self.add_exception_read()
            }
            _ => {}
        }
    }

    /// True if an expression begins with a parameter, or with a name of an outer function or the module.
    fn begins_with_outer_name(&self, expression: &Expr) -> bool {
        root_name(expression).is_some_and(|root| self.parameters.contains(root) || !self.bound.contains(root))
    }

    fn add_exception_read(&mut self) {
        if self.handlers.handles {
            self.binding = Some("it reads the exception that is handled here, which another thread cannot see");
        }
    }

    fn add_stop_iteration(&mut self) {
        if !self.handlers.catches_stop {
            self.binding = Some(super::STOP_ITERATION);
        }
    }

    fn visit_try(&mut self, attempt: &'a StmtTry) {
        let outer = self.handlers;
        let catches_stop = attempt.handlers.iter().any(|ExceptHandler::ExceptHandler(handler)| {
            catches(handler.type_.as_deref(), &["StopIteration", "Exception", "BaseException"])
        });
        self.handlers.catches_stop |= catches_stop;
        self.visit_body(&attempt.body);
        self.handlers.catches_stop = outer.catches_stop;
        for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
            // `except StopIteration: …; raise`
            let catches_only_stop =
                handler.type_.as_deref().is_some_and(|caught| catches(Some(caught), &["StopIteration"]));
            if catches_only_stop
                && handler.body.iter().any(|last| matches!(last, Stmt::Raise(raise) if raise.exc.is_none()))
            {
                self.add_stop_iteration();
            }
            self.handlers.handles = false;
            self.visit_body(&handler.body);
            self.handlers.handles = outer.handles;
        }
        self.visit_body(&attempt.orelse);
        self.visit_body(&attempt.finalbody);
    }
}

impl<'a> SourceOrderVisitor<'a> for Body<'a, '_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            Stmt::Try(attempt) => return self.visit_try(attempt),
            Stmt::Raise(raise) => match raise.exc.as_deref() {
                None => self.add_exception_read(),
                Some(raised) if is_named(raised, &["StopIteration"]) => self.add_stop_iteration(),
                Some(_) => {}
            },
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Lambda(_) => return,
            Expr::Yield(_) | Expr::YieldFrom(_) => self.yields = true,
            Expr::Call(call) => self.add_call(call),
            // `LOCAL.session`
            Expr::Attribute(attribute) if attribute.ctx == ExprContext::Store => {
                if let Expr::Name(name) = &*attribute.value
                    && self.locals.0.contains(name.id.as_str())
                    && !self.bound.contains(name.id.as_str())
                {
                    self.binding = Some("it sets a thread-local value of the calling thread");
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// The names that a function and its inner functions bind.
struct BoundNames<'a>(FxHashSet<&'a str>);

impl<'a> SourceOrderVisitor<'a> for BoundNames<'a> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression
            && name.ctx != ExprContext::Load
        {
            self.0.insert(name.id.as_str());
        }
        walk_expr(self, expression);
    }
}

/// True if an `except` clause catches one of these exceptions by its name; `except:` catches all.
pub(super) fn catches(types: Option<&Expr>, exceptions: &[&str]) -> bool {
    match types {
        None => true,
        Some(Expr::Tuple(several)) => several.elts.iter().any(|single| is_named(single, exceptions)),
        Some(single) => is_named(single, exceptions),
    }
}

/// True for `Name`, `module.Name` and calls of these, if `Name` is one of the wanted names.
fn is_named(expression: &Expr, names: &[&str]) -> bool {
    match expression {
        Expr::Call(call) => is_named(&call.func, names),
        callee => last_name(callee).is_some_and(|name| names.contains(&name)),
    }
}

/// Returns `b` of `a.b`, and `a` of `a`.
pub(super) fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// Returns `a` of `a.b.c`.
fn root_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => root_name(&attribute.value),
        _ => None,
    }
}

/// True if a call of a logger has no `exc_info`, so that it reads the handled exception.
fn has_no_exc_info(arguments: &Arguments) -> bool {
    arguments.keywords.iter().all(|keyword| keyword.arg.as_ref().is_none_or(|name| name != "exc_info"))
}
