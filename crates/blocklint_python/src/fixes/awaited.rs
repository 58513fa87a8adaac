//! Names whose values are awaited. A call whose result is awaited later creates it for the event loop, so the call must
//! not move to a thread:
//!
//! ```python
//! answer = client.ask(question)
//! …
//! await answer
//! ```

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ModModule, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};

use super::callee::last_name;

/// Functions that wait for their arguments, or pass them to the event loop.
const FUNCTIONS_THAT_AWAIT: &[&str] = &[
    "create_task",
    "ensure_future",
    "gather",
    "shield",
    "wait",
    "wait_for",
    "as_completed",
    "run_coroutine_threadsafe",
    "run_until_complete",
    "wrap_future",
    "DeferredList",
    "gatherResults",
    "ensureDeferred",
];

/// Methods of futures and deferreds, which other code waits for.
const CALLBACK_METHODS: &[&str] = &["addCallback", "addCallbacks", "addErrback", "addBoth", "add_done_callback"];

/// The names and attributes of a file whose values, or the results of whose methods, are awaited.
#[derive(Default)]
pub(super) struct AwaitedNames<'a> {
    /// The offsets at which each name is awaited, in the order of the text.
    names: FxHashMap<&'a str, Vec<TextSize>>,
    /// The names of awaited attributes, of any object.
    attributes: FxHashSet<&'a str>,
}

impl<'a> AwaitedNames<'a> {
    pub(super) fn collect(module: &'a ModModule) -> Self {
        let mut awaited = AwaitedNames::default();
        awaited.visit_body(&module.body);
        awaited
    }

    /// True if the value of a target is awaited: that of a name in the function with this range, that of an attribute
    /// in the whole file.
    pub(super) fn contains_target(&self, target: &Expr, function: TextRange) -> bool {
        match target {
            Expr::Name(name) => {
                self.names.get(name.id.as_str()).is_some_and(|places| places.iter().any(|at| function.contains(*at)))
            }
            Expr::Attribute(attribute) => self.attributes.contains(attribute.attr.as_str()),
            _ => false,
        }
    }

    /// Adds an awaited expression: `a`, `a.b`, each element of `[a, b]`, and `a` of `a.method()`.
    fn add(&mut self, awaited: &'a Expr) {
        match awaited {
            Expr::Name(name) => self.names.entry(name.id.as_str()).or_default().push(name.start()),
            Expr::Attribute(attribute) => {
                self.attributes.insert(attribute.attr.as_str());
            }
            Expr::Call(call) => {
                if let Expr::Attribute(method) = &*call.func {
                    self.add(&method.value);
                }
            }
            Expr::Subscript(subscript) => self.add(&subscript.value),
            Expr::List(list) => list.elts.iter().for_each(|each| self.add(each)),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|each| self.add(each)),
            Expr::Starred(starred) => self.add(&starred.value),
            _ => {}
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for AwaitedNames<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::For(each) if each.is_async => self.add(&each.iter),
            Stmt::With(with) if with.is_async => with.items.iter().for_each(|item| self.add(&item.context_expr)),
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Await(await_expr) => self.add(&await_expr.value),
            Expr::Call(call) => match (last_name(&call.func), &*call.func) {
                (Some(name), _) if FUNCTIONS_THAT_AWAIT.contains(&name) => {
                    for argument in &call.arguments.args {
                        // In `gather(client.get(url))` the result of the call is awaited, not `client`.
                        if !argument.is_call_expr() {
                            self.add(argument);
                        }
                    }
                }
                (Some(name), Expr::Attribute(method)) if CALLBACK_METHODS.contains(&name) => self.add(&method.value),
                _ => {}
            },
            _ => {}
        }
        walk_expr(self, expression);
    }
}
