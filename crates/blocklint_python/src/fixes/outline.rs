//! Names that a block that may move reads and binds, and those of the code around it in the same function.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_expr, walk_stmt};
use ruff_python_ast::{AnyNodeRef, Comprehension, Expr, ExprContext, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use super::callee::last_name;

/// The names and statements in a block.
#[derive(Default)]
pub(super) struct Inside<'a> {
    pub(super) loads: FxHashSet<&'a str>,
    pub(super) stores: FxHashSet<&'a str>,
    pub(super) stored: Vec<&'a str>,
    pub(super) strings: Vec<TextRange>,
    pub(super) returns: u32,
    loops: u32,
    pub(super) leaves: bool,
    pub(super) awaits: bool,
    pub(super) refused: Option<&'static str>,
    /// True if it describes the exception that is being handled.
    pub(super) asks_for_exception: bool,
    /// Names of the comprehensions around.
    own: Vec<&'a str>,
}

impl<'a> Inside<'a> {
    /// Returns the content of statements that follow each other.
    pub(super) fn of(statements: &'a [Stmt]) -> Self {
        let mut inside = Inside::default();
        inside.visit_body(statements);
        inside
    }

    fn of_expression(expression: &'a Expr) -> Self {
        let mut inside = Inside::default();
        inside.visit_expr(expression);
        inside
    }

    pub(super) fn stored_times(&self, name: &str) -> usize {
        self.stored.iter().filter(|of| **of == name).count()
    }
}

impl<'a> SourceOrderVisitor<'a> for Inside<'a> {
    fn enter_node(&mut self, _node: AnyNodeRef<'a>) -> TraversalSignal {
        TraversalSignal::Traverse
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {
                self.refused =
                    Some("a function or class is defined in the block, which must move to a thread as a whole");
                return;
            }
            Stmt::Global(_) | Stmt::Nonlocal(_) => self.refused = Some("the block speaks of names of another function"),
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.refused = Some("the block imports"),
            Stmt::Delete(_) => self.refused = Some("the block deletes something"),
            Stmt::AugAssign(assign) if assign.target.is_name_expr() => {
                if let Expr::Name(name) = &*assign.target {
                    self.loads.insert(name.id.as_str());
                }
            }
            Stmt::Return(_) => self.returns += 1,
            Stmt::Raise(raise) => self.asks_for_exception |= raise.exc.is_none(),
            Stmt::Break(_) | Stmt::Continue(_) => self.leaves |= self.loops == 0,
            Stmt::With(with) if with.is_async => self.awaits = true,
            Stmt::For(each) => {
                self.awaits |= each.is_async;
                self.loops += 1;
                walk_stmt(self, statement);
                self.loops -= 1;
                return;
            }
            Stmt::While(_) => {
                self.loops += 1;
                walk_stmt(self, statement);
                self.loops -= 1;
                return;
            }
            _ => {}
        }
        if self.awaits {
            self.refused = Some("something is awaited in the block, which must move to a thread as a whole");
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Await(_) => self.awaits = true,
            Expr::Call(call) => match last_name(&call.func) {
                Some("next") if call.arguments.args.len() == 1 => self.refused = Some(super::STOPS),
                Some("exception" | "exc_info" | "format_exc" | "print_exc") => self.asks_for_exception = true,
                _ => {}
            },
            Expr::Yield(_) | Expr::YieldFrom(_) => self.refused = Some("the block yields"),
            Expr::ListComp(of) if of.generators.iter().any(|each| each.is_async) => self.awaits = true,
            Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::FString(_) => self.strings.push(expression.range()),
            Expr::Name(name) if self.own.contains(&name.id.as_str()) => {}
            Expr::Name(name) => match name.ctx {
                ExprContext::Load => {
                    self.loads.insert(name.id.as_str());
                    if matches!(name.id.as_str(), "super" | "__class__" | "locals" | "vars" | "eval" | "exec") {
                        self.refused = Some("the block asks for the function around it");
                    }
                }
                _ => {
                    self.stores.insert(name.id.as_str());
                    self.stored.push(name.id.as_str());
                }
            },
            _ => {}
        }
        if self.awaits {
            self.refused = Some("something is awaited in the block, which must move to a thread as a whole");
        }
        if let Some(first) = first_iterable(expression) {
            self.visit_expr(first);
        }
        let before = self.own.len();
        self.own.extend(own_names(expression));
        walk_expr(self, expression);
        self.own.truncate(before);
    }
}

/// The names in a function outside of a block.
pub(super) struct Outside<'a> {
    range: TextRange,
    pub(super) loads: FxHashSet<&'a str>,
    pub(super) stores: FxHashSet<&'a str>,
    /// Names that are declared to be of the module or of another function.
    pub(super) foreign: FxHashSet<&'a str>,
    /// Names that the statements around bind for themselves.
    own: Vec<&'a str>,
}

impl<'a> Outside<'a> {
    /// Returns the names in a function outside of some of its statements.
    pub(super) fn of(function: &'a StmtFunctionDef, range: TextRange) -> Self {
        let mut outside = Outside {
            range,
            loads: FxHashSet::default(),
            stores: FxHashSet::default(),
            foreign: FxHashSet::default(),
            own: Vec::new(),
        };
        outside.visit_parameters(&function.parameters);
        outside.visit_body(&function.body);
        outside
    }

    fn with_own(&mut self, bound: Vec<&'a str>, visit: impl FnOnce(&mut Self)) {
        let before = self.own.len();
        self.own.extend(bound);
        visit(self);
        self.own.truncate(before);
    }
}

impl<'a> SourceOrderVisitor<'a> for Outside<'a> {
    fn visit_parameter(&mut self, parameter: &'a ruff_python_ast::Parameter) {
        self.stores.insert(parameter.name.as_str());
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let range = self.range;
        if range.contains_range(statement.range()) {
            return;
        }
        match statement {
            Stmt::Global(of) => self.foreign.extend(of.names.iter().map(ruff_python_ast::Identifier::as_str)),
            Stmt::Nonlocal(of) => self.foreign.extend(of.names.iter().map(ruff_python_ast::Identifier::as_str)),
            Stmt::For(each) if !each.range().contains_range(range) => {
                // A loop evaluates its iterable before it binds a name: `for line in line`.
                self.visit_expr(&each.iter);
                self.with_own(bound_by(&each.target), |outside| walk_stmt(outside, statement));
            }
            Stmt::With(with) if !with.range().contains_range(range) => {
                with.items.iter().for_each(|item| self.visit_expr(&item.context_expr));
                let bound =
                    with.items.iter().filter_map(|item| item.optional_vars.as_deref()).flat_map(bound_by).collect();
                self.with_own(bound, |outside| walk_stmt(outside, statement));
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression {
            let name_text = name.id.as_str();
            if !self.own.contains(&name_text) {
                match name.ctx {
                    ExprContext::Load => self.loads.insert(name_text),
                    _ => self.stores.insert(name_text),
                };
            }
        }
        if let Some(first) = first_iterable(expression) {
            self.visit_expr(first);
        }
        self.with_own(own_names(expression), |outside| walk_expr(outside, expression));
    }
}

/// Returns the first iterable of a comprehension, which the code around it evaluates: `[row for row in row]`.
fn first_iterable(expression: &Expr) -> Option<&Expr> {
    generators_of(expression).first().map(|each| &each.iter)
}

fn generators_of(expression: &Expr) -> &[Comprehension] {
    match expression {
        Expr::ListComp(of) => &of.generators,
        Expr::SetComp(of) => &of.generators,
        Expr::DictComp(of) => &of.generators,
        Expr::Generator(of) => &of.generators,
        _ => &[],
    }
}

/// Returns the names that a comprehension binds for itself.
fn own_names(expression: &Expr) -> Vec<&str> {
    generators_of(expression).iter().flat_map(|each| bound_by(&each.target)).collect()
}

/// Returns the names in a target.
pub(super) fn bound_by(target: &Expr) -> Vec<&str> {
    match target {
        Expr::Name(name) => vec![name.id.as_str()],
        Expr::Tuple(tuple) => tuple.elts.iter().flat_map(bound_by).collect(),
        _ => Vec::new(),
    }
}

/// In which order statements read and bind names.
#[derive(Default)]
pub(super) struct Order<'a> {
    /// Names that may be read before the statements bind them.
    pub(super) reads_first: FxHashSet<&'a str>,
    /// Names that are bound once the statements have run.
    pub(super) bound: FxHashSet<&'a str>,
}

impl<'a> Order<'a> {
    pub(super) fn of(statements: &'a [Stmt]) -> Self {
        let mut order = Order::default();
        order.add(statements);
        order
    }

    fn add(&mut self, statements: &'a [Stmt]) {
        for statement in statements {
            match statement {
                Stmt::With(with) => {
                    for item in &with.items {
                        self.read(Inside::of_expression(&item.context_expr));
                        self.bound.extend(item.optional_vars.as_deref().map(bound_by).unwrap_or_default());
                    }
                    self.add(&with.body);
                }
                Stmt::Assign(assign) => {
                    self.read(Inside::of(std::slice::from_ref(statement)));
                    self.bound.extend(assign.targets.iter().flat_map(bound_by));
                }
                // A name in a loop or a test may stay unbound.
                _ => self.read(Inside::of(std::slice::from_ref(statement))),
            }
        }
    }

    fn read(&mut self, inside: Inside<'a>) {
        let bound = &self.bound;
        self.reads_first.extend(inside.loads.into_iter().filter(|name| !bound.contains(name)));
    }
}
