//! Name resolution: scopes of items, locals and type parameters.
//!
//! An item is visible in its whole block or module, also before its definition. A local is visible after its `let`, in
//! closures too, but not in nested functions. An inline module sees no name of the scopes around it.

use blocklint_facts::{FormId, Sym, VarId};
use rustc_hash::FxHashMap;

/// The kind of a scope, which says which names of the scopes around are visible in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// A block, an arm, a closure: all names around are visible.
    Open,
    /// A function or type: items around are visible, locals are not.
    Item,
    /// A module: no names around are visible.
    Module,
}

#[derive(Debug)]
struct Scope {
    kind: ScopeKind,
    items: FxHashMap<Sym, VarId>,
    /// Locals by name; a later one of the same name shadows the earlier ones.
    locals: FxHashMap<Sym, VarId>,
    /// Type parameters and their forms.
    types: Vec<(Sym, FormId)>,
}

/// The open scopes, the innermost last.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    scopes: Vec<Scope>,
}

impl Scopes {
    /// Opens a scope.
    pub(crate) fn open(&mut self, kind: ScopeKind) {
        self.scopes.push(Scope { kind, items: FxHashMap::default(), locals: FxHashMap::default(), types: Vec::new() });
    }

    /// Closes the innermost scope.
    pub(crate) fn close(&mut self) {
        self.scopes.pop();
    }

    /// Returns the variable of an item in the innermost scope.
    pub(crate) fn item_in_innermost(&self, name: Sym) -> Option<VarId> {
        self.scopes.last()?.items.get(&name).copied()
    }

    /// Declares an item.
    pub(crate) fn add_item(&mut self, name: Sym, var: VarId) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.insert(name, var);
        }
    }

    /// Declares a local; it shadows earlier ones of its name.
    pub(crate) fn add_local(&mut self, name: Sym, var: VarId) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.locals.insert(name, var);
        }
    }

    /// Declares a type parameter.
    pub(crate) fn add_type(&mut self, name: Sym, form: FormId) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.types.push((name, form));
        }
    }

    /// Returns the variable of a name in an expression, and true if it is a local.
    pub(crate) fn resolve_value(&self, name: Sym) -> Option<(VarId, bool)> {
        let mut sees_locals = true;
        for scope in self.scopes.iter().rev() {
            if sees_locals && let Some(&var) = scope.locals.get(&name) {
                return Some((var, true));
            }
            if let Some(&var) = scope.items.get(&name) {
                return Some((var, false));
            }
            match scope.kind {
                ScopeKind::Open => {}
                ScopeKind::Item => sees_locals = false,
                ScopeKind::Module => return None,
            }
        }
        None
    }

    /// Returns the local of this name in the innermost scope.
    pub(crate) fn local_in_innermost(&self, name: Sym) -> Option<VarId> {
        self.scopes.last()?.locals.get(&name).copied()
    }

    /// Returns the item that a type's name or the first segment of a path refers to; locals are ignored.
    pub(crate) fn resolve_item(&self, name: Sym) -> Option<VarId> {
        for scope in self.scopes.iter().rev() {
            if let Some(&var) = scope.items.get(&name) {
                return Some(var);
            }
            if scope.kind == ScopeKind::Module {
                return None;
            }
        }
        None
    }

    /// Returns the form of a type parameter.
    pub(crate) fn resolve_type_param(&self, name: Sym) -> Option<FormId> {
        for scope in self.scopes.iter().rev() {
            if let Some(&(_, form)) = scope.types.iter().rev().find(|&&(param, _)| param == name) {
                return Some(form);
            }
            // An item inside the function can have the name of the type parameter.
            if scope.kind == ScopeKind::Module || scope.items.contains_key(&name) {
                return None;
            }
        }
        None
    }
}
