//! Steps that follow each other, handed to a thread in one hop.
//!
//! ```python
//! os.makedirs(folder)                      def makedirs_and_copy():
//! shutil.copy(source, folder)                  os.makedirs(folder)
//!                                              shutil.copy(source, folder)
//!
//!                                          await asyncio.to_thread(makedirs_and_copy)
//! ```
//!
//! Each would move by itself, their arguments are only put together, and no more than the result of the last one is
//! used behind them: what each gives is better read where it is asked for. A statement by itself goes the same way if
//! several of its calls would move: `if os.path.isdir(folder): shutil.rmtree(folder)`, `save(load(path))`.

use std::ops::Range;
use std::rc::Rc;

use blocklint_core::{Applicability, EditKind, Refusal, Remedy};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_body, walk_stmt};
use ruff_python_ast::{AnyNodeRef, ArgOrKeyword, Expr, ExprCall, Stmt, StmtFunctionDef, StmtIf};
use ruff_text_size::{Ranged, TextRange};

use super::callee::last_name;
use super::outline::Inside;
use super::surroundings::Surroundings;
use super::whole::{Block, Gives};
use super::{Elsewhere, File, Site};
use crate::walk::span;

/// A call of the file for which a thread is wanted.
pub(super) struct Call<'a, 'r> {
    /// Its place in the list of what is wanted.
    pub(super) at: usize,
    pub(super) call: &'a ExprCall,
    pub(super) around: Vec<AnyNodeRef<'a>>,
    pub(super) remedy: &'r Remedy,
}

/// More steps than these are no longer read as one: they become several hops.
const MOST_STEPS: usize = 32;

/// Functions that only put something together, so that it does not matter which thread asks them.
const PLAIN: &[&str] = &[
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
    /// Returns the steps that a call moves together with, if there are any. The same for each call in them.
    pub(super) fn steps_of(
        &self,
        at: usize,
        site: &Site<'a>,
        around: &[AnyNodeRef<'a>],
        elsewhere: &Elsewhere<'_>,
    ) -> Option<Block<'a>> {
        let function = *site.around.functions.first()?;
        let own = match self.block_of(site, around, &|with| (elsewhere.holds)(at, with)) {
            Some(block) => block.range(),
            None => around.iter().rev().find(|node| node.is_statement())?.range(),
        };
        // A branch may move as a whole with the calls in it.
        let outer = around.iter().rev().find(|node| {
            node.is_stmt_if() && node.range().contains_range(own) && function.range().contains_range(node.range())
        });
        if let Some(AnyNodeRef::StmtIf(branch)) = outer
            && branch.range() != own
            && let Some(found) = self.step_among(function, branch.range(), elsewhere)
            && self.is_branch_step(branch, elsewhere)
        {
            return Some(found);
        }
        self.step_among(function, own, elsewhere)
    }

    /// Returns the steps among which a statement moves.
    fn step_among(
        &self,
        function: &'a StmtFunctionDef,
        own: TextRange,
        elsewhere: &Elsewhere<'_>,
    ) -> Option<Block<'a>> {
        let suite = suite_of(&function.body, own)?;
        let own = suite.binary_search_by_key(&own.start(), Ranged::start).ok()?;
        let first = suite.first()?.start();
        let known = self.steps.borrow().get(&first).cloned();
        let runs = known.unwrap_or_else(|| {
            let runs: Rc<[Range<usize>]> = self.runs_of_steps(function, suite, elsewhere).into();
            self.steps.borrow_mut().insert(first, runs.clone());
            runs
        });
        let run = runs.iter().find(|run| run.contains(&own))?;
        Some(Block { statements: &suite[run.clone()], must: false })
    }

    /// Returns where steps follow each other among these statements, by their numbers; one alone only with several
    /// calls.
    fn runs_of_steps(
        &self,
        function: &'a StmtFunctionDef,
        suite: &'a [Stmt],
        elsewhere: &Elsewhere<'_>,
    ) -> Vec<Range<usize>> {
        let is_step: Vec<bool> = suite.iter().map(|statement| self.is_step(statement, elsewhere)).collect();
        let mut runs = Vec::new();
        let mut from = 0;
        while from < suite.len() {
            let mut to = from;
            while to < suite.len().min(from + MOST_STEPS) && is_step[to] {
                let more = &suite[from..=to];
                let ends = |statement: &Stmt| statement.is_return_stmt();
                let is_behind_end = more.iter().rev().skip(1).any(ends);
                let leaves = self.result_of(function, more, &Inside::of(more));
                if is_behind_end || !matches!(leaves, Ok(Gives::Nothing | Gives::Returned | Gives::Name { .. })) {
                    break;
                }
                to += 1;
            }
            if to > from + 1 || to == from + 1 && self.takes_several(&suite[from]) {
                runs.push(from..to);
            }
            from = to.max(from + 1);
        }
        runs
    }

    /// True if a statement is one call that would move, or a block that would move as a whole.
    fn is_step(&self, statement: &'a Stmt, elsewhere: &Elsewhere<'_>) -> bool {
        let range = statement.range();
        let call = match statement {
            Stmt::Expr(of) => of.value.as_call_expr(),
            Stmt::Assign(of) if matches!(&*of.targets, [Expr::Name(_)]) => of.value.as_call_expr(),
            Stmt::Return(of) => of.value.as_deref().and_then(Expr::as_call_expr),
            Stmt::With(_) | Stmt::For(_) => {
                let mut inside = self.calls_in(range);
                let moves = inside.any(|of| {
                    self.site(of).is_some_and(|(site, _)| {
                        self.block_of(&site, &of.around, &|with| (elsewhere.holds)(of.at, with)).is_some_and(|block| {
                            block.range() == range
                                && (elsewhere.refusal)(of.at, Some(span(range)), site.around.handles).is_none()
                                && self.can_be_whole(&site, block).is_ok()
                        })
                    })
                });
                return moves;
            }
            Stmt::If(branch) => return self.is_branch_step(branch, elsewhere),
            _ => None,
        };
        call.is_some_and(|call| self.moves_alone(call, elsewhere))
    }

    /// True if a test that holds the thread and the steps under it would move, and nothing else happens there.
    fn is_branch_step(&self, branch: &'a StmtIf, elsewhere: &Elsewhere<'_>) -> bool {
        let is_step = |statement: &'a Stmt| {
            matches!(statement, Stmt::Expr(_) | Stmt::With(_) | Stmt::For(_)) && self.is_step(statement, elsewhere)
        };
        branch.elif_else_clauses.is_empty()
            && self.calls_in(branch.test.range()).next().is_some()
            && is_plain_but(&branch.test, &|call| self.moves_alone(call, elsewhere))
            && branch.body.iter().all(is_step)
    }

    /// True if a call would move by itself, and its arguments are only put together or would move as well.
    fn moves_alone(&self, call: &ExprCall, elsewhere: &Elsewhere<'_>) -> bool {
        let is_simple =
            |argument: ArgOrKeyword<'_>| is_plain_but(argument.value(), &|inner| self.moves_alone(inner, elsewhere));
        if !is_plain(&call.func) || !call.arguments.iter_source_order().all(is_simple) {
            return false;
        }
        let here = self.calls_in(call.range()).find(|of| of.call.range() == call.range());
        here.is_some_and(|of| self.would_move(of, elsewhere))
    }

    fn would_move(&self, of: &Call<'a, '_>, elsewhere: &Elsewhere<'_>) -> bool {
        self.site(of).is_some_and(|(site, to)| {
            (elsewhere.refusal)(of.at, None, site.around.handles).is_none() && self.offload(&site, to).is_ok()
        })
    }

    /// True if several calls of one statement, which is no block with a handle, are wanted.
    fn takes_several(&self, statement: &Stmt) -> bool {
        let is_fit = matches!(statement, Stmt::Expr(_) | Stmt::Assign(_) | Stmt::Return(_) | Stmt::If(_));
        let mut places: Vec<TextRange> = self.calls_in(statement.range()).map(|of| of.call.range()).collect();
        places.dedup();
        is_fit && places.len() > 1
    }

    /// Refuses a call where another one in it, or around it, would take a thread of its own.
    pub(super) fn has_thread_alone(
        &self,
        call: &ExprCall,
        around: &[AnyNodeRef<'a>],
        elsewhere: &Elsewhere<'_>,
    ) -> Result<(), Refusal> {
        let Some(from) = around.iter().rposition(|node| node.is_statement()) else { return Ok(()) };
        let whole = match around.get(from + 1) {
            None => call.range(),
            Some(node) if node.is_expression() => node.range(),
            Some(_) => return Ok(()),
        };
        // Two that wait for others, one after the other, are worth a thread each; of those in each other the outer one moves with
        // the inner.
        let counts = |of: &Call<'_, '_>| {
            let range = of.call.range();
            (elsewhere.is_short)(of.at) || range.contains_range(call.range()) || call.range().contains_range(range)
        };
        let mut others = self.calls_in(whole).filter(|of| of.call.range() != call.range() && counts(of));
        match others.any(|of| self.would_move(of, elsewhere)) {
            true => Err(Refusal::new(
                "another call of the same expression would take a thread of its own: put both into a function, which can move",
            )),
            false => Ok(()),
        }
    }

    /// The wanted calls in a part of the text.
    fn calls_in(&self, range: TextRange) -> impl Iterator<Item = &Call<'a, '_>> {
        let from = self.calls.partition_point(|of| of.call.start() < range.start());
        let beginning = self.calls[from..].iter().take_while(move |of| of.call.start() < range.end());
        beginning.filter(move |of| of.call.end() <= range.end())
    }

    /// Where a wanted call stands, and what would hand it to a thread.
    fn site<'s>(&'s self, of: &'s Call<'a, '_>) -> Option<(Site<'a>, &'s [blocklint_core::Offload])> {
        let functions = match &*of.remedy.edit_kinds {
            [EditKind::Offload { functions }] if of.remedy.at_most != Applicability::Display => functions,
            _ => return None,
        };
        let around = Surroundings::of(of.call, &of.around, true).ok()?;
        Some((Site { call: of.call, around }, functions))
    }
}

pub(super) fn arguments_are_plain(call: &ExprCall) -> bool {
    call.arguments.iter_source_order().all(|argument| is_plain(argument.value()))
}

/// True if an expression only names or puts together values.
pub(super) fn is_plain(expression: &Expr) -> bool {
    is_plain_but(expression, &|_| false)
}

/// True if an expression only names or puts together values, where calls may be declared fine.
fn is_plain_but(expression: &Expr, is_fine: &dyn Fn(&ExprCall) -> bool) -> bool {
    let is_plain = |expression: &Expr| is_plain_but(expression, is_fine);
    match expression {
        Expr::Name(_)
        | Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_) => true,
        Expr::Attribute(of) => is_plain(&of.value),
        Expr::Subscript(of) => is_plain(&of.value) && is_plain(&of.slice),
        Expr::Slice(of) => [&of.lower, &of.upper, &of.step].into_iter().flatten().all(|part| is_plain(part)),
        Expr::Starred(of) => is_plain(&of.value),
        Expr::UnaryOp(of) => is_plain(&of.operand),
        Expr::BinOp(of) => is_plain(&of.left) && is_plain(&of.right),
        Expr::BoolOp(of) => of.values.iter().all(is_plain),
        Expr::Compare(of) => is_plain(&of.left) && of.comparators.iter().all(is_plain),
        Expr::Tuple(of) => of.elts.iter().all(is_plain),
        Expr::List(of) => of.elts.iter().all(is_plain),
        Expr::Dict(of) => of.items.iter().all(|item| item.key.as_ref().is_none_or(is_plain) && is_plain(&item.value)),
        Expr::FString(of) => of
            .value
            .elements()
            .filter_map(|element| element.as_interpolation())
            .all(|element| is_plain(&element.expression)),
        Expr::Call(call) => {
            let puts_together = last_name(&call.func).is_some_and(|name| PLAIN.contains(&name))
                && is_plain(&call.func)
                && call.arguments.iter_source_order().all(|argument| is_plain(argument.value()));
            puts_together || is_fine(call)
        }
        _ => false,
    }
}

/// Returns the statements of one level among which one with this range stands.
fn suite_of(body: &[Stmt], range: TextRange) -> Option<&[Stmt]> {
    struct Find<'a>(TextRange, Option<&'a [Stmt]>);
    impl<'a> SourceOrderVisitor<'a> for Find<'a> {
        fn visit_body(&mut self, body: &'a [Stmt]) {
            match body.binary_search_by_key(&self.0.start(), Ranged::start) {
                Ok(at) if body[at].range() == self.0 => self.1 = Some(body),
                _ => walk_body(self, body),
            }
        }

        fn visit_stmt(&mut self, statement: &'a Stmt) {
            if statement.range().contains_range(self.0) {
                walk_stmt(self, statement);
            }
        }
    }
    let mut find = Find(range, None);
    find.visit_body(body);
    find.1
}
