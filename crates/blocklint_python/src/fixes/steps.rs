//! Consecutive blocking statements, moved to a thread together as a new function.
//!
//! ```python
//! os.makedirs(folder)                      def makedirs_and_copy():
//! shutil.copy(source, folder)                  os.makedirs(folder)
//!                                              shutil.copy(source, folder)
//!
//!                                          await asyncio.to_thread(makedirs_and_copy)
//! ```
//!
//! Statements are such *steps* if each call could move alone, their arguments run no other code, and the code after
//! them uses the result of the last one only. A single statement becomes a function too if several of its calls would
//! move: `if os.path.isdir(folder): shutil.rmtree(folder)`, `save(load(path))`.

use std::ops::Range;
use std::rc::Rc;

use blocklint_core::{Applicability, EditKind, Refusal, Remedy};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_body, walk_stmt};
use ruff_python_ast::{AnyNodeRef, ArgOrKeyword, Expr, ExprCall, Stmt, StmtFunctionDef, StmtIf};
use ruff_text_size::{Ranged, TextRange};

use super::callee::last_name;
use super::outline::BlockNames;
use super::surroundings::Surroundings;
use super::whole::{Block, BlockResult};
use super::{Elsewhere, File, Site};
use crate::walk::span;

/// A call of the file for which an edit is wanted.
pub(super) struct WantedCall<'a, 'r> {
    /// Its index in the list `wanted` of [`super::fix`].
    pub(super) index: usize,
    pub(super) call: &'a ExprCall,
    /// The nodes around it, the outermost first.
    pub(super) around: Vec<AnyNodeRef<'a>>,
    pub(super) remedy: &'r Remedy,
}

/// A longer run of steps becomes several functions, because the edit would be hard to review.
const MOST_STEPS: usize = 32;

/// Functions that only build a value, so that any thread may call them.
const PLAIN_FUNCTIONS: &[&str] = &[
    "Path",
    "PurePath",
    "basename",
    "bool",
    "decode",
    "dict",
    "dirname",
    "encode",
    "float",
    "format",
    "get",
    "int",
    "items",
    "join",
    "joinpath",
    "keys",
    "len",
    "list",
    "lower",
    "max",
    "min",
    "replace",
    "sorted",
    "split",
    "str",
    "strip",
    "tuple",
    "upper",
    "values",
    "with_name",
    "with_suffix",
];

impl<'a> File<'a, '_> {
    /// Returns the steps with which a call moves, if there are any. The result is equal for each call in the steps.
    pub(super) fn find_steps(
        &self,
        index: usize,
        site: &Site<'a>,
        around: &[AnyNodeRef<'a>],
        elsewhere: &Elsewhere<'_>,
    ) -> Option<Block<'a>> {
        let function = *site.around.functions.first()?;
        let statement_range = match self.find_block(site, around, &|with| (elsewhere.holds)(index, with)) {
            Some(block) => block.range(),
            None => around.iter().rev().find(|node| node.is_statement())?.range(),
        };
        // An `if` may move as one step, with the calls in it.
        let outer = around.iter().rev().find(|node| {
            node.is_stmt_if()
                && node.range().contains_range(statement_range)
                && function.range().contains_range(node.range())
        });
        if let Some(AnyNodeRef::StmtIf(branch)) = outer
            && branch.range() != statement_range
            && let Some(steps) = self.find_run_with(function, branch.range(), elsewhere)
            && self.is_branch_step(branch, elsewhere)
        {
            return Some(steps);
        }
        self.find_run_with(function, statement_range, elsewhere)
    }

    /// Returns the run of steps that contains a statement.
    fn find_run_with(
        &self,
        function: &'a StmtFunctionDef,
        statement_range: TextRange,
        elsewhere: &Elsewhere<'_>,
    ) -> Option<Block<'a>> {
        let suite = suite_of(&function.body, statement_range)?;
        let index = suite.binary_search_by_key(&statement_range.start(), Ranged::start).ok()?;
        let suite_start = suite.first()?.start();
        let cached = self.steps.borrow().get(&suite_start).cloned();
        let runs = cached.unwrap_or_else(|| {
            let runs: Rc<[Range<usize>]> = self.find_runs(function, suite, elsewhere).into();
            self.steps.borrow_mut().insert(suite_start, runs.clone());
            runs
        });
        let run = runs.iter().find(|run| run.contains(&index))?;
        Some(Block { statements: &suite[run.clone()], moves_only_whole: false })
    }

    /// Returns the runs of steps in a suite, as ranges of indexes. A run of one step needs several wanted calls.
    fn find_runs(
        &self,
        function: &'a StmtFunctionDef,
        suite: &'a [Stmt],
        elsewhere: &Elsewhere<'_>,
    ) -> Vec<Range<usize>> {
        let is_step: Vec<bool> = suite.iter().map(|statement| self.is_step(statement, elsewhere)).collect();
        let mut runs = Vec::new();
        let mut start = 0;
        while start < suite.len() {
            let mut end = start;
            while end < suite.len().min(start + MOST_STEPS) && is_step[end] {
                let run = &suite[start..=end];
                let is_return = |statement: &Stmt| statement.is_return_stmt();
                let is_behind_end = run.iter().rev().skip(1).any(is_return);
                let result = self.result_of(function, run, &BlockNames::collect(run));
                if is_behind_end
                    || !matches!(result, Ok(BlockResult::Nothing | BlockResult::Returned | BlockResult::Name { .. }))
                {
                    break;
                }
                end += 1;
            }
            if end > start + 1 || end == start + 1 && self.has_several_wanted_calls(&suite[start]) {
                runs.push(start..end);
            }
            start = end.max(start + 1);
        }
        runs
    }

    /// True if a statement is one call that can move, or a block that can move.
    fn is_step(&self, statement: &'a Stmt, elsewhere: &Elsewhere<'_>) -> bool {
        let range = statement.range();
        let call = match statement {
            Stmt::Expr(node) => node.value.as_call_expr(),
            Stmt::Assign(node) if matches!(&*node.targets, [Expr::Name(_)]) => node.value.as_call_expr(),
            Stmt::Return(node) => node.value.as_deref().and_then(Expr::as_call_expr),
            Stmt::With(_) | Stmt::For(_) => {
                let mut wanted_calls = self.calls_in(range);
                let moves = wanted_calls.any(|node| {
                    self.offload_site(node).is_some_and(|(site, _)| {
                        self.find_block(&site, &node.around, &|with| (elsewhere.holds)(node.index, with)).is_some_and(
                            |block| {
                                block.range() == range
                                    && (elsewhere.refusal)(node.index, Some(span(range)), site.around.is_in_handler)
                                        .is_none()
                                    && self.check_block(&site, block).is_ok()
                            },
                        )
                    })
                });
                return moves;
            }
            Stmt::If(branch) => return self.is_branch_step(branch, elsewhere),
            _ => None,
        };
        call.is_some_and(|call| self.can_move_alone(call, elsewhere))
    }

    /// True for an `if` without `else` whose test has a blocking call, if nothing but calls and steps that can move run
    /// in it.
    fn is_branch_step(&self, branch: &'a StmtIf, elsewhere: &Elsewhere<'_>) -> bool {
        let is_step = |statement: &'a Stmt| {
            matches!(statement, Stmt::Expr(_) | Stmt::With(_) | Stmt::For(_)) && self.is_step(statement, elsewhere)
        };
        branch.elif_else_clauses.is_empty()
            && self.calls_in(branch.test.range()).next().is_some()
            && is_plain_but(&branch.test, &|call| self.can_move_alone(call, elsewhere))
            && branch.body.iter().all(is_step)
    }

    /// True if a call can move, and its arguments are plain or can move as well.
    fn can_move_alone(&self, call: &ExprCall, elsewhere: &Elsewhere<'_>) -> bool {
        let is_simple =
            |argument: ArgOrKeyword<'_>| is_plain_but(argument.value(), &|inner| self.can_move_alone(inner, elsewhere));
        if !is_plain(&call.func) || !call.arguments.iter_source_order().all(is_simple) {
            return false;
        }
        let wanted_call = self.calls_in(call.range()).find(|wanted_call| wanted_call.call.range() == call.range());
        wanted_call.is_some_and(|wanted_call| self.can_move(wanted_call, elsewhere))
    }

    /// True if no reason is against moving a wanted call alone.
    fn can_move(&self, wanted_call: &WantedCall<'a, '_>, elsewhere: &Elsewhere<'_>) -> bool {
        self.offload_site(wanted_call).is_some_and(|(site, to)| {
            (elsewhere.refusal)(wanted_call.index, None, site.around.is_in_handler).is_none()
                && self.offload(&site, to).is_ok()
        })
    }

    /// True if a simple statement or an `if` contains several wanted calls.
    fn has_several_wanted_calls(&self, statement: &Stmt) -> bool {
        let is_candidate = matches!(statement, Stmt::Expr(_) | Stmt::Assign(_) | Stmt::Return(_) | Stmt::If(_));
        let mut ranges: Vec<TextRange> =
            self.calls_in(statement.range()).map(|wanted_call| wanted_call.call.range()).collect();
        ranges.dedup();
        is_candidate && ranges.len() > 1
    }

    /// Refuses a call if another call of the same expression would also move to a thread.
    pub(super) fn check_moves_alone(
        &self,
        call: &ExprCall,
        around: &[AnyNodeRef<'a>],
        elsewhere: &Elsewhere<'_>,
    ) -> Result<(), Refusal> {
        let Some(statement_index) = around.iter().rposition(|node| node.is_statement()) else { return Ok(()) };
        let whole = match around.get(statement_index + 1) {
            None => call.range(),
            Some(node) if node.is_expression() => node.range(),
            Some(_) => return Ok(()),
        };
        // Two long calls side by side are worth a hop each. Short calls, and calls that are nested in each other, are
        // not.
        let is_relevant = |wanted_call: &WantedCall<'_, '_>| {
            let range = wanted_call.call.range();
            (elsewhere.is_short)(wanted_call.index)
                || range.contains_range(call.range())
                || call.range().contains_range(range)
        };
        let mut others = self
            .calls_in(whole)
            .filter(|wanted_call| wanted_call.call.range() != call.range() && is_relevant(wanted_call));
        if others.any(|wanted_call| self.can_move(wanted_call, elsewhere)) {
            Err(Refusal::new(
                "another call in the same expression would need its own thread: move both into a function",
            ))
        } else {
            Ok(())
        }
    }

    /// Returns the wanted calls in a range of the text.
    fn calls_in(&self, range: TextRange) -> impl Iterator<Item = &WantedCall<'a, '_>> {
        let first = self.calls.partition_point(|wanted_call| wanted_call.call.start() < range.start());
        let starting = self.calls[first..].iter().take_while(move |wanted_call| wanted_call.call.start() < range.end());
        starting.filter(move |wanted_call| wanted_call.call.end() <= range.end())
    }

    /// Returns a wanted call with the code around it, and the functions that can run it in a thread.
    fn offload_site<'s>(
        &'s self,
        wanted_call: &'s WantedCall<'a, '_>,
    ) -> Option<(Site<'a>, &'s [blocklint_core::Offload])> {
        let functions = match &*wanted_call.remedy.edit_kinds {
            [EditKind::Offload { functions }] if wanted_call.remedy.at_most != Applicability::Display => functions,
            _ => return None,
        };
        let around = Surroundings::collect(wanted_call.call, &wanted_call.around, true).ok()?;
        Some((Site { call: wanted_call.call, around }, functions))
    }
}

/// True if all arguments of a call are plain expressions.
pub(super) fn has_plain_arguments(call: &ExprCall) -> bool {
    call.arguments.iter_source_order().all(|argument| is_plain(argument.value()))
}

/// True for plain expressions, which only read names or build values.
pub(super) fn is_plain(expression: &Expr) -> bool {
    is_plain_but(expression, &|_| false)
}

/// As [`is_plain`], but calls that `is_fine` accepts are allowed in the expression.
fn is_plain_but(expression: &Expr, is_fine: &dyn Fn(&ExprCall) -> bool) -> bool {
    let is_plain = |expression: &Expr| is_plain_but(expression, is_fine);
    match expression {
        Expr::Name(_)
        | Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_) => true,
        Expr::Attribute(node) => is_plain(&node.value),
        Expr::Subscript(node) => is_plain(&node.value) && is_plain(&node.slice),
        Expr::Slice(node) => [&node.lower, &node.upper, &node.step].into_iter().flatten().all(|part| is_plain(part)),
        Expr::Starred(node) => is_plain(&node.value),
        Expr::UnaryOp(node) => is_plain(&node.operand),
        Expr::BinOp(node) => is_plain(&node.left) && is_plain(&node.right),
        Expr::BoolOp(node) => node.values.iter().all(is_plain),
        Expr::Compare(node) => is_plain(&node.left) && node.comparators.iter().all(is_plain),
        Expr::Tuple(node) => node.elts.iter().all(is_plain),
        Expr::List(node) => node.elts.iter().all(is_plain),
        Expr::Dict(node) => {
            node.items.iter().all(|item| item.key.as_ref().is_none_or(is_plain) && is_plain(&item.value))
        }
        Expr::FString(node) => node
            .value
            .elements()
            .filter_map(|element| element.as_interpolation())
            .all(|element| is_plain(&element.expression)),
        Expr::Call(call) => {
            let is_plain_function = last_name(&call.func).is_some_and(|name| PLAIN_FUNCTIONS.contains(&name))
                && is_plain(&call.func)
                && call.arguments.iter_source_order().all(|argument| is_plain(argument.value()));
            is_plain_function || is_fine(call)
        }
        _ => false,
    }
}

/// Returns the suite that contains a statement with this range.
fn suite_of(body: &[Stmt], range: TextRange) -> Option<&[Stmt]> {
    struct SuiteFinder<'a>(TextRange, Option<&'a [Stmt]>);
    impl<'a> SourceOrderVisitor<'a> for SuiteFinder<'a> {
        fn visit_body(&mut self, body: &'a [Stmt]) {
            match body.binary_search_by_key(&self.0.start(), Ranged::start) {
                Ok(index) if body[index].range() == self.0 => self.1 = Some(body),
                _ => walk_body(self, body),
            }
        }

        fn visit_stmt(&mut self, statement: &'a Stmt) {
            if statement.range().contains_range(self.0) {
                walk_stmt(self, statement);
            }
        }
    }
    let mut finder = SuiteFinder(range, None);
    finder.visit_body(body);
    finder.1
}
