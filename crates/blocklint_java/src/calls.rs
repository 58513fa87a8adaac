//! Method calls and constructor calls.

use blocklint_core::Span;
use blocklint_facts::{Form, FormId, SiteFlags, SiteKind};
use tree_sitter::Node;

use crate::annotations::last_name;
use crate::exprs::Link;
use crate::kinds::{K, child, fields, first, kind, named};
use crate::types::is_annotation;
use crate::walker::{Walker, Walking, span};

impl Walker<'_> {
    /// Walks a method call; `object` is the form of its receiver. The linker resolves a bare name, because it can be
    /// inherited.
    pub(crate) fn walk_invocation(&mut self, call: &Link<'_>, object: Option<FormId>) -> FormId {
        let Some(name_node) = call.name else { return self.other() };
        let name = self.name_symbol(name_node);
        let callee = match object {
            Some(object) => {
                let object = self.apply_qualified_super(call, name_node, object);
                self.form(Form::Attr(object, name))
            }
            None => self.form(Form::Name(name)),
        };
        let args = match call.arguments {
            Some(arguments) => self.walk_arguments(arguments),
            None => Vec::new(),
        };
        let site = self.add_site(SiteKind::Call, callee, (name, span(name_node)), span(call.node), &args);
        if object.is_none() {
            self.flag(site, SiteFlags::BARE);
        }
        self.form(Form::Result(site))
    }

    /// Walks `new T(…)`, also with a class body, or `outer.new T(…)`.
    pub(crate) fn walk_creation(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let Some(ty_node) = child(node, f.type_name) else { return self.other() };
        let before = first(node).filter(|first| *first != ty_node && !is_annotation(*first));
        if let Some(outer) = before.filter(|outer| kind(*outer) != K::TypeArguments) {
            self.walk_value(outer);
        }
        let ty = self.type_form(ty_node);
        let arguments = child(node, f.arguments);
        let args = match arguments {
            Some(arguments) => self.walk_arguments(arguments),
            None => Vec::new(),
        };
        // The class body is the last child.
        let has_more = arguments.is_none_or(|arguments| arguments.end_byte() < node.end_byte());
        let class_body = if has_more { named(node).find(|part| kind(*part) == K::ClassBody) } else { None };
        let callee = match class_body {
            Some(body) => {
                let class = self.one_level_deeper(body, |walker| walker.walk_anonymous_class(body, ty));
                match class {
                    Some(class) => self.form(Form::Class(class)),
                    None => ty,
                }
            }
            None => ty,
        };
        // A class body is no part of the call.
        let end = arguments.unwrap_or(node).end_byte() as u32;
        let whole = Span::new(node.start_byte() as u32, end);
        let site = self.add_named_site(SiteKind::New, callee, last_name(ty_node), whole, &args);
        self.form(Form::Result(site))
    }

    /// Walks `this(…)` or `super(…)` at the start of a constructor.
    pub(crate) fn walk_explicit_constructor(&mut self, node: Node<'_>) {
        let f = fields();
        if let Some(object) = child(node, f.object) {
            self.walk_value(object);
        }
        let Some(constructor) = child(node, f.constructor) else { return };
        let callee = self.walk_value(constructor);
        let args = match child(node, f.arguments) {
            Some(arguments) => self.walk_arguments(arguments),
            None => Vec::new(),
        };
        let site = self.add_named_site(SiteKind::Call, callee, constructor, span(node), &args);
        let init = self.facts.intern("<init>");
        self.facts.site_mut(site).name = init;
        self.flag(site, SiteFlags::DISCARDED);
    }
}
