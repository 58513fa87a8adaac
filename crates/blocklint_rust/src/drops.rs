//! Drops of locals at the end of their block, because a `Drop` can block: a temporary directory is removed, a runtime
//! waits for its tasks.
//!
//! A local is recorded if a `let` binds it to the value of a call or a struct expression, and it is not moved before
//! the end of its block. A borrow does not move it; passing, returning or capturing it by `move` does.

use blocklint_core::Span;
use blocklint_facts::{BodyFlags, SiteKind, VarId};
use rustc_hash::FxHashMap;
use tree_sitter::Node;

use crate::attrs::last_segment;
use crate::kinds::{K, child, fields, kind, named};
use crate::walker::{Walker, span};

/// Locals that own their value, in the order of their `let`s.
#[derive(Debug, Default)]
pub(crate) struct Owned {
    order: Vec<VarId>,
    /// The span of each local's name, until the local is moved.
    bound: FxHashMap<VarId, Span>,
}

impl Owned {
    /// Returns the number of locals; [`Walker::end_owned_locals`] ends those that are added later.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }
}

impl Walker<'_> {
    /// Records the local that a `let` has just bound, if its value is created there.
    pub(crate) fn record_owned_local(&mut self, name: Node<'_>, value: Node<'_>) {
        if !self.creates_value(value) {
            return;
        }
        let sym = self.name_symbol(name);
        if let Some(var) = self.scopes.local_in_innermost(sym) {
            self.owned.order.push(var);
            self.owned.bound.insert(var, span(name));
        }
    }

    /// True if an expression creates a value: a call of a function, also with further method calls, or a struct
    /// expression.
    fn creates_value(&self, value: Node<'_>) -> bool {
        let f = fields();
        let mut expression = value;
        let mut is_callee = false;
        loop {
            let inner = match kind(expression) {
                K::Await | K::Try | K::Paren => named(expression).next(),
                K::Call | K::GenericFunction => child(expression, f.function),
                K::Field => child(expression, f.value),
                K::StructExpr => return true,
                K::ScopedIdentifier => return is_callee && !self.is_shared_constructor(expression),
                K::Identifier => {
                    return is_callee || expression == value && self.text(expression).starts_with(char::is_uppercase);
                }
                _ => return false,
            };
            is_callee = matches!(kind(expression), K::Call | K::GenericFunction);
            let Some(inner) = inner else { return false };
            expression = inner;
        }
    }

    /// True for constructors of values that are shared or never dropped: `Arc::new`, `ManuallyDrop::new`.
    fn is_shared_constructor(&self, path: Node<'_>) -> bool {
        let Some(owner) = child(path, fields().path) else { return false };
        let owner = match kind(owner) {
            K::GenericType | K::GenericTurbofish => child(owner, fields().type_name).unwrap_or(owner),
            _ => owner,
        };
        matches!(&*self.text(last_segment(owner)), "Arc" | "Rc" | "Weak" | "ManuallyDrop")
    }

    /// Records a use of a local, which may move it. `chain` are the links around it, the outermost first.
    pub(crate) fn record_local_use(&mut self, var: VarId, chain: &[Node<'_>]) {
        if self.owned.bound.contains_key(&var) && (!self.is_borrowed(chain) || self.is_captured_by_move(var)) {
            self.owned.bound.remove(&var);
        }
    }

    /// True if the chain around a local only borrows it.
    fn is_borrowed(&self, chain: &[Node<'_>]) -> bool {
        let Some((&first, outer)) = chain.split_last() else { return false };
        match kind(first) {
            K::Reference | K::Index | K::Unary => true,
            K::Field => {
                let is_called = outer.last().is_some_and(|&call| matches!(kind(call), K::Call | K::GenericFunction));
                let Some(name) = child(first, fields().field).filter(|_| is_called) else { return true };
                !consumes(&self.text(name))
            }
            _ => false,
        }
    }

    /// True if a `move` closure or block between the current body and that of the local captures it.
    fn is_captured_by_move(&self, var: VarId) -> bool {
        let facts = self.facts.facts();
        let owner = facts.var(var).body;
        let mut body = self.body;
        while body != owner {
            let row = facts.body(body);
            let Some(parent) = row.parent.get().filter(|_| !row.flags.has(BodyFlags::MOVE)) else { return true };
            body = parent;
        }
        false
    }

    /// Adds the drops of the locals from this index on, the last one first.
    pub(crate) fn end_owned_locals(&mut self, first: usize) {
        while self.owned.order.len() > first {
            let Some(var) = self.owned.order.pop() else { break };
            if let Some(bound) = self.owned.bound.remove(&var) {
                let operand = self.var_form(var);
                self.add_implicit_call(SiteKind::Drop, "drop", operand, bound);
            }
        }
    }
}

/// True if a method of this name consumes its receiver by the conventions of Rust: `into_inner`, `unwrap`.
fn consumes(name: &str) -> bool {
    const PREFIXES: &[&str] = &["into", "close", "keep", "persist", "shutdown", "unwrap", "expect", "finish", "join"];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || matches!(name, "ok" | "ok_or" | "ok_or_else" | "err" | "map" | "map_err" | "and_then" | "leak" | "forget")
}
