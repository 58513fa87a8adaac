//! `await` outside of `async` functions: such code parses and does not compile.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Mod, PythonVersion, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

/// Counts `await`, `async with` and `async for` outside of `async` functions: with any of these the text does not
/// compile. Needs a thread with [`crate::STACK_SIZE`] of stack.
pub fn count_misplaced_awaits(text: &str) -> usize {
    if crate::depth::check_nesting(text).is_some() {
        return 0;
    }
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest()));
    let Mod::Module(module) = parsed.syntax() else { return 0 };
    let mut counter = AwaitCounter { is_async: false, misplaced: 0 };
    counter.visit_body(&module.body);
    counter.misplaced
}

struct AwaitCounter {
    /// True if the innermost function is `async`.
    is_async: bool,
    misplaced: usize,
}

impl AwaitCounter {
    /// Visits the code of a function or class.
    fn visit_function(&mut self, is_async: bool, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_async, is_async);
        visit(self);
        self.is_async = before;
    }
}

impl<'a> SourceOrderVisitor<'a> for AwaitCounter {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                // Decorators, defaults and annotations run where the function is defined.
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&function.parameters);
                self.visit_function(function.is_async, |counter| counter.visit_body(&function.body));
                return;
            }
            Stmt::ClassDef(class) => {
                self.visit_function(false, |counter| counter.visit_body(&class.body));
                return;
            }
            Stmt::With(with) if with.is_async => self.misplaced += usize::from(!self.is_async),
            Stmt::For(each) if each.is_async => self.misplaced += usize::from(!self.is_async),
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Await(_) => self.misplaced += usize::from(!self.is_async),
            Expr::Lambda(_) => {
                self.visit_function(false, |counter| walk_expr(counter, expression));
                return;
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::count_misplaced_awaits;

    #[test]
    fn awaits_outside_of_coroutines_are_counted() {
        assert_eq!(count_misplaced_awaits("async def f():\n    await g()\n    async with h():\n        pass\n"), 0);
        assert_eq!(
            count_misplaced_awaits("async def f():\n    def g():\n        await h()\n    return lambda: await_me\n"),
            1
        );
        assert_eq!(count_misplaced_awaits("class A:\n    await g()\nx = lambda: (await g())\n"), 2);
    }
}
