//! Types, paths, bounds and type parameters as forms.
//!
//! References, pointers, lifetimes and marker traits (`Send`) are left out. `A<B>` is `Subscript(A, B)`; several
//! arguments are a tuple display. `impl T`, `dyn T` and a bounded type parameter of a function are `Bound(T)`; several
//! bounds are `Alt(And, …)`. `fn(A) -> B` and `Fn(A) -> B` are `Subscript(name, (parameters, result))`. `Item = T`
//! among arguments is `Pairs["Item", T]`.

use blocklint_facts::{AltKind, DisplayKind, Form, FormId, Sym};
use tree_sitter::Node;

use crate::kinds::{K, child, fields, kind, named};
use crate::walker::{Walker, Walking};

impl Walker<'_> {
    /// Returns the form of a type.
    pub(crate) fn type_form(&mut self, node: Node<'_>) -> FormId {
        self.one_level_deeper(node, |walker| walker.type_form_inner(node)).unwrap_or_else(|| self.other())
    }

    /// Returns the form of the type in a field of a node; [`FormId::NONE`] if the node has no such field.
    pub(crate) fn type_form_in_field(&mut self, node: Node<'_>, field: u16) -> FormId {
        match child(node, field) {
            Some(node) => self.type_form(node),
            None => FormId::NONE,
        }
    }

    fn type_form_inner(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        match kind(node) {
            K::TypeIdentifier | K::Identifier | K::PrimitiveType | K::SelfWord | K::Super | K::Crate => {
                let name = self.name_symbol(node);
                self.resolve_type_name(name)
            }
            K::ScopedTypeIdentifier | K::ScopedIdentifier => self.path_form(node),
            K::GenericType | K::GenericTurbofish => {
                let base = self.type_form_in_field(node, f.type_name);
                match child(node, f.type_arguments) {
                    Some(arguments) => self.apply_type_arguments(base, arguments),
                    None => base,
                }
            }
            K::ReferenceType | K::PointerType => self.type_form_in_field(node, f.type_name),
            K::ArrayType => {
                let element = self.type_form_in_field(node, f.element);
                let list = self.facts.list(&[element]);
                self.form(Form::Display(DisplayKind::List, list))
            }
            K::TupleType => {
                let parts: Vec<FormId> = named(node).map(|part| self.type_form(part)).collect();
                let list = self.facts.list(&parts);
                self.form(Form::Display(DisplayKind::Tuple, list))
            }
            K::UnitType => self.form(Form::None),
            K::AbstractType | K::DynamicType => {
                let Some(bound) = child(node, f.trait_name) else { return self.other() };
                let mut bounds = Vec::new();
                self.collect_bounds(bound, &mut bounds);
                self.bound_form(&bounds)
            }
            // The grammar parses `dyn A + B` as a bounded type, whose left side is `dyn A`.
            K::BoundedType => {
                let mut bounds = Vec::new();
                self.collect_bounds(node, &mut bounds);
                self.bound_form(&bounds)
            }
            K::HigherRanked => self.type_form_in_field(node, f.type_name),
            K::FunctionType => self.function_type_form(node),
            K::BracketedType => match named(node).next() {
                Some(inner) => self.type_form(inner),
                None => self.other(),
            },
            K::QualifiedType => {
                let value = self.type_form_in_field(node, f.type_name);
                let as_trait = self.type_form_in_field(node, f.alias);
                self.form(Form::Cast(value, as_trait))
            }
            _ => self.other(),
        }
    }

    /// Returns the form of the first segment of a path, or of a type's name.
    pub(crate) fn resolve_type_name(&mut self, name: Sym) -> FormId {
        if let Some(form) = self.scopes.resolve_type_param(name) {
            return form;
        }
        match self.scopes.resolve_item(name) {
            Some(var) => self.var_form(var),
            None => self.form(Form::Name(name)),
        }
    }

    /// Returns the form of a path of several segments, in a type or an expression.
    pub(crate) fn path_form(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        // Collects the segments from the last to the first in a loop, because a path can be long.
        let mut names = Vec::new();
        let mut prefix = node;
        let mut base = loop {
            match kind(prefix) {
                K::ScopedIdentifier | K::ScopedTypeIdentifier => {
                    let Some(last) = child(prefix, f.name) else { break self.other() };
                    names.push(self.name_symbol(last));
                    let Some(path) = child(prefix, f.path) else {
                        // `::a::b` begins with the name of a crate.
                        let root = self.facts.intern("");
                        break self.form(Form::Name(root));
                    };
                    prefix = path;
                }
                _ => break self.type_form(prefix),
            }
        };
        while let Some(name) = names.pop() {
            base = self.form(Form::Path(base, name));
        }
        base
    }

    /// Returns `base<arguments>`.
    pub(crate) fn apply_type_arguments(&mut self, base: FormId, arguments: Node<'_>) -> FormId {
        let mut parts = Vec::new();
        for part in named(arguments) {
            match kind(part) {
                K::Lifetime | K::TraitBounds => {}
                K::TypeBinding => {
                    let Some(name) = child(part, fields().name) else { continue };
                    let name = self.name_symbol(name);
                    let key = self.form(Form::Str(name));
                    let value = self.type_form_in_field(part, fields().type_name);
                    let list = self.facts.list(&[key, value]);
                    parts.push(self.form(Form::Pairs(list)));
                }
                _ => parts.push(self.type_form(part)),
            }
        }
        let index = match parts.as_slice() {
            [] => return base,
            // A tuple that is the only argument must not look like several arguments.
            [one] if !matches!(self.facts.facts().form(*one), Form::Display(DisplayKind::Tuple, _)) => *one,
            many => {
                let list = self.facts.list(many);
                self.form(Form::Display(DisplayKind::Tuple, list))
            }
        };
        self.form(Form::Subscript(base, index))
    }

    /// Returns the form of `Fn(A, B) -> C` or `fn(A) -> C`.
    fn function_type_form(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let base = match child(node, f.trait_name) {
            Some(name) => self.type_form(name),
            None => {
                let name = self.facts.intern("fn");
                self.form(Form::Name(name))
            }
        };
        let mut parts = Vec::new();
        for part in child(node, f.parameters).into_iter().flat_map(named) {
            match kind(part) {
                K::Parameter => parts.push(self.type_form_in_field(part, f.type_name)),
                K::AttributeItem | K::VariadicParameter | K::SelfParameter => {}
                _ => parts.push(self.type_form(part)),
            }
        }
        let list = self.facts.list(&parts);
        let parameters = self.form(Form::Display(DisplayKind::Tuple, list));
        let result = match child(node, f.return_type) {
            Some(result) => self.type_form(result),
            None => self.form(Form::None),
        };
        let list = self.facts.list(&[parameters, result]);
        let signature = self.form(Form::Display(DisplayKind::Tuple, list));
        self.form(Form::Subscript(base, signature))
    }

    /// Adds the bounds of `A + B`, `impl A` or `dyn A`, without lifetimes and marker traits.
    fn collect_bounds(&mut self, node: Node<'_>, bounds: &mut Vec<FormId>) {
        match kind(node) {
            K::Lifetime | K::RemovedBound | K::Unknown => {}
            K::BoundedType => {
                // `A + B + C` nests to the left.
                let mut parts = vec![node];
                while let Some(part) = parts.pop() {
                    if kind(part) == K::BoundedType {
                        let inner: Vec<Node<'_>> = named(part).collect();
                        parts.extend(inner.into_iter().rev());
                    } else {
                        self.collect_bounds(part, bounds);
                    }
                }
            }
            K::AbstractType | K::DynamicType => {
                if let Some(bound) = child(node, fields().trait_name) {
                    self.collect_bounds(bound, bounds);
                }
            }
            _ if is_marker(&self.text(node)) => {}
            _ => {
                let form = self.type_form(node);
                bounds.push(form);
            }
        }
    }

    /// Returns the bounds of `: A + B`.
    pub(crate) fn collect_trait_bounds(&mut self, node: Node<'_>) -> Vec<FormId> {
        let mut bounds = Vec::new();
        for part in named(node) {
            self.collect_bounds(part, &mut bounds);
        }
        bounds
    }

    /// Returns the form of a type with these bounds; `Other` if there are none.
    pub(crate) fn bound_form(&mut self, bounds: &[FormId]) -> FormId {
        match bounds {
            [] => self.other(),
            _ => {
                let all = self.join_bounds(bounds);
                self.form(Form::Bound(all))
            }
        }
    }

    /// Returns the conjunction of bounds.
    pub(crate) fn join_bounds(&mut self, bounds: &[FormId]) -> FormId {
        match bounds {
            [] => FormId::NONE,
            [one] => *one,
            many => {
                let list = self.facts.list(many);
                self.form(Form::Alt(AltKind::And, list))
            }
        }
    }

    /// Declares the type parameters of an item. Returns them in order, with their bounds, those of the `where` clause
    /// included.
    pub(crate) fn declare_type_params(&mut self, item: Node<'_>) -> Vec<(Sym, Vec<FormId>)> {
        let f = fields();
        let mut params: Vec<(Sym, Vec<FormId>)> = Vec::new();
        for part in child(item, f.type_parameters).into_iter().flat_map(named) {
            if kind(part) != K::TypeParameter {
                continue;
            }
            let Some(name) = child(part, f.name) else { continue };
            let name = self.name_symbol(name);
            // Bounds can refer to parameters, also to their own.
            let own = self.form(Form::Name(name));
            self.scopes.add_type(name, own);
            params.push((name, Vec::new()));
        }
        for part in child(item, f.type_parameters).into_iter().flat_map(named) {
            let (K::TypeParameter, Some(name)) = (kind(part), child(part, f.name)) else { continue };
            let name = self.name_symbol(name);
            // A type without arguments has the default, which is more precise than the bounds.
            let default = child(part, f.default_type).filter(|default| self.text(*default) != "Self");
            if let Some(default) = default {
                let default = self.type_form(default);
                add_bounds(&mut params, name, vec![default]);
            } else if let Some(bounds) = child(part, f.bounds) {
                let bounds = self.collect_trait_bounds(bounds);
                add_bounds(&mut params, name, bounds);
            }
        }
        for clause in named(item).filter(|part| kind(*part) == K::WhereClause) {
            for predicate in named(clause).filter(|part| kind(*part) == K::WherePredicate) {
                let (Some(left), Some(bounds)) = (child(predicate, f.left), child(predicate, f.bounds)) else {
                    continue;
                };
                if kind(left) == K::TypeIdentifier {
                    let name = self.name_symbol(left);
                    let bounds = self.collect_trait_bounds(bounds);
                    add_bounds(&mut params, name, bounds);
                }
            }
        }
        params
    }
}

fn add_bounds(params: &mut [(Sym, Vec<FormId>)], name: Sym, bounds: Vec<FormId>) {
    if let Some((_, known)) = params.iter_mut().find(|(param, _)| *param == name) {
        known.extend(bounds);
    }
}

/// True for traits of the language without methods that matter.
fn is_marker(text: &str) -> bool {
    matches!(text, "Send" | "Sync" | "Unpin" | "Sized" | "Copy" | "UnwindSafe" | "RefUnwindSafe")
}
