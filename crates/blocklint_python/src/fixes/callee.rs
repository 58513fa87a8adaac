//! Actions of a function of the same file that belong to the thread in which it is called, so that the function cannot
//! be handed to another one. The engine asks for functions of other files, because it knows the targets of a call
//! ([`bindings`]).

use blocklint_core::{Refusal, Span};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    Arguments, ExceptHandler, Expr, ExprCall, ExprContext, ModModule, Stmt, StmtFunctionDef, StmtTry,
};
use ruff_text_size::Ranged;
use rustc_hash::{FxHashMap, FxHashSet};

use super::once::{ONCE, works_once};
use super::shared::{Collections, Helpers, SHARED, changed};
use crate::walk::span;

/// The functions that a file defines, by name: of its top level and functions, and of its classes.
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

    /// Returns the definitions that a call may run, as far as its text shows.
    fn called(&self, call: &ExprCall) -> &[&'a StmtFunctionDef] {
        let found = match &*call.func {
            Expr::Name(name) => self.free.get(name.id.as_str()),
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(name) if matches!(name.id.as_str(), "self" | "cls") => {
                    self.methods.get(attribute.attr.as_str())
                }
                _ => None,
            },
            _ => None,
        };
        found.map_or(&[], Vec::as_slice)
    }

    /// Refuses a call of something that only its own thread can do. `handles`: an exception is being handled there.
    pub(super) fn can_move(&self, call: &ExprCall, handles: bool, locals: &Locals<'a>) -> Result<(), Refusal> {
        let mut seen = FxHashSet::default();
        let around = Around { handles, ends_stop: false };
        let mut next: Vec<(&StmtFunctionDef, Around)> = self.called(call).iter().map(|of| (*of, around)).collect();
        while let Some((function, around)) = next.pop() {
            if function.is_async || !seen.insert((std::ptr::from_ref(function), around)) {
                continue;
            }
            let mut body = Body::of(function, locals, around);
            body.visit_body(&function.body);
            match body.found {
                // A generator's code runs where the generator is consumed.
                _ if body.yields => {}
                Some(reason) => return Err(Refusal::new(reason)),
                None => next.extend(
                    body.calls
                        .iter()
                        .flat_map(|(call, around)| self.called(call).iter().map(|function| (*function, *around))),
                ),
            }
        }
        Ok(())
    }
}

/// Something in a function that belongs to the thread in which it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The reason: a clause that completes "no fix: …".
    pub reason: &'static str,
    /// Where the function is defined: its name.
    pub span: Span,
    /// It matters only if the function is called while an exception is being handled.
    pub only_while_handling: bool,
    /// It matters only if the call that holds the thread stands in the function, or is reached through it.
    pub only_on_the_way: bool,
}

/// Returns, for each of these functions, the reasons that keep it in the thread that calls it.
pub(super) fn bindings(module: &ModModule, functions: &[Span]) -> Vec<Vec<Binding>> {
    let locals = Locals::of(&module.body);
    let collections = Collections::of(module);
    let helpers = Helpers::of(module);
    let mut definitions = Definitions::default();
    definitions.visit_body(&module.body);
    let of = |wanted: &Span| {
        let Some(function) = definitions.0.get(wanted) else { return Vec::new() };
        // A method of this name is meant to end iteration.
        if function.is_async || function.name.as_str() == "__next__" {
            return Vec::new();
        }
        let mut found: Vec<Binding> = Vec::new();
        if works_once(function) {
            let span = span(function.name.range());
            found.push(Binding { reason: ONCE, span, only_while_handling: false, only_on_the_way: true });
        }
        if let Some(at) = changed(function, &collections, &helpers) {
            let span = span(at);
            found.push(Binding { reason: SHARED, span, only_while_handling: false, only_on_the_way: true });
        }
        for handles in [false, true] {
            let mut body = Body::of(function, &locals, Around { handles, ends_stop: false });
            body.visit_body(&function.body);
            let reason = body.found.filter(|_| !body.yields);
            let span = span(function.name.range());
            let is_bound = reason.is_some();
            let binding = |reason| Binding { reason, span, only_while_handling: handles, only_on_the_way: false };
            found.extend(reason.map(binding));
            if is_bound {
                break;
            }
        }
        found
    };
    functions.iter().map(of).collect()
}

/// The functions of a module by what they span.
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

/// The code around a place, also in the functions on the way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Around {
    /// The exception that is being handled is one of the calling thread.
    handles: bool,
    /// A `StopIteration` goes no further.
    ends_stop: bool,
}

/// Names of the module that stand for something else in each thread or task: `ContextVar(…)`, `threading.local()`.
#[derive(Debug, Default)]
pub(super) struct Locals<'a>(FxHashSet<&'a str>);

impl<'a> Locals<'a> {
    pub(super) fn of(body: &'a [Stmt]) -> Self {
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
        Locals(found)
    }
}

/// One function's own statements.
struct Body<'a, 'l> {
    given: FxHashSet<&'a str>,
    bound: FxHashSet<&'a str>,
    locals: &'l Locals<'a>,
    around: Around,
    found: Option<&'static str>,
    yields: bool,
    calls: Vec<(&'a ExprCall, Around)>,
}

impl<'a, 'l> Body<'a, 'l> {
    fn of(function: &'a StmtFunctionDef, locals: &'l Locals<'a>, around: Around) -> Self {
        let given: FxHashSet<&str> = function.parameters.iter().map(|parameter| parameter.name().as_str()).collect();
        let mut names = Bound(given.clone());
        names.visit_body(&function.body);
        Body { given, bound: names.0, locals, around, found: None, yields: false, calls: Vec::new() }
    }

    fn call(&mut self, call: &'a ExprCall) {
        self.calls.push((call, self.around));
        let Expr::Attribute(attribute) = &*call.func else { return };
        let root = root_name(&attribute.value).filter(|root| !self.bound.contains(root));
        match attribute.attr.as_str() {
            // A session of the module is the thread's own, or shared, which is worse.
            "commit" | "rollback" if root.is_some() && attribute.value.is_name_expr() => {
                self.found = Some("it ends what the thread's own session began");
            }
            // One that an object keeps serves others too: on the loop nothing came between what it did and this.
            "commit" | "rollback" if attribute.value.is_attribute_expr() && self.is_given(&attribute.value) => {
                self.found = Some("it ends a transaction on a connection that is kept, which others use meanwhile");
            }
            "set" | "reset" if root.is_some_and(|root| self.locals.0.contains(root)) => {
                self.found = Some("what it sets belongs to the task that calls it");
            }
            // Most protocols keep their transport by that name, without a type.
            "write" | "writelines" | "sendto" | "write_eof" | "abort"
                if matches!(last_name(&attribute.value), Some("transport" | "_transport")) =>
            {
                self.found = Some("it writes to a transport, which belongs to the running loop");
            }
            "exc_info" | "format_exc" | "print_exc" => self.ask_for_exception(),
            // A logger's; a future's takes nothing.
            "exception" if !call.arguments.args.is_empty() && has_no_error(&call.arguments) => self.ask_for_exception(),
            _ => {}
        }
    }

    /// True if an expression begins with a parameter, or with a name of another function or the module.
    fn is_given(&self, expression: &Expr) -> bool {
        root_name(expression).is_some_and(|root| self.given.contains(root) || !self.bound.contains(root))
    }

    fn ask_for_exception(&mut self) {
        if self.around.handles {
            self.found = Some("it asks for the exception that is handled here, of which a thread knows nothing");
        }
    }

    fn raise_stop(&mut self) {
        if !self.around.ends_stop {
            self.found = Some(super::STOPS);
        }
    }

    fn visit_try(&mut self, attempt: &'a StmtTry) {
        let outside = self.around;
        let ends_stop = attempt.handlers.iter().any(|ExceptHandler::ExceptHandler(handler)| {
            catches(handler.type_.as_deref(), &["StopIteration", "Exception", "BaseException"])
        });
        self.around.ends_stop |= ends_stop;
        self.visit_body(&attempt.body);
        self.around.ends_stop = outside.ends_stop;
        for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
            // `except StopIteration: …; raise`
            let stopped = handler.type_.as_deref().is_some_and(|caught| catches(Some(caught), &["StopIteration"]));
            if stopped && handler.body.iter().any(|last| matches!(last, Stmt::Raise(raise) if raise.exc.is_none())) {
                self.raise_stop();
            }
            self.around.handles = false;
            self.visit_body(&handler.body);
            self.around.handles = outside.handles;
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
                None => self.ask_for_exception(),
                Some(raised) if names(raised, &["StopIteration"]) => self.raise_stop(),
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
            Expr::Call(call) => self.call(call),
            // `LOCAL.session`
            Expr::Attribute(attribute) if attribute.ctx == ExprContext::Store => {
                if let Expr::Name(name) = &*attribute.value
                    && self.locals.0.contains(name.id.as_str())
                    && !self.bound.contains(name.id.as_str())
                {
                    self.found = Some("what it sets belongs to the thread that calls it");
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// The names that a function binds, those of inner functions too.
struct Bound<'a>(FxHashSet<&'a str>);

impl<'a> SourceOrderVisitor<'a> for Bound<'a> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression
            && name.ctx != ExprContext::Load
        {
            self.0.insert(name.id.as_str());
        }
        walk_expr(self, expression);
    }
}

/// True if what is caught is one of these exceptions; `except:` catches all.
pub(super) fn catches(caught: Option<&Expr>, wanted: &[&str]) -> bool {
    match caught {
        None => true,
        Some(Expr::Tuple(several)) => several.elts.iter().any(|one| names(one, wanted)),
        Some(one) => names(one, wanted),
    }
}

/// True if an expression is one of these names, plain or behind a module, or a call of it.
fn names(expression: &Expr, wanted: &[&str]) -> bool {
    match expression {
        Expr::Call(call) => names(&call.func, wanted),
        other => last_name(other).is_some_and(|name| wanted.contains(&name)),
    }
}

/// `b` of `a.b`, `a` of `a`.
pub(super) fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// `a` of `a.b.c`.
fn root_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => root_name(&attribute.value),
        _ => None,
    }
}

/// True if a logger is not told which exception it is about.
fn has_no_error(arguments: &Arguments) -> bool {
    arguments.keywords.iter().all(|keyword| keyword.arg.as_ref().is_none_or(|name| name != "exc_info"))
}
