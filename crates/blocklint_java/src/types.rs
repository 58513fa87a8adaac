//! Types and type parameters as forms.
//!
//! `A<B>` is `Subscript(A, B)`; several arguments are a tuple display. `A[]` is a list display of `A`, and `A[][]` a
//! list display of that. `? extends A` and a bounded type parameter of a method are `Bound(A)`; several bounds are
//! `Alt(And, …)`. A primitive type is its name.

use blocklint_facts::{AltKind, DisplayKind, Form, FormId, Sym};
use tree_sitter::Node;

use crate::kinds::{K, all, child, fields, kind, named};
use crate::walker::{Walker, Walking};

/// An array of more dimensions counts as one of this many.
const MOST_DIMENSIONS: usize = 8;

impl Walker<'_> {
    /// Returns the form of a type.
    pub(crate) fn type_form(&mut self, node: Node<'_>) -> FormId {
        self.one_level_deeper(node, |walker| walker.type_form_inner(node)).unwrap_or_else(|| self.other())
    }

    /// Returns the declared type of a variable or result; [`FormId::NONE`] for `var` and `void`.
    pub(crate) fn declared_type(&mut self, node: Option<Node<'_>>, dimensions: Option<Node<'_>>) -> FormId {
        let Some(node) = node else { return FormId::NONE };
        if kind(node) == K::VoidType || (kind(node) == K::TypeIdentifier && self.bytes(node) == b"var") {
            return FormId::NONE;
        }
        let form = self.type_form(node);
        match dimensions {
            Some(dimensions) => self.array_type_of_dimensions(form, dimensions),
            None => form,
        }
    }

    /// Returns the array type of an element type with the written dimensions: `[][]`.
    fn array_type_of_dimensions(&mut self, element: FormId, dimensions: Node<'_>) -> FormId {
        let count = self.bytes(dimensions).iter().filter(|&&byte| byte == b'[').count();
        (0..count.clamp(1, MOST_DIMENSIONS)).fold(element, |form, _| self.array_type(form))
    }

    /// Returns the array type of an element type.
    pub(crate) fn array_type(&mut self, element: FormId) -> FormId {
        let list = self.facts.list(&[element]);
        self.form(Form::Display(DisplayKind::List, list))
    }

    fn type_form_inner(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        match kind(node) {
            K::TypeIdentifier | K::Identifier => {
                let name = self.name_symbol(node);
                self.resolve_type_name(name)
            }
            K::IntegralType | K::FloatType | K::BooleanType => {
                let name = self.name_symbol(node);
                self.form(Form::Name(name))
            }
            K::VoidType => self.form(Form::None),
            K::ScopedType | K::ScopedIdentifier => {
                // `a.b.Outer.Inner` nests to the left.
                let mut names = Vec::new();
                let mut prefix = node;
                while matches!(kind(prefix), K::ScopedType | K::ScopedIdentifier) {
                    let parts: Vec<Node<'_>> = named(prefix).filter(|part| !is_annotation(*part)).collect();
                    let (Some(&first), Some(&last)) = (parts.first(), parts.last()) else { break };
                    if parts.len() < 2 {
                        break;
                    }
                    names.push(last);
                    prefix = first;
                }
                let mut form = self.type_form(prefix);
                for name in names.into_iter().rev() {
                    let name = self.name_symbol(name);
                    form = self.form(Form::Attr(form, name));
                }
                form
            }
            K::GenericType => {
                let mut parts = named(node);
                let Some(base) = parts.next() else { return self.other() };
                let base = self.type_form(base);
                let arguments = parts.find(|part| kind(*part) == K::TypeArguments);
                let mut forms = Vec::new();
                for part in arguments.into_iter().flat_map(named) {
                    forms.push(self.type_form(part));
                }
                let index = match forms.as_slice() {
                    [] => return base,
                    [one] => *one,
                    many => {
                        let list = self.facts.list(many);
                        self.form(Form::Display(DisplayKind::Tuple, list))
                    }
                };
                self.form(Form::Subscript(base, index))
            }
            K::ArrayType => {
                let element = match child(node, f.element) {
                    Some(element) => self.type_form(element),
                    None => self.other(),
                };
                match child(node, f.dimensions) {
                    Some(dimensions) => self.array_type_of_dimensions(element, dimensions),
                    None => self.array_type(element),
                }
            }
            K::AnnotatedType => match named(node).find(|part| !is_annotation(*part)) {
                Some(inner) => self.type_form(inner),
                None => self.other(),
            },
            K::Wildcard => {
                let is_upper_bound = all(node).any(|part| kind(part) == K::ExtendsWord);
                match named(node).find(|part| !is_annotation(*part) && kind(*part) != K::Super) {
                    Some(bound) => {
                        let bound = self.type_form(bound);
                        if is_upper_bound { self.form(Form::Bound(bound)) } else { bound }
                    }
                    None => self.other(),
                }
            }
            K::CatchType => {
                let parts: Vec<FormId> = named(node).map(|part| self.type_form(part)).collect();
                match parts.as_slice() {
                    [one] => *one,
                    many => {
                        let list = self.facts.list(many);
                        self.form(Form::Join(list))
                    }
                }
            }
            _ => self.other(),
        }
    }

    /// Returns the form of a simple type name, or of the first segment of a qualified name.
    pub(crate) fn resolve_type_name(&mut self, name: Sym) -> FormId {
        if let Some(form) = self.scopes.resolve_type_param(name) {
            return form;
        }
        match self.scopes.resolve_type(name) {
            Some(var) => self.var_form(var),
            None => self.form(Form::Name(name)),
        }
    }

    /// Declares the type parameters of a class or method. Returns them with their bounds.
    pub(crate) fn declare_type_params(&mut self, list: Option<Node<'_>>) -> Vec<(Sym, FormId)> {
        let mut params = Vec::new();
        let Some(list) = list else { return params };
        let name_of = |part: Node<'_>| named(part).find(|part| kind(*part) == K::TypeIdentifier).map(|n| n.id());
        for part in named(list).filter(|part| kind(*part) == K::TypeParameter) {
            let Some(name) = named(part).find(|part| kind(*part) == K::TypeIdentifier) else { continue };
            let name = self.name_symbol(name);
            let type_form = self.form(Form::Name(name));
            self.scopes.add_param(name, type_form);
            params.push((name, FormId::NONE));
        }
        let nodes = named(list).filter(|part| kind(*part) == K::TypeParameter && name_of(*part).is_some());
        for (index, part) in nodes.enumerate().collect::<Vec<_>>() {
            let Some(bound) = named(part).find(|part| kind(*part) == K::TypeBound) else { continue };
            let bounds: Vec<FormId> = named(bound).map(|part| self.type_form(part)).collect();
            if let Some(param) = params.get_mut(index) {
                param.1 = self.alternatives(AltKind::And, &bounds);
            }
        }
        params
    }
}

/// True if a node is an annotation.
pub(crate) fn is_annotation(node: Node<'_>) -> bool {
    matches!(kind(node), K::Annotation | K::MarkerAnnotation)
}
