//! The surroundings of a call, as far as they decide if and how an `await` can stand there.

use blocklint_core::Refusal;
use ruff_python_ast::{AnyNodeRef, Comprehension, ExceptHandler, Expr, ExprCall, Stmt, StmtFunctionDef, StmtWith};
use ruff_text_size::{Ranged, TextRange};

use super::callee::{catches, last_name};
use super::once::dotted;

/// The surroundings of a call in which an `await` can stand.
pub(super) struct Surroundings<'a> {
    /// The functions around it, the innermost first; that one is `async`.
    pub(super) functions: Vec<&'a StmtFunctionDef>,
    /// The call is a statement of its own.
    pub(super) is_statement: bool,
    /// An `await` in place of the call needs brackets around it.
    pub(super) needs_brackets: bool,
    /// The result of the call is awaited at once.
    pub(super) is_awaited: bool,
    /// A method of the call's result is called and awaited: `await session(url).fetch()`.
    pub(super) gives_awaited: bool,
    /// The result of the call is iterated by `async for`.
    pub(super) is_iterated: bool,
    /// Transactions and connections, by their names, that a `with` around it opened.
    pub(super) opened_around: Vec<&'a str>,
    /// It stands where a comprehension runs it for each element.
    pub(super) for_each: bool,
    /// Why other tasks had better not run meanwhile, if so.
    pub(super) disturbed: Option<&'static str>,
    /// The targets that get the result of the call: `x` of `x = f()`.
    pub(super) values_assigned_to: &'a [Expr],
    /// The call that this call is an argument of.
    pub(super) taker: Option<&'a ExprCall>,
    /// It stands in an f-string.
    pub(super) in_text: bool,
    /// Its method is handed over, and not called.
    pub(super) gives_method: bool,
    /// An exception is being handled there.
    pub(super) handles: bool,
    /// A `try` around it waits for a `StopIteration`.
    pub(super) stops: bool,
    /// Why the call alone cannot be awaited, where it is entered by a `with`.
    pub(super) entered: Option<Refusal>,
    /// It stands where a task that is cancelled cleans up.
    pub(super) cleans_up: bool,
    /// The innermost loop around it.
    pub(super) loop_around: Option<TextRange>,
    /// A test around it asks the queue whether there is something: `while not queue.empty(): queue.get()`.
    pub(super) is_asked_before: bool,
}

impl<'a> Surroundings<'a> {
    /// Looks from the call outward. `around` are the nodes around it, the outermost first. Refuses, where the edit
    /// `awaits`, a place in which nothing can be awaited.
    pub(super) fn of(call: &'a ExprCall, around: &[AnyNodeRef<'a>], awaits: bool) -> Result<Self, Refusal> {
        let range = call.range();
        let parent = around.last();
        let taker = match around {
            [.., AnyNodeRef::ExprCall(taker), AnyNodeRef::Arguments(_)]
            | [.., AnyNodeRef::ExprCall(taker), AnyNodeRef::Arguments(_), AnyNodeRef::Keyword(_)] => Some(*taker),
            _ => None,
        };
        let mut found = Surroundings {
            functions: Vec::new(),
            is_statement: matches!(parent, Some(AnyNodeRef::StmtExpr(_))),
            needs_brackets: parent.is_some_and(|parent| binds_tighter(*parent, range)),
            is_awaited: matches!(parent, Some(AnyNodeRef::ExprAwait(_))),
            gives_awaited: gives_awaited(around, range),
            is_iterated: match parent {
                Some(AnyNodeRef::StmtFor(each)) => each.is_async && each.iter.range() == range,
                Some(AnyNodeRef::Comprehension(each)) => each.is_async && each.iter.range() == range,
                _ => false,
            },
            for_each: false,
            opened_around: Vec::new(),
            disturbed: None,
            values_assigned_to: match parent {
                Some(AnyNodeRef::StmtAssign(assign)) => &assign.targets,
                Some(AnyNodeRef::StmtAnnAssign(assign)) => std::slice::from_ref(&*assign.target),
                _ => &[],
            },
            taker,
            in_text: false,
            gives_method: matches!(
                around,
                [.., AnyNodeRef::Arguments(_) | AnyNodeRef::Keyword(_), AnyNodeRef::ExprAttribute(_)]
            ),
            handles: false,
            stops: false,
            entered: None,
            cleans_up: false,
            loop_around: None,
            is_asked_before: false,
        };
        let mut comprehensions = 0;
        let mut inner = range;
        for (at, node) in around.iter().enumerate().rev() {
            if awaits && found.functions.is_empty() {
                let is_parent = at + 1 == around.len();
                let outer = at.checked_sub(1).and_then(|at| around.get(at));
                let is_async = matches!(outer, Some(AnyNodeRef::StmtWith(with)) if with.is_async);
                found.step(*node, inner, is_parent, is_async, &mut comprehensions)?;
            }
            found.for_each |= found.functions.is_empty() && runs_for_each(*node, range);
            found.in_text |= found.functions.is_empty() && matches!(node, AnyNodeRef::InterpolatedElement(_));
            if let AnyNodeRef::StmtWith(with) = node
                && found.functions.is_empty()
            {
                found.opened_around.extend(transactions_of(with));
            }
            if matches!(node, AnyNodeRef::StmtWhile(_) | AnyNodeRef::StmtFor(_)) && found.functions.is_empty() {
                found.loop_around.get_or_insert(node.range());
            }
            let test = match node {
                AnyNodeRef::StmtWhile(of) => Some(&*of.test),
                AnyNodeRef::StmtIf(of) => Some(&*of.test),
                _ => None,
            };
            found.is_asked_before |= found.functions.is_empty() && test.is_some_and(|test| asks_queue(test, call));
            if let AnyNodeRef::StmtFunctionDef(function) = node {
                found.functions.push(function);
            }
            inner = node.range();
        }
        match awaits && found.functions.is_empty() {
            true => Err(Refusal::new("it stands in no function")),
            false => Ok(found),
        }
    }

    /// Adds the facts of one node around the call, `inner` being the part of it that holds the call.
    fn step(
        &mut self,
        node: AnyNodeRef<'_>,
        inner: TextRange,
        is_parent: bool,
        is_async: bool,
        comprehensions: &mut u32,
    ) -> Result<(), Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        match node {
            AnyNodeRef::StmtFunctionDef(function) => {
                let in_body = function.body.iter().any(|statement| statement.range().contains_range(inner));
                if !in_body {
                    return refuse("it stands in a decorator, default value or annotation");
                }
                if !function.is_async {
                    return refuse("it stands in a function that is not `async`");
                }
            }
            AnyNodeRef::StmtClassDef(_) => return refuse("it stands in a class body"),
            AnyNodeRef::Decorator(_) => return refuse("it stands in a decorator, default value or annotation"),
            AnyNodeRef::ExprLambda(_) => return refuse("it stands in a `lambda`"),
            AnyNodeRef::ExprGenerator(generator) if !in_first_iterable(&generator.generators, inner) => {
                return refuse("it stands in a generator expression");
            }
            AnyNodeRef::ExprListComp(comprehension) if !in_first_iterable(&comprehension.generators, inner) => {
                *comprehensions += 1;
            }
            AnyNodeRef::ExprSetComp(comprehension) if !in_first_iterable(&comprehension.generators, inner) => {
                *comprehensions += 1;
            }
            AnyNodeRef::ExprDictComp(comprehension) if !in_first_iterable(&comprehension.generators, inner) => {
                *comprehensions += 1;
            }
            AnyNodeRef::InterpolatedElement(element) if element.debug_text.is_some() => {
                return refuse("it stands in an f-string that shows its own source");
            }
            AnyNodeRef::WithItem(_) if is_parent && is_async => {
                return refuse("what is entered belongs to the running loop");
            }
            AnyNodeRef::WithItem(_) if is_parent => {
                self.entered = Some(Refusal::new(
                    "a context manager does its work on entering and leaving too: move the block into a function",
                ));
            }
            AnyNodeRef::StmtAugAssign(assign) if !assign.target.is_name_expr() => {
                return refuse("what it is added to was read before, and other tasks may change it meanwhile");
            }
            AnyNodeRef::StmtAnnAssign(assign) if assign.annotation.range().contains_range(inner) => {
                return refuse("it stands in a decorator, default value or annotation");
            }
            AnyNodeRef::StmtWith(with) => {
                let in_body = with.body.iter().any(|statement| statement.range().contains_range(inner));
                if in_body && !with.is_async {
                    if with.items.iter().any(|item| is_lock(&item.context_expr)) {
                        return refuse("a lock of threads would be held while other tasks run");
                    }
                    self.disturbed = Some("it stands in a `with`");
                }
            }
            AnyNodeRef::StmtTry(attempt) => {
                let within = |body: &[Stmt]| body.iter().any(|statement| statement.range().contains_range(inner));
                if within(&attempt.finalbody) {
                    self.disturbed = Some("it stands in `finally`");
                    self.cleans_up = true;
                }
                self.stops |= within(&attempt.body)
                    && attempt.handlers.iter().any(|handler| {
                        let ExceptHandler::ExceptHandler(handler) = handler;
                        handler.type_.as_deref().is_some_and(|caught| catches(Some(caught), &["StopIteration"]))
                    });
            }
            AnyNodeRef::ExceptHandlerExceptHandler(handler) => {
                self.handles = true;
                let cancelled = ["BaseException", "CancelledError", "Cancelled", "get_cancelled_exc_class"];
                self.cleans_up |= catches(handler.type_.as_deref(), &cancelled);
            }
            _ => {}
        }
        if *comprehensions > 0 {
            self.disturbed = Some("it stands in a comprehension");
        }
        if *comprehensions > 1 {
            return refuse("it stands in a comprehension inside another one");
        }
        Ok(())
    }
}

/// Returns the names of a `with` by which transactions and connections go: many belong to the thread that began them.
fn transactions_of(with: &StmtWith) -> impl Iterator<Item = &str> {
    const NAMES: &[&str] = &["txn", "tx", "trans", "transaction", "cursor", "cur", "conn", "connection"];
    let names = with.items.iter().filter_map(|item| item.optional_vars.as_deref()?.as_name_expr());
    names.map(|name| name.id.as_str()).filter(|name| NAMES.contains(name))
}

/// True if what is entered is a lock by its name: `self._lock`, `lock_of(key)`.
pub(super) fn is_lock(entered: &Expr) -> bool {
    let named = match entered {
        Expr::Call(call) => last_name(&call.func),
        other => last_name(other),
    };
    let is = |word: &str| matches!(word.to_lowercase().as_str(), "lock" | "rlock" | "mutex");
    named.is_some_and(|name| name.split('_').any(is) || name.ends_with("Lock"))
}

/// True if a test asks the queue of `queue.get()` if it holds something: `not queue.empty()`, `queue.qsize() > 0`.
fn asks_queue(test: &Expr, call: &ExprCall) -> bool {
    let receiver = |call: &ExprCall, names: &[&str]| match &*call.func {
        Expr::Attribute(method) if names.contains(&method.attr.as_str()) => dotted(&method.value),
        _ => None,
    };
    let Some(queue) = receiver(call, &["get"]) else { return false };
    match test {
        Expr::UnaryOp(of) => asks_queue(&of.operand, call),
        Expr::Compare(of) => asks_queue(&of.left, call),
        Expr::BoolOp(of) => of.values.iter().any(|value| asks_queue(value, call)),
        Expr::Call(asked) => receiver(asked, &["empty", "qsize"]) == Some(queue),
        _ => false,
    }
}

/// True if a comprehension runs what stands there for each of its elements.
fn runs_for_each(node: AnyNodeRef<'_>, range: TextRange) -> bool {
    let generators = match node {
        AnyNodeRef::ExprListComp(of) => &of.generators,
        AnyNodeRef::ExprSetComp(of) => &of.generators,
        AnyNodeRef::ExprDictComp(of) => &of.generators,
        _ => return false,
    };
    generators.first().is_some_and(|first| !first.iter.range().contains_range(range))
}

/// The first iterable of a comprehension is evaluated outside of it.
fn in_first_iterable(generators: &[Comprehension], inner: TextRange) -> bool {
    generators.first().is_some_and(|first| {
        // `inner` is either the `for … in …` part, whose iterable may hold the call, or an element.
        first.iter.range().contains_range(inner)
    })
}

/// True if a method of the result of a call is awaited, or one of the result of that.
fn gives_awaited(around: &[AnyNodeRef<'_>], call: TextRange) -> bool {
    let mut inner = call;
    for node in around.iter().rev() {
        let begins_with = match node {
            AnyNodeRef::ExprAttribute(of) => &of.value,
            AnyNodeRef::ExprSubscript(of) => &of.value,
            AnyNodeRef::ExprCall(of) => &of.func,
            AnyNodeRef::ExprAwait(_) => return inner != call,
            _ => return false,
        };
        if begins_with.range() != inner {
            return false;
        }
        inner = node.range();
    }
    false
}

/// True if a parent takes only a primary expression here, which `await …` is not.
fn binds_tighter(parent: AnyNodeRef<'_>, call: TextRange) -> bool {
    // A part in brackets begins and ends inside of what its parent spans.
    let starts = |part: &Expr| part.range() == call;
    match parent {
        AnyNodeRef::ExprAttribute(node) => starts(&node.value) && node.range().start() == call.start(),
        AnyNodeRef::ExprSubscript(node) => starts(&node.value) && node.range().start() == call.start(),
        AnyNodeRef::ExprCall(node) => starts(&node.func) && node.range().start() == call.start(),
        AnyNodeRef::ExprAwait(node) => node.range().end() == call.end(),
        _ => false,
    }
}
