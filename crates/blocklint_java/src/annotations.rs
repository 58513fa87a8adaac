//! Annotations are decorators: `@A` is the annotation type, `@A(x)` the result of a `New` site. Also modifiers.

use blocklint_core::Span;
use blocklint_facts::{Arg, DisplayKind, Form, FormId, List, Site, SiteFlags, SiteId, SiteKind, Sym};
use tree_sitter::Node;

use crate::NO_NAME;
use crate::kinds::{K, all, child, fields, first, kind, named};
use crate::walker::{Walker, Walking, span};

impl Walker<'_> {
    /// Returns the forms of annotations, the outermost first.
    pub(crate) fn walk_decorators(&mut self, annotations: &[Node<'_>]) -> Vec<FormId> {
        annotations.iter().map(|&node| self.walk_annotation(node)).collect()
    }

    fn walk_annotation(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let Some(name) = child(node, f.name) else { return self.other() };
        let callee = self.type_form(name);
        let Some(arguments) = child(node, f.arguments) else { return callee };
        let mut args = Vec::new();
        for part in named(arguments) {
            let arg = match (kind(part), child(part, f.key), child(part, f.value)) {
                (K::ElementPair, Some(key), Some(value)) => {
                    let name = self.name_symbol(key);
                    Arg { name, value: self.walk_element_value(value), span: span(value) }
                }
                _ => Arg { name: NO_NAME, value: self.walk_element_value(part), span: span(part) },
            };
            args.push(arg);
        }
        let site = self.add_named_site(SiteKind::New, callee, last_name(name), span(node), &args);
        self.form(Form::Result(site))
    }

    fn walk_element_value(&mut self, node: Node<'_>) -> FormId {
        match kind(node) {
            K::ElementArray => {
                let parts: Vec<Node<'_>> = named(node).collect();
                let parts: Vec<FormId> = parts
                    .into_iter()
                    .map(|part| {
                        self.one_level_deeper(part, |w| w.walk_element_value(part)).unwrap_or_else(|| self.other())
                    })
                    .collect();
                let list = self.facts.list(&parts);
                self.form(Form::Display(DisplayKind::List, list))
            }
            K::Annotation | K::MarkerAnnotation => {
                self.one_level_deeper(node, |walker| walker.walk_annotation(node)).unwrap_or_else(|| self.other())
            }
            _ => self.walk_value(node),
        }
    }

    /// Adds a `Decorate` site for each annotation of a method.
    pub(crate) fn add_decorator_calls(
        &mut self,
        annotations: &[Node<'_>],
        decorators: &[FormId],
        target: FormId,
        target_span: Span,
    ) {
        for (&node, &callee) in annotations.iter().zip(decorators).rev() {
            let Some(name) = child(node, fields().name) else { continue };
            let args = [Arg { name: NO_NAME, value: target, span: target_span }];
            self.add_named_site(SiteKind::Decorate, callee, last_name(name), span(node), &args);
        }
    }

    /// Adds a site; its name is that of a node.
    pub(crate) fn add_named_site(
        &mut self,
        kind: SiteKind,
        callee: FormId,
        name: Node<'_>,
        whole: Span,
        args: &[Arg],
    ) -> SiteId {
        let sym = self.name_symbol(name);
        self.add_site(kind, callee, (sym, span(name)), whole, args)
    }

    /// Adds a site with a name and its span.
    pub(crate) fn add_site(
        &mut self,
        kind: SiteKind,
        callee: FormId,
        (name, name_span): (Sym, Span),
        whole: Span,
        args: &[Arg],
    ) -> SiteId {
        let at = self.at();
        let flags = SiteFlags::default();
        self.facts.site(Site { kind, flags, callee, name, args: List::EMPTY, at, span: whole, name_span }, args)
    }

    /// Returns the modifiers before a declaration.
    pub(crate) fn collect_modifiers<'t>(&self, node: Node<'t>) -> Modifiers<'t> {
        self.collect_modifiers_in(first(node).filter(|first| kind(*first) == K::Modifiers))
    }

    /// Returns the parts of a list of modifiers.
    pub(crate) fn collect_modifiers_in<'t>(&self, list: Option<Node<'t>>) -> Modifiers<'t> {
        let mut modifiers = Modifiers::default();
        for part in list.into_iter().flat_map(all) {
            match kind(part) {
                K::Static => modifiers.is_static = true,
                K::SynchronizedWord => modifiers.is_synchronized = true,
                K::Annotation | K::MarkerAnnotation => {
                    let Some(name) = child(part, fields().name) else { continue };
                    let name = self.text(name);
                    modifiers.overrides |= matches!(&*name, "Override" | "java.lang.Override");
                    modifiers.is_deprecated |= matches!(&*name, "Deprecated" | "java.lang.Deprecated");
                    if !is_inert(&name) {
                        modifiers.annotations.push(part);
                    }
                }
                _ => {}
            }
        }
        modifiers
    }
}

/// The modifiers before a declaration.
#[derive(Default)]
pub(crate) struct Modifiers<'t> {
    /// The annotations that do not only concern the compiler.
    pub(crate) annotations: Vec<Node<'t>>,
    /// True if it has `@Override`.
    pub(crate) overrides: bool,
    /// True if it has `@Deprecated`.
    pub(crate) is_deprecated: bool,
    pub(crate) is_static: bool,
    pub(crate) is_synchronized: bool,
}

/// Returns the last name of a qualified name or type.
pub(crate) fn last_name(node: Node<'_>) -> Node<'_> {
    let mut prefix = node;
    loop {
        let next = match kind(prefix) {
            K::ScopedIdentifier => child(prefix, fields().name),
            K::ScopedType => named(prefix).last(),
            K::GenericType => named(prefix).next(),
            K::AnnotatedType => named(prefix).last(),
            _ => None,
        };
        match next {
            Some(next) => prefix = next,
            None => return prefix,
        }
    }
}

/// True for annotations of `java.lang` that only concern the compiler.
fn is_inert(name: &str) -> bool {
    let name = name.strip_prefix("java.lang.").unwrap_or(name);
    matches!(name, "Override" | "Deprecated" | "SuppressWarnings" | "SafeVarargs" | "FunctionalInterface")
}
