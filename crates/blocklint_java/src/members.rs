//! Members of classes: methods, constructors, fields and initialisers.

use blocklint_facts::{
    AssignKind, BodyFlags, BodyId, BodyKind, ClassId, ClassKind, DisplayKind, Form, FormId, Param, ParamKind,
    RegionKind, SiteKind, VarKind,
};
use tree_sitter::Node;

use crate::NO_NAME;
use crate::classes::class_kind;
use crate::declarations::{Declaration, DeclarationParts, Signature, declaration_parts};
use crate::kinds::{K, child, fields, kind, named};
use crate::walker::{Walker, Walking, span};

impl Walker<'_> {
    /// Walks one member of a class, or a method or statement outside of a class.
    pub(crate) fn walk_member_or_statement(&mut self, node: Node<'_>) {
        let _ = self.one_level_deeper(node, |walker| match kind(node) {
            K::MethodDeclaration | K::AnnotationElement => walker.walk_method(node),
            K::Constructor => walker.walk_constructor(node),
            K::CompactConstructor => walker.walk_compact_constructor(node),
            K::FieldDeclaration | K::Constant => walker.walk_field_declaration(node),
            K::EnumConstant => walker.walk_enum_constant(node),
            K::EnumBodyDeclarations => walker.walk_class_body(named(node)),
            K::StaticInitializer => {
                let block = named(node).find(|part| kind(*part) == K::Block);
                walker.walk_initialiser(node, block, BodyFlags::STATIC, "<static>");
            }
            K::Block if walker.class.is_some() => {
                walker.walk_initialiser(node, Some(node), BodyFlags::default(), "<initialiser>");
            }
            _ if class_kind(node).is_some() => walker.walk_class(node),
            _ if node.is_error() => {
                for part in named(node) {
                    walker.walk_member_or_statement(part);
                }
            }
            _ if walker.class.is_none() => {
                walker.walk_statement(node, &mut Vec::new(), node.end_byte());
            }
            _ => {}
        });
    }

    /// Walks a method, with or without a block.
    fn walk_method(&mut self, node: Node<'_>) {
        let signature = Signature::new(node);
        let Some(name_node) = signature.name else { return };
        let name = self.name_symbol(name_node);
        let modifiers = self.collect_modifiers_in(signature.modifiers);
        let decorators = self.walk_decorators(&modifiers.annotations);
        let list = self.facts.list(&decorators);
        let var = self.member_var(name);
        let mut flags = if modifiers.is_static { BodyFlags::STATIC } else { BodyFlags::default() };
        let block = signature.body;
        if block.is_none_or(|block| self.is_unsupported(block)) {
            flags = flags.with(BodyFlags::STUB);
        }
        if modifiers.overrides {
            flags = flags.with(BodyFlags::OVERRIDES);
        }
        if modifiers.is_deprecated {
            flags = flags.with(BodyFlags::DEPRECATED);
        }
        let body = self.add_body(BodyKind::Function, name, span(node), span(name_node), flags);
        let callable = self.form(Form::Callable(body));
        self.add_decorator_calls(&modifiers.annotations, &decorators, callable, span(name_node));
        let target = self.var_form(var);
        self.bind(target, callable, FormId::NONE, AssignKind::Definition, span(name_node));
        let row = self.facts.body_mut(body);
        row.var = var;
        row.decorators = list;
        let class = self.class;

        let place = self.enter_body(body, ClassId::NONE);
        self.scopes.open();
        for (param, bound) in self.declare_type_params(signature.type_parameters) {
            let form = if bound.is_none() { self.other() } else { self.form(Form::Bound(bound)) };
            self.scopes.add_param(param, form);
        }
        let returns = self.declared_type(signature.ty, signature.dimensions);
        self.facts.body_mut(body).returns = returns;
        if let Some(parameters) = signature.parameters {
            self.walk_parameters(parameters, body);
        }
        if let Some(block) = block {
            if modifiers.is_synchronized {
                let lock = if modifiers.is_static && class.is_some() {
                    let var = self.facts.facts().class(class).var;
                    if var.is_some() { self.var_form(var) } else { self.other() }
                } else {
                    self.form(Form::This)
                };
                self.walk_locked_block(lock, name_node, block);
            } else {
                self.walk_block(block);
            }
        }
        self.scopes.close();
        self.leave_body(place);
    }

    /// Walks a block that holds the lock of an object.
    pub(crate) fn walk_locked_block(&mut self, lock: FormId, place: Node<'_>, block: Node<'_>) -> bool {
        self.add_implicit_call(SiteKind::Enter, "synchronized", lock, span(place));
        let region = self.open_region(RegionKind::With, lock, span(block));
        let diverges = self.in_region(region, |walker| walker.walk_block(block));
        self.add_implicit_call(SiteKind::Leave, "synchronized", lock, span(place));
        diverges
    }

    /// True if a block is only `throw new UnsupportedOperationException(…)`.
    fn is_unsupported(&self, block: Node<'_>) -> bool {
        let mut parts = named(block);
        let (Some(only), None) = (parts.next(), parts.next()) else { return false };
        if kind(only) != K::Throw {
            return false;
        }
        let thrown = named(only).next().and_then(|thrown| child(thrown, fields().type_name));
        thrown.is_some_and(|ty| self.text(ty) == "UnsupportedOperationException")
    }

    fn walk_constructor(&mut self, node: Node<'_>) {
        let f = fields();
        let Some(name) = child(node, f.name) else { return };
        let annotations = self.collect_modifiers(node).annotations;
        let decorators = self.walk_decorators(&annotations);
        let list = self.facts.list(&decorators);
        let body = self.add_constructor_body(name, span(node));
        self.facts.body_mut(body).decorators = list;
        let place = self.enter_body(body, ClassId::NONE);
        self.scopes.open();
        for (param, bound) in self.declare_type_params(child(node, f.type_parameters)) {
            let form = if bound.is_none() { self.other() } else { self.form(Form::Bound(bound)) };
            self.scopes.add_param(param, form);
        }
        if let Some(parameters) = child(node, f.parameters) {
            self.walk_parameters(parameters, body);
        }
        if let Some(block) = child(node, f.body) {
            self.walk_block(block);
        }
        self.scopes.close();
        self.leave_body(place);
    }

    /// Walks the compact constructor of a record: `record R(int a) { R { … } }`.
    fn walk_compact_constructor(&mut self, node: Node<'_>) {
        let f = fields();
        let (Some(name), Some(block)) = (child(node, f.name), child(node, f.body)) else { return };
        let record = node.parent().and_then(|body| body.parent());
        if let Some(parameters) = record.and_then(|record| child(record, f.parameters)) {
            self.add_canonical_constructor(name, parameters, Some(block), span(node));
        }
    }

    /// Adds the parameters of a method, constructor or lambda, and returns them.
    pub(crate) fn walk_parameters(&mut self, node: Node<'_>, body: BodyId) -> Vec<Param> {
        let f = fields();
        let mut params = Vec::new();
        for part in named(node) {
            let (name, ty, dimensions, param_kind) = match kind(part) {
                K::FormalParameter => {
                    let parts = declaration_parts(part);
                    (parts.name, parts.ty, parts.dimensions, ParamKind::PositionalOnly)
                }
                K::Spread => {
                    let declarator = named(part).find(|part| kind(*part) == K::VariableDeclarator);
                    let ty = named(part).find(|part| {
                        !matches!(kind(*part), K::Modifiers | K::VariableDeclarator)
                            && !crate::types::is_annotation(*part)
                    });
                    (declarator.and_then(|declarator| child(declarator, f.name)), ty, None, ParamKind::VarArgs)
                }
                // `(a, b) -> …`
                K::Identifier => (Some(part), None, None, ParamKind::PositionalOnly),
                _ => continue,
            };
            let annotation = self.declared_type(ty, dimensions);
            let sym = match name {
                Some(name) => self.binding_symbol(name),
                None => NO_NAME,
            };
            params.push(self.add_param(sym, param_kind, params.len() as u32, annotation));
        }
        let list = self.facts.params(&params);
        self.facts.body_mut(body).params = list;
        params
    }

    /// Returns a new parameter with its variable.
    pub(crate) fn add_param(
        &mut self,
        name: blocklint_facts::Sym,
        kind: ParamKind,
        number: u32,
        annotation: FormId,
    ) -> Param {
        // A parameter `_` has a variable without a name.
        let var_name = if name == NO_NAME { self.facts.intern("") } else { name };
        let var = self.new_var(var_name, VarKind::Param(number));
        if name != NO_NAME {
            self.scopes.add_local(name, var);
        }
        Param { name, kind, var, default: FormId::NONE, annotation }
    }

    /// Walks a declaration of fields. An initialiser that can run code is a body of its own.
    fn walk_field_declaration(&mut self, node: Node<'_>) {
        let owner_is_interface =
            self.class.is_some() && self.facts.facts().class(self.class).kind == ClassKind::Interface;
        let mut declaration = Declaration::new(node);
        while let Some(declarator) = declaration.next() {
            let ty = declaration.ty;
            let DeclarationParts { name: Some(name), dimensions, value, .. } = declaration_parts(declarator) else {
                continue;
            };
            let annotation = self.declared_type(ty, dimensions);
            let var = self.declare_field(name);
            let target = self.var_form(var);
            let Some(value_node) = value else {
                self.bind(target, FormId::NONE, annotation, AssignKind::Declaration, span(name));
                continue;
            };
            if crate::exprs::runs_no_code(value_node) {
                let value = self.walk_value(value_node);
                self.bind(target, value, annotation, AssignKind::Plain, span(name));
                continue;
            }
            let sym = self.name_symbol(name);
            let is_static = owner_is_interface || self.collect_modifiers_in(declaration.modifiers).is_static;
            let flags = if is_static { BodyFlags::STATIC } else { BodyFlags::default() };
            let body = self.add_body(BodyKind::Initialiser, sym, span(declarator), span(name), flags);
            let place = self.enter_body(body, ClassId::NONE);
            let value = self.walk_initial_value(value_node);
            self.bind(target, value, annotation, AssignKind::Plain, span(name));
            self.leave_body(place);
        }
    }

    /// Walks the value of a variable or field, which can be an array initialiser `{ … }`.
    pub(crate) fn walk_initial_value(&mut self, node: Node<'_>) -> FormId {
        if kind(node) != K::ArrayInitializer {
            return self.walk_value(node);
        }
        let parts: Vec<FormId> = named(node)
            .map(|part| self.one_level_deeper(part, |w| w.walk_initial_value(part)).unwrap_or_else(|| self.other()))
            .collect();
        let list = self.facts.list(&parts);
        self.form(Form::Display(DisplayKind::List, list))
    }

    /// Walks an initialiser among the members: `{ … }` or `static { … }`.
    fn walk_initialiser(&mut self, node: Node<'_>, block: Option<Node<'_>>, flags: BodyFlags, name: &str) {
        let name = self.facts.intern(name);
        let start = node.start_byte() as u32;
        let body =
            self.add_body(BodyKind::Initialiser, name, span(node), blocklint_core::Span::new(start, start + 1), flags);
        let place = self.enter_body(body, ClassId::NONE);
        if let Some(block) = block {
            self.walk_block(block);
        }
        self.leave_body(place);
    }
}
