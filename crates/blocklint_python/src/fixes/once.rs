//! Lazy initialisation: functions that create an object at their first call, keep it and return it. A call of such a
//! function must not move to a thread, because two threads could create the object at once, and all later calls are
//! short.

use ruff_python_ast::{CmpOp, Expr, Stmt, StmtFunctionDef, UnaryOp};

use super::callee::last_name;

/// The reason against moving a call of such a function.
pub(super) const ONCE: &str =
    "it creates its result at the first call, and two threads could do so at once: create it when the program starts";

/// Names of methods that return the only instance of a class.
const INSTANCE_METHODS: &[&str] = &["get_instance", "getInstance", "instance", "get_singleton", "singleton"];
/// Decorators that keep the results of a function.
const CACHING_DECORATORS: &[&str] = &["cache", "lru_cache", "cached", "singleton", "once"];

/// True if a method of this name returns the only instance of a class.
pub(super) fn returns_single_instance(name: &str) -> bool {
    INSTANCE_METHODS.contains(&name)
}

/// True for lazy initialisation: `if _client is None: _client = make()`, `return _client`, or a caching decorator.
pub(super) fn initialises_once(function: &StmtFunctionDef) -> bool {
    let is_cached = function.decorator_list.iter().any(|decorator| {
        let path = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        last_name(path).is_some_and(|name| CACHING_DECORATORS.contains(&name))
    });
    // `lru_cache` keeps a result for each argument, of which there are few.
    if is_cached {
        return true;
    }
    let Some(Stmt::Return(last)) = function.body.last() else { return false };
    let Some(kept) = last.value.as_deref().and_then(dotted_path) else { return false };
    let is_foreign = kept.contains(['.', '[']) || declares_global(&function.body, &kept);
    is_foreign
        && function
            .body
            .iter()
            .any(|statement| is_guarded_assignment(statement, &kept) || is_guarded_return(statement, &kept))
}

/// True for `if kept is None: kept = …`, also inside `with lock:`.
fn is_guarded_assignment(statement: &Stmt, kept: &str) -> bool {
    match statement {
        Stmt::With(with) => with.body.iter().any(|inner| is_guarded_assignment(inner, kept)),
        Stmt::If(test) => tests_presence(&test.test, kept, true) && test.body.iter().any(|inner| assigns(inner, kept)),
        _ => false,
    }
}

/// True if a statement assigns to `kept`, also in a nested block.
fn assigns(statement: &Stmt, kept: &str) -> bool {
    match statement {
        Stmt::Assign(assign) => assign.targets.iter().any(|target| dotted_path(target).as_deref() == Some(kept)),
        Stmt::AnnAssign(assign) => dotted_path(&assign.target).as_deref() == Some(kept),
        Stmt::With(with) => with.body.iter().any(|inner| assigns(inner, kept)),
        Stmt::If(test) => test.body.iter().any(|inner| assigns(inner, kept)),
        Stmt::Try(attempt) => attempt.body.iter().any(|inner| assigns(inner, kept)),
        _ => false,
    }
}

/// True for `if kept is not None: return kept`.
fn is_guarded_return(statement: &Stmt, kept: &str) -> bool {
    let Stmt::If(test) = statement else { return false };
    let returns_kept = |inner: &Stmt| match inner {
        Stmt::Return(return_stmt) => return_stmt.value.as_deref().and_then(dotted_path).as_deref() == Some(kept),
        _ => false,
    };
    tests_presence(&test.test, kept, false) && test.body.iter().any(returns_kept)
}

/// True if a test is true while `kept` is unset (`is_unset`), or while it is set.
fn tests_presence(test: &Expr, kept: &str, is_unset: bool) -> bool {
    let is_kept = |expression: &Expr| dotted_path(expression).as_deref() == Some(kept);
    match test {
        Expr::BoolOp(bool_op) => bool_op.values.iter().any(|part| tests_presence(part, kept, is_unset)),
        Expr::UnaryOp(unary_op) if unary_op.op == UnaryOp::Not => tests_presence(&unary_op.operand, kept, !is_unset),
        // `if name not in kept:`
        Expr::Compare(compare) if compare.ops.iter().any(|op| matches!(op, CmpOp::In | CmpOp::NotIn)) => {
            let operator = if is_unset { CmpOp::NotIn } else { CmpOp::In };
            let container = compare.comparators.first().and_then(dotted_path);
            compare.ops.first() == Some(&operator)
                && container.is_some_and(|container| kept.strip_suffix("[]") == Some(&*container))
        }
        Expr::Compare(compare) => {
            let operator = if is_unset { CmpOp::Is } else { CmpOp::IsNot };
            is_kept(&compare.left)
                && compare.ops.first() == Some(&operator)
                && compare.comparators.iter().all(Expr::is_none_literal_expr)
        }
        other => !is_unset && is_kept(other),
    }
}

fn declares_global(body: &[Stmt], name: &str) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::Global(global) => global.names.iter().any(|declared| declared.as_str() == name),
        Stmt::Nonlocal(nonlocal) => nonlocal.names.iter().any(|declared| declared.as_str() == name),
        _ => false,
    })
}

/// Returns `a.b` for attributes of names, and `a.b[]` for an element of `a.b`.
pub(super) fn dotted_path(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted_path(&attribute.value)?, attribute.attr)),
        Expr::Subscript(subscript) => Some(format!("{}[]", dotted_path(&subscript.value)?)),
        _ => None,
    }
}
