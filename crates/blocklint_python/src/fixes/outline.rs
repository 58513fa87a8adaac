//! Data flow of a block that may become a function: the names that it reads and binds, and those of the code around it.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_expr, walk_stmt};
use ruff_python_ast::{AnyNodeRef, Comprehension, Expr, ExprContext, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use super::callee::last_name;

/// The names that a block reads and binds, and the statements that decide whether it can move.
#[derive(Default)]
pub(super) struct BlockNames<'a> {
    /// The names that are read.
    pub(super) loads: FxHashSet<&'a str>,
    /// The names that are bound.
    pub(super) stores: FxHashSet<&'a str>,
    /// The names that are bound, once for each binding, in the order of the text.
    pub(super) bindings: Vec<&'a str>,
    /// The ranges of string literals.
    pub(super) strings: Vec<TextRange>,
    /// Number of `return` statements.
    pub(super) returns: u32,
    /// Number of loops around the statement being visited.
    loops: u32,
    /// True if `break` or `continue` leaves the block.
    pub(super) jumps_out: bool,
    pub(super) awaits: bool,
    /// The reason why the block cannot move.
    pub(super) refused: Option<&'static str>,
    /// True if it reads the exception that is being handled: `raise`, `sys.exc_info()`.
    pub(super) reads_exception: bool,
    /// Names that the comprehensions around the expression being visited bind.
    comprehension_names: Vec<&'a str>,
}

impl<'a> BlockNames<'a> {
    /// Collects the names of consecutive statements.
    pub(super) fn collect(statements: &'a [Stmt]) -> Self {
        let mut names = BlockNames::default();
        names.visit_body(statements);
        names
    }

    fn collect_in_expression(expression: &'a Expr) -> Self {
        let mut names = BlockNames::default();
        names.visit_expr(expression);
        names
    }

    pub(super) fn count_bindings(&self, name: &str) -> usize {
        self.bindings.iter().filter(|bound_name| **bound_name == name).count()
    }
}

impl<'a> SourceOrderVisitor<'a> for BlockNames<'a> {
    fn enter_node(&mut self, _node: AnyNodeRef<'a>) -> TraversalSignal {
        TraversalSignal::Traverse
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {
                self.refused = Some("the block defines a function or class, but must move to a thread as a whole");
                return;
            }
            Stmt::Global(_) | Stmt::Nonlocal(_) => self.refused = Some("the block uses variables of another function"),
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.refused = Some("the block has an `import`"),
            Stmt::Delete(_) => self.refused = Some("the block has a `del`"),
            Stmt::AugAssign(assign) if assign.target.is_name_expr() => {
                if let Expr::Name(name) = &*assign.target {
                    self.loads.insert(name.id.as_str());
                }
            }
            Stmt::Return(_) => self.returns += 1,
            Stmt::Raise(raise) => self.reads_exception |= raise.exc.is_none(),
            Stmt::Break(_) | Stmt::Continue(_) => self.jumps_out |= self.loops == 0,
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
            self.refused = Some("the block awaits, but must move to a thread as a whole");
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Await(_) => self.awaits = true,
            Expr::Call(call) => match last_name(&call.func) {
                Some("next") if call.arguments.args.len() == 1 => self.refused = Some(super::STOP_ITERATION),
                Some("exception" | "exc_info" | "format_exc" | "print_exc") => self.reads_exception = true,
                _ => {}
            },
            Expr::Yield(_) | Expr::YieldFrom(_) => self.refused = Some("the block has a `yield`"),
            Expr::ListComp(comprehension) if comprehension.generators.iter().any(|each| each.is_async) => {
                self.awaits = true
            }
            Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::FString(_) => self.strings.push(expression.range()),
            Expr::Name(name) if self.comprehension_names.contains(&name.id.as_str()) => {}
            Expr::Name(name) => match name.ctx {
                ExprContext::Load => {
                    self.loads.insert(name.id.as_str());
                    if matches!(name.id.as_str(), "super" | "__class__" | "locals" | "vars" | "eval" | "exec") {
                        self.refused = Some(
                            "the block uses `super`, `locals` or the like, which depend on the function around it",
                        );
                    }
                }
                _ => {
                    self.stores.insert(name.id.as_str());
                    self.bindings.push(name.id.as_str());
                }
            },
            _ => {}
        }
        if self.awaits {
            self.refused = Some("the block awaits, but must move to a thread as a whole");
        }
        if let Some(first) = first_iterable(expression) {
            self.visit_expr(first);
        }
        let before = self.comprehension_names.len();
        self.comprehension_names.extend(names_of_comprehension(expression));
        walk_expr(self, expression);
        self.comprehension_names.truncate(before);
    }
}

/// The names that a function reads and binds outside of a block.
pub(super) struct NamesAround<'a> {
    range: TextRange,
    pub(super) loads: FxHashSet<&'a str>,
    pub(super) stores: FxHashSet<&'a str>,
    /// Names that are declared `global` or `nonlocal`.
    pub(super) foreign: FxHashSet<&'a str>,
    /// Names that are bound by the loops, `with` statements and comprehensions around the code being visited.
    bound_around: Vec<&'a str>,
}

impl<'a> NamesAround<'a> {
    /// Collects the names of a function outside of a range.
    pub(super) fn collect(function: &'a StmtFunctionDef, range: TextRange) -> Self {
        let mut outside = NamesAround {
            range,
            loads: FxHashSet::default(),
            stores: FxHashSet::default(),
            foreign: FxHashSet::default(),
            bound_around: Vec::new(),
        };
        outside.visit_parameters(&function.parameters);
        outside.visit_body(&function.body);
        outside
    }

    fn visit_with_bound(&mut self, bound: Vec<&'a str>, visit: impl FnOnce(&mut Self)) {
        let before = self.bound_around.len();
        self.bound_around.extend(bound);
        visit(self);
        self.bound_around.truncate(before);
    }
}

impl<'a> SourceOrderVisitor<'a> for NamesAround<'a> {
    fn visit_parameter(&mut self, parameter: &'a ruff_python_ast::Parameter) {
        self.stores.insert(parameter.name.as_str());
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let range = self.range;
        if range.contains_range(statement.range()) {
            return;
        }
        match statement {
            Stmt::Global(global) => self.foreign.extend(global.names.iter().map(ruff_python_ast::Identifier::as_str)),
            Stmt::Nonlocal(nonlocal) => {
                self.foreign.extend(nonlocal.names.iter().map(ruff_python_ast::Identifier::as_str))
            }
            Stmt::For(each) if !each.range().contains_range(range) => {
                // The iterable is evaluated before the target is bound: `for line in line`.
                self.visit_expr(&each.iter);
                self.visit_with_bound(names_of_target(&each.target), |outside| walk_stmt(outside, statement));
            }
            Stmt::With(with) if !with.range().contains_range(range) => {
                with.items.iter().for_each(|item| self.visit_expr(&item.context_expr));
                let bound = with
                    .items
                    .iter()
                    .filter_map(|item| item.optional_vars.as_deref())
                    .flat_map(names_of_target)
                    .collect();
                self.visit_with_bound(bound, |outside| walk_stmt(outside, statement));
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression {
            let name_text = name.id.as_str();
            if !self.bound_around.contains(&name_text) {
                match name.ctx {
                    ExprContext::Load => self.loads.insert(name_text),
                    _ => self.stores.insert(name_text),
                };
            }
        }
        if let Some(first) = first_iterable(expression) {
            self.visit_expr(first);
        }
        self.visit_with_bound(names_of_comprehension(expression), |outside| walk_expr(outside, expression));
    }
}

/// Returns the first iterable of a comprehension, which is evaluated in the enclosing scope: `[row for row in row]`.
fn first_iterable(expression: &Expr) -> Option<&Expr> {
    comprehension_clauses(expression).first().map(|each| &each.iter)
}

fn comprehension_clauses(expression: &Expr) -> &[Comprehension] {
    match expression {
        Expr::ListComp(comprehension) => &comprehension.generators,
        Expr::SetComp(comprehension) => &comprehension.generators,
        Expr::DictComp(comprehension) => &comprehension.generators,
        Expr::Generator(generator) => &generator.generators,
        _ => &[],
    }
}

/// Returns the names that a comprehension binds.
fn names_of_comprehension(expression: &Expr) -> Vec<&str> {
    comprehension_clauses(expression).iter().flat_map(|each| names_of_target(&each.target)).collect()
}

/// Returns the names that a target binds.
pub(super) fn names_of_target(target: &Expr) -> Vec<&str> {
    match target {
        Expr::Name(name) => vec![name.id.as_str()],
        Expr::Tuple(tuple) => tuple.elts.iter().flat_map(names_of_target).collect(),
        _ => Vec::new(),
    }
}

/// The order in which statements read and bind names.
#[derive(Default)]
pub(super) struct BindingOrder<'a> {
    /// Names that are possibly read before the statements bind them.
    pub(super) reads_first: FxHashSet<&'a str>,
    /// Names that are certainly bound after the statements.
    pub(super) bound: FxHashSet<&'a str>,
}

impl<'a> BindingOrder<'a> {
    pub(super) fn collect(statements: &'a [Stmt]) -> Self {
        let mut order = BindingOrder::default();
        order.add_statements(statements);
        order
    }

    fn add_statements(&mut self, statements: &'a [Stmt]) {
        for statement in statements {
            match statement {
                Stmt::With(with) => {
                    for item in &with.items {
                        self.add_reads(BlockNames::collect_in_expression(&item.context_expr));
                        self.bound.extend(item.optional_vars.as_deref().map(names_of_target).unwrap_or_default());
                    }
                    self.add_statements(&with.body);
                }
                Stmt::Assign(assign) => {
                    self.add_reads(BlockNames::collect(std::slice::from_ref(statement)));
                    self.bound.extend(assign.targets.iter().flat_map(names_of_target));
                }
                // A name that a loop or a branch binds may stay unbound.
                _ => self.add_reads(BlockNames::collect(std::slice::from_ref(statement))),
            }
        }
    }

    fn add_reads(&mut self, inside: BlockNames<'a>) {
        let bound = &self.bound;
        self.reads_first.extend(inside.loads.into_iter().filter(|name| !bound.contains(name)));
    }
}
