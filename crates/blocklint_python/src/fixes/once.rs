//! Functions that do their work the first time only and give what they keep: every caller but one would go to a thread for
//! nothing, and two threads may do it at once.

use ruff_python_ast::{CmpOp, Expr, Stmt, StmtFunctionDef, UnaryOp};

use super::callee::last_name;

/// Why a call of such a function stays where it is.
pub(super) const ONCE: &str =
    "it makes what it gives the first time only, and two threads may do that at once: make it when the program starts";

/// Names by which a class gives the one instance of it.
const INSTANCES: &[&str] = &["get_instance", "getInstance", "instance", "get_singleton", "singleton"];
/// Decorators that keep what a function gave.
const KEEPING: &[&str] = &["cache", "lru_cache", "cached", "singleton", "once"];

/// True if a function returns by its name what is there once.
pub(super) fn gives_instance(name: &str) -> bool {
    INSTANCES.contains(&name)
}

/// True if a function keeps what it made, and gives that: `if _client is None: _client = make()`, `return _client`.
pub(super) fn works_once(function: &StmtFunctionDef) -> bool {
    let decorated = function.decorator_list.iter().any(|decorator| {
        let of = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        last_name(of).is_some_and(|name| KEEPING.contains(&name))
    });
    // Also for each argument, of which there are few where it is worth to keep their results.
    if decorated {
        return true;
    }
    let Some(Stmt::Return(last)) = function.body.last() else { return false };
    let Some(kept) = last.value.as_deref().and_then(dotted) else { return false };
    let is_foreign = kept.contains(['.', '[']) || declares_global(&function.body, &kept);
    is_foreign && function.body.iter().any(|statement| fills(statement, &kept) || gives_early(statement, &kept))
}

/// `if kept is None: kept = …`, also while a lock is held.
fn fills(statement: &Stmt, kept: &str) -> bool {
    match statement {
        Stmt::With(with) => with.body.iter().any(|inner| fills(inner, kept)),
        Stmt::If(test) => asks(&test.test, kept, true) && test.body.iter().any(|inner| sets(inner, kept)),
        _ => false,
    }
}

fn sets(statement: &Stmt, kept: &str) -> bool {
    match statement {
        Stmt::Assign(assign) => assign.targets.iter().any(|target| dotted(target).as_deref() == Some(kept)),
        Stmt::AnnAssign(assign) => dotted(&assign.target).as_deref() == Some(kept),
        Stmt::With(with) => with.body.iter().any(|inner| sets(inner, kept)),
        Stmt::If(test) => test.body.iter().any(|inner| sets(inner, kept)),
        Stmt::Try(attempt) => attempt.body.iter().any(|inner| sets(inner, kept)),
        _ => false,
    }
}

/// `if kept is not None: return kept`.
fn gives_early(statement: &Stmt, kept: &str) -> bool {
    let Stmt::If(test) = statement else { return false };
    let gives = |inner: &Stmt| match inner {
        Stmt::Return(of) => of.value.as_deref().and_then(dotted).as_deref() == Some(kept),
        _ => false,
    };
    asks(&test.test, kept, false) && test.body.iter().any(gives)
}

/// True if a test holds where something is not there yet (`unset`), or where it is.
fn asks(test: &Expr, kept: &str, unset: bool) -> bool {
    let is_kept = |expression: &Expr| dotted(expression).as_deref() == Some(kept);
    match test {
        Expr::BoolOp(of) => of.values.iter().any(|part| asks(part, kept, unset)),
        Expr::UnaryOp(of) if of.op == UnaryOp::Not => asks(&of.operand, kept, !unset),
        // `if name not in kept:`
        Expr::Compare(of) if of.ops.iter().any(|op| matches!(op, CmpOp::In | CmpOp::NotIn)) => {
            let wanted = if unset { CmpOp::NotIn } else { CmpOp::In };
            let all = of.comparators.first().and_then(dotted);
            of.ops.first() == Some(&wanted) && all.is_some_and(|all| kept.strip_suffix("[]") == Some(&*all))
        }
        Expr::Compare(of) => {
            let wanted = if unset { CmpOp::Is } else { CmpOp::IsNot };
            is_kept(&of.left)
                && of.ops.first() == Some(&wanted)
                && of.comparators.iter().all(Expr::is_none_literal_expr)
        }
        other => !unset && is_kept(other),
    }
}

fn declares_global(body: &[Stmt], name: &str) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::Global(of) => of.names.iter().any(|declared| declared.as_str() == name),
        Stmt::Nonlocal(of) => of.names.iter().any(|declared| declared.as_str() == name),
        _ => false,
    })
}

/// `a.b` of names, and `a.b[]` of what is kept under a key.
pub(super) fn dotted(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(of) => Some(format!("{}.{}", dotted(&of.value)?, of.attr)),
        Expr::Subscript(of) => Some(format!("{}[]", dotted(&of.value)?)),
        _ => None,
    }
}
