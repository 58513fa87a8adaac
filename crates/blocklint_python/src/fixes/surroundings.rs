//! The syntax around a call, which decides whether an `await` is allowed there and whether the call can move to a
//! thread.

use blocklint_core::Refusal;
use ruff_python_ast::{AnyNodeRef, Comprehension, ExceptHandler, Expr, ExprCall, Stmt, StmtFunctionDef, StmtWith};
use ruff_text_size::{Ranged, TextRange};

use super::callee::{catches, last_name};
use super::once::dotted_path;

/// Facts about the syntax around a call.
pub(super) struct Surroundings<'a> {
    /// The functions around the call, the innermost first, which is `async`.
    pub(super) functions: Vec<&'a StmtFunctionDef>,
    /// True if the call is a statement of its own.
    pub(super) is_statement: bool,
    /// True if an `await` in place of the call needs brackets around it.
    pub(super) needs_brackets: bool,
    /// True if the result of the call is awaited at once.
    pub(super) is_awaited: bool,
    /// True if a method of the call's result is called and awaited: `await session(url).fetch()`.
    pub(super) is_method_awaited: bool,
    /// True if the result of the call is iterated by `async for`.
    pub(super) is_iterated: bool,
    /// The names of transactions and connections that `with` statements around the call opened.
    pub(super) opened_around: Vec<&'a str>,
    /// True if a comprehension runs the call for each element.
    pub(super) runs_for_each_element: bool,
    /// The reason why other tasks should not run during the call, if there is one.
    pub(super) disturbed: Option<&'static str>,
    /// The targets to which the result of the call is assigned: `x` of `x = f()`.
    pub(super) values_assigned_to: &'a [Expr],
    /// The call that has this call as an argument: `print(…)` for `f()` in `print(f())`.
    pub(super) outer_call: Option<&'a ExprCall>,
    /// True if the call is in an f-string.
    pub(super) is_in_f_string: bool,
    /// True if a method of the call's result is an argument of another call: `submit(client().get)`.
    pub(super) is_method_passed: bool,
    /// True if the call is in an exception handler.
    pub(super) is_in_handler: bool,
    /// True if a `try` around the call catches `StopIteration`.
    pub(super) catches_stop: bool,
    /// The reason why the call alone cannot be awaited, if a `with` enters its result.
    pub(super) entered: Option<Refusal>,
    /// True if the call is in the clean-up of a cancelled task: `finally`, `except CancelledError`.
    pub(super) is_in_cleanup: bool,
    /// The innermost loop around it.
    pub(super) loop_around: Option<TextRange>,
    /// True if a test around the call checks that the queue is not empty: `while not queue.empty(): queue.get()`.
    pub(super) is_queue_checked: bool,
}

impl<'a> Surroundings<'a> {
    /// Collects the facts from the call outward. `around` are the nodes around it, the outermost first. If the edit
    /// `awaits`, refuses a call where no `await` is allowed.
    pub(super) fn collect(call: &'a ExprCall, around: &[AnyNodeRef<'a>], awaits: bool) -> Result<Self, Refusal> {
        let range = call.range();
        let parent = around.last();
        let outer_call = match around {
            [.., AnyNodeRef::ExprCall(outer_call), AnyNodeRef::Arguments(_)]
            | [.., AnyNodeRef::ExprCall(outer_call), AnyNodeRef::Arguments(_), AnyNodeRef::Keyword(_)] => {
                Some(*outer_call)
            }
            _ => None,
        };
        let mut surroundings = Surroundings {
            functions: Vec::new(),
            is_statement: matches!(parent, Some(AnyNodeRef::StmtExpr(_))),
            needs_brackets: parent.is_some_and(|parent| needs_primary_expression(*parent, range)),
            is_awaited: matches!(parent, Some(AnyNodeRef::ExprAwait(_))),
            is_method_awaited: is_method_awaited(around, range),
            is_iterated: match parent {
                Some(AnyNodeRef::StmtFor(each)) => each.is_async && each.iter.range() == range,
                Some(AnyNodeRef::Comprehension(each)) => each.is_async && each.iter.range() == range,
                _ => false,
            },
            runs_for_each_element: false,
            opened_around: Vec::new(),
            disturbed: None,
            values_assigned_to: match parent {
                Some(AnyNodeRef::StmtAssign(assign)) => &assign.targets,
                Some(AnyNodeRef::StmtAnnAssign(assign)) => std::slice::from_ref(&*assign.target),
                _ => &[],
            },
            outer_call,
            is_in_f_string: false,
            is_method_passed: matches!(
                around,
                [.., AnyNodeRef::Arguments(_) | AnyNodeRef::Keyword(_), AnyNodeRef::ExprAttribute(_)]
            ),
            is_in_handler: false,
            catches_stop: false,
            entered: None,
            is_in_cleanup: false,
            loop_around: None,
            is_queue_checked: false,
        };
        let mut comprehensions = 0;
        let mut inner = range;
        for (index, node) in around.iter().enumerate().rev() {
            if awaits && surroundings.functions.is_empty() {
                let is_parent = index + 1 == around.len();
                let outer = index.checked_sub(1).and_then(|index| around.get(index));
                let is_async = matches!(outer, Some(AnyNodeRef::StmtWith(with)) if with.is_async);
                surroundings.add_node(*node, inner, is_parent, is_async, &mut comprehensions)?;
            }
            surroundings.runs_for_each_element |= surroundings.functions.is_empty() && runs_for_each(*node, range);
            surroundings.is_in_f_string |=
                surroundings.functions.is_empty() && matches!(node, AnyNodeRef::InterpolatedElement(_));
            if let AnyNodeRef::StmtWith(with) = node
                && surroundings.functions.is_empty()
            {
                surroundings.opened_around.extend(transactions_of(with));
            }
            if matches!(node, AnyNodeRef::StmtWhile(_) | AnyNodeRef::StmtFor(_)) && surroundings.functions.is_empty() {
                surroundings.loop_around.get_or_insert(node.range());
            }
            let test = match node {
                AnyNodeRef::StmtWhile(while_stmt) => Some(&*while_stmt.test),
                AnyNodeRef::StmtIf(if_stmt) => Some(&*if_stmt.test),
                _ => None,
            };
            surroundings.is_queue_checked |=
                surroundings.functions.is_empty() && test.is_some_and(|test| checks_queue(test, call));
            if let AnyNodeRef::StmtFunctionDef(function) = node {
                surroundings.functions.push(function);
            }
            inner = node.range();
        }
        if awaits && surroundings.functions.is_empty() {
            Err(Refusal::new("the call is in no function"))
        } else {
            Ok(surroundings)
        }
    }

    /// Adds the facts of one node around the call; `inner` is the range of its child that contains the call.
    fn add_node(
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
                    return refuse("the call is in a decorator, default value or annotation");
                }
                if !function.is_async {
                    return refuse("the call is in a function that is not `async`");
                }
            }
            AnyNodeRef::StmtClassDef(_) => return refuse("the call is in a class body"),
            AnyNodeRef::Decorator(_) => return refuse("the call is in a decorator, default value or annotation"),
            AnyNodeRef::ExprLambda(_) => return refuse("the call is in a `lambda`"),
            AnyNodeRef::ExprGenerator(generator) if !is_in_first_iterable(&generator.generators, inner) => {
                return refuse("the call is in a generator expression");
            }
            AnyNodeRef::ExprListComp(comprehension) if !is_in_first_iterable(&comprehension.generators, inner) => {
                *comprehensions += 1;
            }
            AnyNodeRef::ExprSetComp(comprehension) if !is_in_first_iterable(&comprehension.generators, inner) => {
                *comprehensions += 1;
            }
            AnyNodeRef::ExprDictComp(comprehension) if !is_in_first_iterable(&comprehension.generators, inner) => {
                *comprehensions += 1;
            }
            AnyNodeRef::InterpolatedElement(element) if element.debug_text.is_some() => {
                return refuse("the call is in an f-string that shows its own source (`{x=}`)");
            }
            AnyNodeRef::WithItem(_) if is_parent && is_async => {
                return refuse("the call creates an async context manager, which belongs to the running loop");
            }
            AnyNodeRef::WithItem(_) if is_parent => {
                self.entered = Some(Refusal::new(
                    "a context manager also works on entering and leaving: move the whole `with` block into a function",
                ));
            }
            AnyNodeRef::StmtAugAssign(assign) if !assign.target.is_name_expr() => {
                return refuse(
                    "the left side of `+=` is read before the call, and other tasks may change it meanwhile",
                );
            }
            AnyNodeRef::StmtAnnAssign(assign) if assign.annotation.range().contains_range(inner) => {
                return refuse("the call is in a decorator, default value or annotation");
            }
            AnyNodeRef::StmtWith(with) => {
                let in_body = with.body.iter().any(|statement| statement.range().contains_range(inner));
                if in_body && !with.is_async {
                    if with.items.iter().any(|item| is_lock(&item.context_expr)) {
                        return refuse("a thread's lock would be held while other tasks run");
                    }
                    self.disturbed = Some("the call is in a `with`");
                }
            }
            AnyNodeRef::StmtTry(attempt) => {
                let contains_call =
                    |body: &[Stmt]| body.iter().any(|statement| statement.range().contains_range(inner));
                if contains_call(&attempt.finalbody) {
                    self.disturbed = Some("the call is in `finally`");
                    self.is_in_cleanup = true;
                }
                self.catches_stop |= contains_call(&attempt.body)
                    && attempt.handlers.iter().any(|handler| {
                        let ExceptHandler::ExceptHandler(handler) = handler;
                        handler.type_.as_deref().is_some_and(|caught| catches(Some(caught), &["StopIteration"]))
                    });
            }
            AnyNodeRef::ExceptHandlerExceptHandler(handler) => {
                self.is_in_handler = true;
                let cancelled = ["BaseException", "CancelledError", "Cancelled", "get_cancelled_exc_class"];
                self.is_in_cleanup |= catches(handler.type_.as_deref(), &cancelled);
            }
            _ => {}
        }
        if *comprehensions > 0 {
            self.disturbed = Some("the call is in a comprehension");
        }
        if *comprehensions > 1 {
            return refuse("the call is in a comprehension inside another one");
        }
        Ok(())
    }
}

/// Returns the names of transactions and connections that a `with` binds. Many of these belong to the thread that
/// opened them.
fn transactions_of(with: &StmtWith) -> impl Iterator<Item = &str> {
    const NAMES: &[&str] = &["txn", "tx", "trans", "transaction", "cursor", "cur", "conn", "connection"];
    let names = with.items.iter().filter_map(|item| item.optional_vars.as_deref()?.as_name_expr());
    names.map(|name| name.id.as_str()).filter(|name| NAMES.contains(name))
}

/// True if the context expression of a `with` is a lock by its name: `self._lock`, `lock_of(key)`.
pub(super) fn is_lock(entered: &Expr) -> bool {
    let name = match entered {
        Expr::Call(call) => last_name(&call.func),
        other => last_name(other),
    };
    let is_lock_word = |word: &str| matches!(word.to_lowercase().as_str(), "lock" | "rlock" | "mutex");
    name.is_some_and(|name| name.split('_').any(is_lock_word) || name.ends_with("Lock"))
}

/// True if a test checks that the queue of a call `queue.get()` is not empty: `not queue.empty()`, `queue.qsize() > 0`.
fn checks_queue(test: &Expr, call: &ExprCall) -> bool {
    let receiver_of = |call: &ExprCall, names: &[&str]| match &*call.func {
        Expr::Attribute(method) if names.contains(&method.attr.as_str()) => dotted_path(&method.value),
        _ => None,
    };
    let Some(queue) = receiver_of(call, &["get"]) else { return false };
    match test {
        Expr::UnaryOp(node) => checks_queue(&node.operand, call),
        Expr::Compare(node) => checks_queue(&node.left, call),
        Expr::BoolOp(node) => node.values.iter().any(|value| checks_queue(value, call)),
        Expr::Call(test_call) => receiver_of(test_call, &["empty", "qsize"]) == Some(queue),
        _ => false,
    }
}

/// True if a node is a comprehension that runs the code in a range for each of its elements.
fn runs_for_each(node: AnyNodeRef<'_>, range: TextRange) -> bool {
    let generators = match node {
        AnyNodeRef::ExprListComp(comprehension) => &comprehension.generators,
        AnyNodeRef::ExprSetComp(comprehension) => &comprehension.generators,
        AnyNodeRef::ExprDictComp(comprehension) => &comprehension.generators,
        _ => return false,
    };
    generators.first().is_some_and(|first| !first.iter.range().contains_range(range))
}

/// True if a range is in the first iterable of a comprehension, which is evaluated outside of the comprehension.
fn is_in_first_iterable(generators: &[Comprehension], inner: TextRange) -> bool {
    generators.first().is_some_and(|first| {
        // `inner` is a `for … in …` clause, whose iterable possibly contains the call, or the element.
        first.iter.range().contains_range(inner)
    })
}

/// True if a method of the call's result is awaited, also after further calls: `await a().b().c()`.
fn is_method_awaited(around: &[AnyNodeRef<'_>], call: TextRange) -> bool {
    let mut inner = call;
    for node in around.iter().rev() {
        let first_child = match node {
            AnyNodeRef::ExprAttribute(attribute) => &attribute.value,
            AnyNodeRef::ExprSubscript(subscript) => &subscript.value,
            AnyNodeRef::ExprCall(call_expr) => &call_expr.func,
            AnyNodeRef::ExprAwait(_) => return inner != call,
            _ => return false,
        };
        if first_child.range() != inner {
            return false;
        }
        inner = node.range();
    }
    false
}

/// True if the parent of a call accepts only a primary expression in its place, which `await …` is not.
fn needs_primary_expression(parent: AnyNodeRef<'_>, call: TextRange) -> bool {
    // If the call has brackets of its own, its range begins later than that of the parent.
    let is_call = |part: &Expr| part.range() == call;
    match parent {
        AnyNodeRef::ExprAttribute(node) => is_call(&node.value) && node.range().start() == call.start(),
        AnyNodeRef::ExprSubscript(node) => is_call(&node.value) && node.range().start() == call.start(),
        AnyNodeRef::ExprCall(node) => is_call(&node.func) && node.range().start() == call.start(),
        AnyNodeRef::ExprAwait(node) => node.range().end() == call.end(),
        _ => false,
    }
}
