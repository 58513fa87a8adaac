//! Values that end with their block, where their type may block: a directory is removed, a runtime waits for its tasks.
//!
//! A local is recorded if a `let` binds it to a value that a function or literal makes, and nothing may move it away
//! before the end of its block. A borrowed local stays; a local that is passed on, returned or captured by `move` goes.

use blocklint_core::Span;
use blocklint_facts::{BodyFlags, SiteKind, VarId};
use rustc_hash::FxHashMap;
use tree_sitter::Node;

use crate::attrs::last_segment;
use crate::kinds::{K, child, fields, kind, named};
use crate::walker::{Walker, span};

/// Locals that may own their value, in the order of their `let`s.
#[derive(Debug, Default)]
pub(crate) struct Owned {
    order: Vec<VarId>,
    /// Where each was bound, until it is moved.
    bound: FxHashMap<VarId, Span>,
}

impl Owned {
    /// How many there are, to give up those that follow.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }
}

impl Walker<'_> {
    /// The local that a `let` just bound owns its value, if that is made there.
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

    /// True if an expression makes a value: a call of a function, with what is called on it, or a literal of a struct.
    fn creates_value(&self, value: Node<'_>) -> bool {
        let f = fields();
        let mut at = value;
        let mut called = false;
        loop {
            let inner = match kind(at) {
                K::Await | K::Try | K::Paren => named(at).next(),
                K::Call | K::GenericFunction => child(at, f.function),
                K::Field => child(at, f.value),
                K::StructExpr => return true,
                K::ScopedIdentifier => return called && !self.is_shared_constructor(at),
                K::Identifier => return called || at == value && self.text(at).starts_with(char::is_uppercase),
                _ => return false,
            };
            called = matches!(kind(at), K::Call | K::GenericFunction);
            let Some(inner) = inner else { return false };
            at = inner;
        }
    }

    /// True if a function makes a value that has further owners or is never dropped.
    fn is_shared_constructor(&self, path: Node<'_>) -> bool {
        let Some(owner) = child(path, fields().path) else { return false };
        let owner = match kind(owner) {
            K::GenericType | K::GenericTurbofish => child(owner, fields().type_name).unwrap_or(owner),
            _ => owner,
        };
        matches!(&*self.text(last_segment(owner)), "Arc" | "Rc" | "Weak" | "ManuallyDrop")
    }

    /// A local is read; `chain` is what stands around it, outermost first.
    pub(crate) fn record_local_use(&mut self, var: VarId, chain: &[Node<'_>]) {
        if self.owned.bound.contains_key(&var) && (!self.is_borrowed(chain) || self.is_captured_by_move(var)) {
            self.owned.bound.remove(&var);
        }
    }

    /// True if the links around a local leave it where it is.
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

    /// True if a closure or block between here and a local's body takes what it captures.
    fn is_captured_by_move(&self, var: VarId) -> bool {
        let facts = self.facts.facts();
        let owner = facts.var(var).body;
        let mut at = self.body;
        while at != owner {
            let row = facts.body(at);
            let Some(parent) = row.parent.get().filter(|_| !row.flags.has(BodyFlags::MOVE)) else { return true };
            at = parent;
        }
        false
    }

    /// Records the end of the locals from this one on, the last one first.
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

/// True if a method so named takes its receiver, as far as names show.
fn consumes(name: &str) -> bool {
    const PREFIXES: &[&str] = &["into", "close", "keep", "persist", "shutdown", "unwrap", "expect", "finish", "join"];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || matches!(name, "ok" | "ok_or" | "ok_or_else" | "err" | "map" | "map_err" | "and_then" | "leak" | "forget")
}
