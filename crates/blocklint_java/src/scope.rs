//! Name resolution: scopes of variables, types and type parameters. Variables and types are separate name spaces. The
//! linker looks methods up, because they are inherited.

use blocklint_facts::{FormId, Sym, VarId};
use rustc_hash::FxHashMap;

#[derive(Debug, Default)]
struct Scope {
    /// Fields and static imports.
    fields: FxHashMap<Sym, VarId>,
    /// Classes and imports.
    types: FxHashMap<Sym, VarId>,
    /// Locals and parameters by name; a later one of the same name (bound by a pattern) shadows the earlier ones.
    locals: FxHashMap<Sym, VarId>,
    /// Type parameters and their forms.
    params: Vec<(Sym, FormId)>,
}

/// The open scopes, the innermost last.
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

    /// Returns the variable of a name in an expression, and true if it is a local.
    pub(crate) fn resolve_value(&self, name: Sym) -> Option<(VarId, bool)> {
        self.scopes.iter().rev().find_map(|scope| {
            if let Some(&var) = scope.locals.get(&name) {
                return Some((var, true));
            }
            scope.fields.get(&name).map(|&var| (var, false))
        })
    }

    /// Returns the class or import of a type's name.
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
