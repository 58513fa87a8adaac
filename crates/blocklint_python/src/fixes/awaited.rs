//! Names whose values are awaited: a call that gives such a value makes it for the loop, and has no business in a
//! thread.
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

/// Functions that wait for their arguments, or hand them to the loop.
const WAITING: &[&str] = &[
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

/// Methods of an object that other code waits for.
const WAITED: &[&str] = &["addCallback", "addCallbacks", "addErrback", "addBoth", "add_done_callback"];

/// The names whose values are awaited in a file, or whose methods are.
#[derive(Default)]
pub(super) struct Awaited<'a> {
    /// Where each name is, in the order of the text.
    names: FxHashMap<&'a str, Vec<TextSize>>,
    /// The names of attributes, whatever they are attributes of.
    attributes: FxHashSet<&'a str>,
}

impl<'a> Awaited<'a> {
    pub(super) fn of(module: &'a ModModule) -> Self {
        let mut awaited = Awaited::default();
        awaited.visit_body(&module.body);
        awaited
    }

    /// True if what a target is given is awaited: a name of a function with this range, an attribute anywhere.
    pub(super) fn waits_for(&self, target: &Expr, function: TextRange) -> bool {
        match target {
            Expr::Name(name) => {
                self.names.get(name.id.as_str()).is_some_and(|places| places.iter().any(|at| function.contains(*at)))
            }
            Expr::Attribute(of) => self.attributes.contains(of.attr.as_str()),
            _ => false,
        }
    }

    /// Adds an awaited expression: `a`, `a.b`, each of `[a, b]`, and the object that a method is called on.
    fn add(&mut self, awaited: &'a Expr) {
        match awaited {
            Expr::Name(name) => self.names.entry(name.id.as_str()).or_default().push(name.start()),
            Expr::Attribute(of) => {
                self.attributes.insert(of.attr.as_str());
            }
            Expr::Call(call) => {
                if let Expr::Attribute(method) = &*call.func {
                    self.add(&method.value);
                }
            }
            Expr::Subscript(of) => self.add(&of.value),
            Expr::List(of) => of.elts.iter().for_each(|each| self.add(each)),
            Expr::Tuple(of) => of.elts.iter().for_each(|each| self.add(each)),
            Expr::Starred(of) => self.add(&of.value),
            _ => {}
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Awaited<'a> {
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
            Expr::Await(of) => self.add(&of.value),
            Expr::Call(call) => match (last_name(&call.func), &*call.func) {
                (Some(name), _) if WAITING.contains(&name) => {
                    for given in &call.arguments.args {
                        // A call among them gives what is waited for; on what it is called is another matter.
                        if !given.is_call_expr() {
                            self.add(given);
                        }
                    }
                }
                (Some(name), Expr::Attribute(method)) if WAITED.contains(&name) => self.add(&method.value),
                _ => {}
            },
            _ => {}
        }
        walk_expr(self, expression);
    }
}
