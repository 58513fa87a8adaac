//! Classes, interfaces, enums, records and annotation types, nested and anonymous ones too.

use blocklint_core::Span;
use blocklint_facts::{
    AssignKind, Body, BodyFlags, BodyId, BodyKind, Class, ClassId, ClassKind, Flow, Form, FormId, List, RegionId,
    SiteKind, Sym, VarId, VarKind,
};
use rustc_hash::FxHashMap;
use tree_sitter::Node;

use crate::NO_NAME;
use crate::kinds::{K, child, fields, first, kind, named};
use crate::walker::{OuterBody, Walker, Walking, span};

/// A class being walked.
pub(crate) struct OpenClass {
    pub(crate) class: ClassId,
    place: OuterBody,
    members: FxHashMap<Sym, VarId>,
}

/// Returns the kind of class that a declaration declares; `None` if it declares no class.
pub(crate) fn class_kind(node: Node<'_>) -> Option<ClassKind> {
    match kind(node) {
        K::ClassDeclaration | K::RecordDeclaration => Some(ClassKind::Class),
        K::InterfaceDeclaration | K::AnnotationType => Some(ClassKind::Interface),
        K::EnumDeclaration => Some(ClassKind::Enum),
        _ => None,
    }
}

impl Walker<'_> {
    /// Walks the declaration of a class, interface, enum, record or annotation type.
    pub(crate) fn walk_class(&mut self, node: Node<'_>) {
        let f = fields();
        let (Some(class_kind), Some(name)) = (class_kind(node), child(node, f.name)) else { return };
        let annotations = self.collect_modifiers(node).annotations;
        let decorators = self.walk_decorators(&annotations);
        let decorators = self.facts.list(&decorators);
        let var = self.type_var(name);
        let sym = self.name_symbol(name);
        let opened = self.open_class(class_kind, sym, span(node), span(name), var);
        let params: Vec<FormId> = self
            .declare_type_params(child(node, f.type_parameters))
            .into_iter()
            .map(|(param, bound)| {
                let name = self.form(Form::Str(param));
                if bound.is_none() { name } else { self.form(Form::Cast(name, bound)) }
            })
            .collect();
        let params = self.facts.list(&params);
        let mut bases = Vec::new();
        for part in named(node) {
            match kind(part) {
                K::Superclass => bases.extend(named(part).map(|base| self.type_form(base)).collect::<Vec<_>>()),
                K::SuperInterfaces | K::ExtendsInterfaces => {
                    for list in named(part).filter(|list| kind(*list) == K::TypeList) {
                        for base in named(list) {
                            bases.push(self.type_form(base));
                        }
                    }
                }
                _ => {}
            }
        }
        let bases = self.facts.list(&bases);
        let row = self.facts.class_mut(opened.class);
        row.type_params = params;
        row.bases = bases;
        row.decorators = decorators;
        let body = self.body;
        self.facts.body_mut(body).decorators = decorators;
        if let Some(body) = child(node, f.body) {
            let members: Vec<Node<'_>> = named(body).collect();
            self.declare_members(&members);
            if kind(node) == K::RecordDeclaration {
                self.add_record_members(node, &members);
            }
            self.walk_class_body(members.into_iter());
        }
        self.close_class(opened);
    }

    /// Walks the class without a name of `new T(…) { … }` or of an enum constant with a body.
    pub(crate) fn walk_anonymous_class(&mut self, body: Node<'_>, base: FormId) -> ClassId {
        let name = self.facts.intern("");
        let start = Span::new(body.start_byte() as u32, body.start_byte() as u32);
        let opened = self.open_class(ClassKind::Class, name, span(body), start, VarId::NONE);
        let bases = self.facts.list(&[base]);
        self.facts.class_mut(opened.class).bases = bases;
        let body_name = self.facts.intern("<anonymous>");
        let class_body = self.body;
        self.facts.body_mut(class_body).name = body_name;
        let members: Vec<Node<'_>> = named(body).collect();
        self.declare_members(&members);
        self.walk_class_body(members.into_iter());
        let class = opened.class;
        self.close_class(opened);
        class
    }

    /// Adds a class with its body, which is the current body until [`Self::close_class`].
    fn open_class(&mut self, kind: ClassKind, name: Sym, whole: Span, name_span: Span, var: VarId) -> OpenClass {
        let body = self.add_body(BodyKind::Class, name, whole, name_span, BodyFlags::default());
        let class = self.walk.facts.class(Class {
            kind,
            name,
            body,
            parent: self.walk.body,
            bases: List::EMPTY,
            keywords: List::EMPTY,
            decorators: List::EMPTY,
            type_params: List::EMPTY,
            subject: FormId::NONE,
            span: whole,
            name_span,
            var,
        });
        self.facts.body_mut(body).var = var;
        if var.is_some() {
            let target = self.var_form(var);
            let value = self.form(Form::Class(class));
            self.bind(target, value, FormId::NONE, AssignKind::Definition, name_span);
        }
        let place = self.enter_body(body, class);
        let members = std::mem::take(&mut self.members);
        self.scopes.open();
        OpenClass { class, place, members }
    }

    fn close_class(&mut self, opened: OpenClass) {
        self.scopes.close();
        self.members = opened.members;
        self.leave_body(opened.place);
    }

    /// Adds a body inside the current one.
    pub(crate) fn add_body(
        &mut self,
        kind: BodyKind,
        name: Sym,
        whole: Span,
        name_span: Span,
        flags: BodyFlags,
    ) -> BodyId {
        self.walk.facts.body(Body {
            kind,
            flow: Flow::Sync,
            flags,
            name,
            parent: self.walk.body,
            class: self.walk.class,
            params: List::EMPTY,
            decorators: List::EMPTY,
            returns: FormId::NONE,
            span: whole,
            name_span,
            region: RegionId::NONE,
            var: VarId::NONE,
        })
    }

    /// Returns the variable of a member. A field and the methods of the same name share one.
    pub(crate) fn member_var(&mut self, name: Sym) -> VarId {
        if let Some(&var) = self.members.get(&name) {
            return var;
        }
        let var = self.new_var(name, VarKind::Named);
        self.members.insert(name, var);
        var
    }

    /// Declares fields, constants and nested classes, because they are visible before their definition.
    fn declare_members(&mut self, parts: &[Node<'_>]) {
        let f = fields();
        for &part in parts {
            match kind(part) {
                K::FieldDeclaration | K::Constant => {
                    for declarator in named(part).filter(|part| kind(*part) == K::VariableDeclarator) {
                        // The name is the first child.
                        let name = if declarator.has_error() { child(declarator, f.name) } else { first(declarator) };
                        if let Some(name) = name {
                            self.declare_field(name);
                        }
                    }
                }
                K::EnumConstant => {
                    if let Some(name) = child(part, f.name) {
                        self.declare_field(name);
                    }
                }
                part_kind if part_kind == K::EnumBodyDeclarations || part.is_error() => {
                    let inner: Vec<Node<'_>> = named(part).collect();
                    let _ = self.one_level_deeper(part, |walker| walker.declare_members(&inner));
                }
                _ => self.declare_type(part),
            }
        }
    }

    pub(crate) fn declare_field(&mut self, name: Node<'_>) -> VarId {
        let sym = self.name_symbol(name);
        let var = self.member_var(sym);
        self.scopes.add_field(sym, var);
        var
    }

    /// Walks the members of a class in order.
    pub(crate) fn walk_class_body<'t>(&mut self, parts: impl Iterator<Item = Node<'t>>) {
        for part in parts {
            self.walk_member_or_statement(part);
        }
    }

    /// Walks an enum constant, which is a `New` site if it has arguments or a body.
    pub(crate) fn walk_enum_constant(&mut self, node: Node<'_>) {
        let f = fields();
        let Some(name) = child(node, f.name).filter(|_| self.class.is_some()) else { return };
        let var = self.declare_field(name);
        let target = self.var_form(var);
        let owner = self.class;
        let class_var = self.facts.facts().class(owner).var;
        let own = if class_var.is_some() { self.var_form(class_var) } else { FormId::NONE };
        let arguments = child(node, f.arguments);
        let body = child(node, f.body);
        if arguments.is_none() && body.is_none() {
            self.bind(target, FormId::NONE, own, AssignKind::Declaration, span(name));
            return;
        }
        let sym = self.name_symbol(name);
        let initialiser = self.add_body(BodyKind::Initialiser, sym, span(node), span(name), BodyFlags::STATIC);
        let place = self.enter_body(initialiser, ClassId::NONE);
        let callee = match body {
            Some(body) => {
                let class = self.walk_anonymous_class(body, own);
                self.form(Form::Class(class))
            }
            None => own,
        };
        let args = match arguments {
            Some(arguments) => self.walk_arguments(arguments),
            None => Vec::new(),
        };
        let site = self.add_named_site(SiteKind::New, callee, name, span(node), &args);
        // The name of the called class is that of the enum, not that of the constant.
        let class_name = self.facts.facts().class(owner).name;
        self.facts.site_mut(site).name = class_name;
        let value = self.form(Form::Result(site));
        self.bind(target, value, own, AssignKind::Plain, span(name));
        self.leave_body(place);
    }

    /// Adds the implicit members of a record: a field and an accessor for each component, and the constructor.
    fn add_record_members(&mut self, node: Node<'_>, own: &[Node<'_>]) {
        let f = fields();
        let Some(parameters) = child(node, f.parameters) else { return };
        let mut components = Vec::new();
        for part in named(parameters).filter(|part| kind(*part) == K::FormalParameter) {
            let Some(name) = child(part, f.name) else { continue };
            let annotation = self.declared_type(child(part, f.type_name), child(part, f.dimensions));
            let var = self.declare_field(name);
            let target = self.var_form(var);
            self.bind(target, FormId::NONE, annotation, AssignKind::Declaration, span(name));
            components.push((name, var, annotation));
        }
        let has_no_parameters = |method: &Node<'_>| {
            child(*method, f.parameters).is_some_and(|parameters| named(parameters).next().is_none())
        };
        for &(name, var, annotation) in &components {
            let text = self.text(name);
            let is_explicit = own.iter().any(|part| {
                kind(*part) == K::MethodDeclaration
                    && child(*part, f.name).is_some_and(|own| self.text(own) == text)
                    && has_no_parameters(part)
            });
            if is_explicit {
                continue;
            }
            let sym = self.name_symbol(name);
            let accessor = self.add_body(BodyKind::Function, sym, span(name), span(name), BodyFlags::default());
            let row = self.facts.body_mut(accessor);
            row.returns = annotation;
            row.var = var;
            let target = self.var_form(var);
            let callable = self.form(Form::Callable(accessor));
            self.bind(target, callable, FormId::NONE, AssignKind::Definition, span(name));
            let place = self.enter_body(accessor, ClassId::NONE);
            let this = self.form(Form::This);
            let value = self.form(Form::Attr(this, sym));
            self.add_exit(value, span(name));
            self.leave_body(place);
        }
        let is_canonical = |part: &Node<'_>| {
            kind(*part) == K::CompactConstructor
                || (kind(*part) == K::Constructor
                    && child(*part, f.parameters).is_some_and(|own| named(own).count() == components.len()))
        };
        if !own.iter().any(is_canonical)
            && let Some(name) = child(node, f.name)
        {
            self.add_canonical_constructor(name, parameters, None, span(node));
        }
    }

    /// Adds the canonical constructor of a record, with the statements of its compact form.
    pub(crate) fn add_canonical_constructor(
        &mut self,
        name: Node<'_>,
        parameters: Node<'_>,
        block: Option<Node<'_>>,
        whole: Span,
    ) {
        let body = self.add_constructor_body(name, whole);
        let place = self.enter_body(body, ClassId::NONE);
        self.scopes.open();
        let params = self.walk_parameters(parameters, body);
        if let Some(block) = block {
            self.walk_block(block);
        }
        for param in params.iter().filter(|param| param.name != NO_NAME) {
            let this = self.form(Form::This);
            let target = self.form(Form::Attr(this, param.name));
            let value = self.var_form(param.var);
            self.bind(target, value, FormId::NONE, AssignKind::Plain, span(name));
        }
        self.scopes.close();
        self.leave_body(place);
    }

    /// Adds the body of a constructor, bound to the member `<init>`.
    pub(crate) fn add_constructor_body(&mut self, name: Node<'_>, whole: Span) -> BodyId {
        let init = self.facts.intern("<init>");
        let var = self.member_var(init);
        let body = self.add_body(BodyKind::Function, init, whole, span(name), BodyFlags::default());
        self.facts.body_mut(body).var = var;
        let target = self.var_form(var);
        let callable = self.form(Form::Callable(body));
        self.bind(target, callable, FormId::NONE, AssignKind::Definition, span(name));
        body
    }
}
