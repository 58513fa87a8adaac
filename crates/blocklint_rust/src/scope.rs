//! The meaning of a name at a place.
//!
//! Items are seen in their whole block or module, also before they are defined; a `let` is seen from there on, by
//! closures inside too, but not by nested functions; nothing is seen from outside an inline module.

use blocklint_facts::{FormId, Sym, VarId};
use rustc_hash::FxHashMap;

/// The kind of a scope: the names from around that are seen in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// A block, an arm, a closure: everything around is seen.
    Open,
    /// A function or type: items around are seen, locals are not.
    Item,
    /// A module: nothing around is seen.
    Module,
}

#[derive(Debug)]
struct Scope {
    kind: ScopeKind,
    items: FxHashMap<Sym, VarId>,
    /// Of several of one name the last: it shadows the others to the end of the scope.
    locals: FxHashMap<Sym, VarId>,
    /// Type parameters and the form that stands for them.
    types: Vec<(Sym, FormId)>,
}

/// The scopes around a place, innermost last.
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

    /// The variable a value's name means, and whether it is a local.
    pub(crate) fn resolve_value(&self, name: Sym) -> Option<(VarId, bool)> {
        let mut locals = true;
        for scope in self.scopes.iter().rev() {
            if locals && let Some(&var) = scope.locals.get(&name) {
                return Some((var, true));
            }
            if let Some(&var) = scope.items.get(&name) {
                return Some((var, false));
            }
            match scope.kind {
                ScopeKind::Open => {}
                ScopeKind::Item => locals = false,
                ScopeKind::Module => return None,
            }
        }
        None
    }

    /// Returns the local of this name declared in the innermost scope.
    pub(crate) fn local_in_innermost(&self, name: Sym) -> Option<VarId> {
        self.scopes.last()?.locals.get(&name).copied()
    }

    /// The variable the first segment of a path or a type's name means; locals do not count.
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
            // An item inside the function may bear the parameter's name.
            if scope.kind == ScopeKind::Module || scope.items.contains_key(&name) {
                return None;
            }
        }
        None
    }
}
