//! Code that parses and yet does not compile: an `await` where no coroutine runs.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Mod, PythonVersion, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

/// Returns how many `await`, `async with` and `async for` of a text stand outside of `async` functions, so that it does
/// not compile. Needs a thread with [`crate::STACK_SIZE`] of stack.
pub fn misplaced_awaits(text: &str) -> usize {
    if crate::depth::refuse(text).is_some() {
        return 0;
    }
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest()));
    let Mod::Module(module) = parsed.syntax() else { return 0 };
    let mut awaits = Awaits { is_async: false, misplaced: 0 };
    awaits.visit_body(&module.body);
    awaits.misplaced
}

struct Awaits {
    is_async: bool,
    misplaced: usize,
}

impl Awaits {
    fn within(&mut self, is_async: bool, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_async, is_async);
        visit(self);
        self.is_async = before;
    }
}

impl<'a> SourceOrderVisitor<'a> for Awaits {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                // Decorators, defaults and annotations run where the function is defined.
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&function.parameters);
                self.within(function.is_async, |awaits| awaits.visit_body(&function.body));
                return;
            }
            Stmt::ClassDef(class) => {
                self.within(false, |awaits| awaits.visit_body(&class.body));
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
                self.within(false, |awaits| walk_expr(awaits, expression));
                return;
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::misplaced_awaits;

    #[test]
    fn only_coroutines_await() {
        assert_eq!(misplaced_awaits("async def f():\n    await g()\n    async with h():\n        pass\n"), 0);
        assert_eq!(
            misplaced_awaits("async def f():\n    def g():\n        await h()\n    return lambda: await_me\n"),
            1
        );
        assert_eq!(misplaced_awaits("class A:\n    await g()\nx = lambda: (await g())\n"), 2);
    }
}
