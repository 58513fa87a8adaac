//! The meaning of a name at a place: variables, types and type parameters by scope. Variables and types are different
//! name spaces; methods are looked up by the analysis, because they are inherited.

use blocklint_facts::{FormId, Sym, VarId};
use rustc_hash::FxHashMap;

#[derive(Debug, Default)]
struct Scope {
    /// Fields and static imports.
    fields: FxHashMap<Sym, VarId>,
    /// Classes and imports.
    types: FxHashMap<Sym, VarId>,
    /// Locals and parameters; of several of one name (bound by patterns) the last.
    locals: FxHashMap<Sym, VarId>,
    /// Type parameters and the form that stands for them.
    params: Vec<(Sym, FormId)>,
}

/// The scopes around a place, innermost last.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    scopes: Vec<Scope>,
}

impl Scopes {
    /// Opens a scope.
    pub(crate) fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Closes the innermost scope.
    pub(crate) fn close(&mut self) {
        self.scopes.pop();
    }

    /// Declares a field or static import.
    pub(crate) fn add_field(&mut self, name: Sym, var: VarId) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.fields.insert(name, var);
        }
    }

    /// Declares a class or import.
    pub(crate) fn add_type(&mut self, name: Sym, var: VarId) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.types.insert(name, var);
        }
    }

    /// Declares a local.
    pub(crate) fn add_local(&mut self, name: Sym, var: VarId) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.locals.insert(name, var);
        }
    }

    /// Declares a type parameter.
    pub(crate) fn add_param(&mut self, name: Sym, form: FormId) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.params.push((name, form));
        }
    }

    /// Returns the class or import of this name in the innermost scope.
    pub(crate) fn type_in_innermost(&self, name: Sym) -> Option<VarId> {
        self.scopes.last()?.types.get(&name).copied()
    }

    /// The variable a name in an expression means, and whether it is a local.
    pub(crate) fn resolve_value(&self, name: Sym) -> Option<(VarId, bool)> {
        self.scopes.iter().rev().find_map(|scope| {
            if let Some(&var) = scope.locals.get(&name) {
                return Some((var, true));
            }
            scope.fields.get(&name).map(|&var| (var, false))
        })
    }

    /// The class or import a type's name means.
    pub(crate) fn resolve_type(&self, name: Sym) -> Option<VarId> {
        self.scopes.iter().rev().find_map(|scope| scope.types.get(&name).copied())
    }

    /// Returns the form of a type parameter.
    pub(crate) fn resolve_type_param(&self, name: Sym) -> Option<FormId> {
        for scope in self.scopes.iter().rev() {
            if let Some(&(_, form)) = scope.params.iter().rev().find(|&&(param, _)| param == name) {
                return Some(form);
            }
            if scope.types.contains_key(&name) {
                return None;
            }
        }
        None
    }
}
