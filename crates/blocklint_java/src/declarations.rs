//! The parts of declarations: type, name, dimensions, value, parameters. They are found in one pass over the children,
//! because their order is fixed. In a declaration with a syntax error they are found by the grammar's fields.

use blocklint_treesitter::Children;
use tree_sitter::Node;

use crate::kinds::{K, child, fields, kind, named};

/// The parts of a parameter or of a variable declarator.
#[derive(Default)]
pub(crate) struct DeclarationParts<'t> {
    pub(crate) ty: Option<Node<'t>>,
    pub(crate) name: Option<Node<'t>>,
    pub(crate) dimensions: Option<Node<'t>>,
    pub(crate) value: Option<Node<'t>>,
}

/// Returns the parts of a parameter or of a declarator: `@A T x[]`, `x[] = v`.
pub(crate) fn declaration_parts(node: Node<'_>) -> DeclarationParts<'_> {
    if node.has_error() {
        let f = fields();
        let (ty, value) = (child(node, f.type_name), child(node, f.value));
        return DeclarationParts { ty, name: child(node, f.name), dimensions: child(node, f.dimensions), value };
    }
    let of_variable = kind(node) == K::VariableDeclarator;
    let mut parts = DeclarationParts::default();
    for part in named(node) {
        match kind(part) {
            K::Modifiers => {}
            _ if !of_variable && parts.ty.is_none() => parts.ty = Some(part),
            _ if parts.name.is_none() => parts.name = Some(part),
            K::Dimensions => parts.dimensions = Some(part),
            _ => parts.value = Some(part),
        }
    }
    parts
}

/// A declaration of fields or local variables: an iterator over its declarators. Modifiers and type are set after the
/// first `next`.
pub(crate) struct Declaration<'t> {
    parts: Children<'t>,
    has_error: bool,
    pub(crate) modifiers: Option<Node<'t>>,
    pub(crate) ty: Option<Node<'t>>,
}

impl<'t> Declaration<'t> {
    pub(crate) fn new(node: Node<'t>) -> Self {
        let has_error = node.has_error();
        let ty = if has_error { child(node, fields().type_name) } else { None };
        Declaration { parts: named(node), has_error, modifiers: None, ty }
    }
}

impl<'t> Iterator for Declaration<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        for part in self.parts.by_ref() {
            match kind(part) {
                K::VariableDeclarator => return Some(part),
                K::Modifiers => self.modifiers = Some(part),
                _ if self.ty.is_none() && !self.has_error => self.ty = Some(part),
                _ => {}
            }
        }
        None
    }
}

/// The parts of a method declaration.
#[derive(Default)]
pub(crate) struct Signature<'t> {
    pub(crate) modifiers: Option<Node<'t>>,
    pub(crate) type_parameters: Option<Node<'t>>,
    pub(crate) ty: Option<Node<'t>>,
    pub(crate) name: Option<Node<'t>>,
    pub(crate) parameters: Option<Node<'t>>,
    pub(crate) dimensions: Option<Node<'t>>,
    pub(crate) body: Option<Node<'t>>,
}

impl<'t> Signature<'t> {
    pub(crate) fn new(node: Node<'t>) -> Self {
        let mut parts = Signature::default();
        if kind(node) != K::MethodDeclaration || node.has_error() {
            let f = fields();
            return Signature {
                modifiers: named(node).find(|part| kind(*part) == K::Modifiers),
                type_parameters: child(node, f.type_parameters),
                ty: child(node, f.type_name),
                name: child(node, f.name),
                parameters: child(node, f.parameters),
                dimensions: child(node, f.dimensions),
                body: child(node, f.body),
            };
        }
        for part in named(node) {
            match kind(part) {
                K::Modifiers => parts.modifiers = Some(part),
                K::TypeParameters => parts.type_parameters = Some(part),
                // Annotations between the type parameters and the type.
                K::Annotation | K::MarkerAnnotation => {}
                _ if parts.ty.is_none() => parts.ty = Some(part),
                _ if parts.name.is_none() => parts.name = Some(part),
                K::FormalParameters => parts.parameters = Some(part),
                K::Dimensions => parts.dimensions = Some(part),
                K::Block => parts.body = Some(part),
                // The `throws` clause.
                _ => {}
            }
        }
        parts
    }
}
