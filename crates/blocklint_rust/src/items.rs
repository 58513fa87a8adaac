//! Functions, types, impl blocks, traits, modules and constants.

use blocklint_core::Span;
use blocklint_facts::{
    AssignKind, Body, BodyFlags, BodyId, BodyKind, Class, ClassId, ClassKind, DisplayKind, ExitKind, Flow, Form,
    FormId, List, Param, ParamKind, RegionId, Sym, VarId, VarKind,
};
use tree_sitter::Node;

use crate::NO_NAME;
use crate::attrs::Attrs;
use crate::kinds::{K, child, fields, has, kind, named, parts};
use crate::scope::ScopeKind;
use crate::walker::{Walker, Walking, span};

impl Walker<'_> {
    /// Walks the items of a file or module.
    pub(crate) fn walk_items(&mut self, node: Node<'_>) {
        let parts: Vec<Node<'_>> = named(node).collect();
        self.declare_items_among(parts.iter().copied());
        // Macros can define names that functions above them use (`thread_local!`), so they are walked first.
        for &part in &parts {
            match kind(part) {
                K::MacroInvocation => self.walk_item_macro(part),
                K::ExprStatement => {
                    if let Some(inner) = named(part).next().filter(|inner| kind(*inner) == K::MacroInvocation) {
                        self.walk_item_macro(inner);
                    }
                }
                _ => {}
            }
        }
        let mut attrs = Attrs::default();
        for part in parts {
            match kind(part) {
                K::AttributeItem => attrs.nodes.push(part),
                K::InnerAttribute => {
                    if self.is_test_attribute(part) {
                        self.is_test = true;
                        let body = self.walk.facts.body_mut(self.walk.body);
                        body.flags = body.flags.with(BodyFlags::TEST);
                    }
                }
                _ if self.is_item(part) => {
                    let own = std::mem::take(&mut attrs);
                    self.walk_item(part, &own);
                }
                K::UseDeclaration | K::ExternCrate | K::MacroInvocation => attrs.nodes.clear(),
                K::ExprStatement if named(part).all(|inner| kind(inner) == K::MacroInvocation) => attrs.nodes.clear(),
                _ => {
                    attrs.nodes.clear();
                    self.walk_fragment(part);
                }
            }
        }
    }

    /// Declares the items of a block or module, because they are visible before their definition.
    pub(crate) fn declare_items(&mut self, node: Node<'_>) {
        self.declare_items_among(named(node));
    }

    /// Declares the items among the parts of a block or module.
    pub(crate) fn declare_items_among<'t>(&mut self, parts: impl Iterator<Item = Node<'t>>) {
        let mut attrs = Attrs::default();
        for part in parts {
            match kind(part) {
                K::AttributeItem => {
                    attrs.nodes.push(part);
                    continue;
                }
                K::UseDeclaration => self.walk_use(part),
                K::ExternCrate => self.walk_extern_crate(part),
                K::ModItem if child(part, fields().body).is_none() => {
                    let path = self.attribute_value(&attrs, "path");
                    let before = self.is_test;
                    self.is_test |= self.is_test_only(&attrs);
                    self.add_mod_file(part, path);
                    self.is_test = before;
                }
                K::FunctionItem
                | K::FunctionSignature
                | K::StructItem
                | K::UnionItem
                | K::EnumItem
                | K::TraitItem
                | K::TypeItem
                | K::ModItem
                | K::ConstItem
                | K::StaticItem => {
                    if let Some(name) = child(part, fields().name) {
                        let name = self.name_symbol(name);
                        if self.facts.facts().text(name) != "_" {
                            self.item_var(name);
                        }
                    }
                }
                K::ForeignMod => {
                    if let Some(list) = child(part, fields().body) {
                        self.declare_items(list);
                    }
                }
                K::MacroDefinition => {
                    if let Some(name) = self.macro_item_name(part) {
                        self.has_macros = true;
                        self.item_var(name);
                    }
                }
                _ if part.is_error() => self.declare_items(part),
                _ => {}
            }
            attrs.nodes.clear();
        }
    }

    /// Walks one item; other nodes are ignored.
    pub(crate) fn walk_item(&mut self, node: Node<'_>, attrs: &Attrs<'_>) {
        let _ = self.one_level_deeper(node, |walker| {
            let before = walker.is_test;
            walker.is_test |= walker.is_test_only(attrs);
            match kind(node) {
                K::FunctionItem | K::FunctionSignature => walker.walk_function(node, attrs),
                K::StructItem | K::UnionItem => walker.walk_struct(node, attrs),
                K::EnumItem => walker.walk_enum(node, attrs),
                K::TraitItem => walker.walk_trait(node, attrs),
                K::ImplItem => walker.walk_impl(node, attrs),
                K::TypeItem => walker.walk_type_alias(node, attrs),
                K::AssociatedType => walker.walk_associated_type(node),
                K::ModItem => walker.walk_module(node, attrs),
                K::ConstItem | K::StaticItem => walker.walk_constant(node),
                K::MacroDefinition => walker.walk_macro_definition(node),
                K::ForeignMod => {
                    for part in child(node, fields().body).into_iter().flat_map(named) {
                        walker.walk_item(part, &Attrs::default());
                    }
                }
                _ if node.is_error() => {
                    for part in named(node) {
                        walker.walk_fragment(part);
                    }
                }
                _ => {}
            }
            walker.is_test = before;
        });
    }

    /// Walks a part that did not parse: items, or statements of a function that was not recognised.
    pub(crate) fn walk_fragment(&mut self, node: Node<'_>) {
        match kind(node) {
            K::ExprStatement => {
                for inner in named(node) {
                    self.walk_value(inner);
                }
            }
            K::LetDeclaration => {
                self.walk_let(node);
            }
            _ if self.is_item(node) || node.is_error() => self.walk_item(node, &Attrs::default()),
            _ => {
                self.walk_value(node);
            }
        }
    }

    /// Adds a body inside the current one; the caller fills in parameters and result later.
    pub(crate) fn add_body(&mut self, kind: BodyKind, flow: Flow, name: Sym, span: Span, name_span: Span) -> BodyId {
        let flags = if self.is_test { BodyFlags::TEST } else { BodyFlags::default() };
        self.walk.facts.body(Body {
            kind,
            flow,
            flags,
            name,
            parent: self.walk.body,
            class: self.walk.class,
            params: List::EMPTY,
            decorators: List::EMPTY,
            returns: FormId::NONE,
            span,
            name_span,
            region: RegionId::NONE,
            var: VarId::NONE,
        })
    }

    /// Returns the variable of a definition: a member if a class is being walked, else an item.
    fn definition_var(&mut self, name: Sym) -> VarId {
        if self.class.is_none() {
            return self.item_var(name);
        }
        if let Some(&var) = self.members.get(&name) {
            return var;
        }
        let var = self.new_var(name, VarKind::Named);
        self.members.insert(name, var);
        var
    }

    /// Walks a function or method, with or without a block.
    fn walk_function(&mut self, node: Node<'_>, attrs: &Attrs<'_>) {
        let f = fields();
        let Some(name_node) = child(node, f.name) else { return };
        let name = self.name_symbol(name_node);
        let decorators = self.walk_decorators(attrs);
        let is_async = named(node).any(|part| kind(part) == K::FunctionModifiers && has(part, K::Async));
        let flow = if is_async { Flow::Coroutine } else { Flow::Sync };
        let whole = Span::new(attrs.start(node), node.end_byte() as u32);
        let var = self.definition_var(name);
        let body = self.add_body(BodyKind::Function, flow, name, whole, span(name_node));
        let callable = self.form(Form::Callable(body));
        self.add_decorator_calls(attrs, &decorators, callable, span(name_node));
        let target = self.var_form(var);
        self.bind(target, callable, FormId::NONE, AssignKind::Definition, span(name_node));
        let list = self.facts.list(&decorators);
        let is_deprecated = self.has_attribute(attrs, "deprecated");
        let row = self.facts.body_mut(body);
        row.var = var;
        row.decorators = list;
        if is_deprecated {
            row.flags = row.flags.with(BodyFlags::DEPRECATED);
        }

        let place = self.enter_body(body, ClassId::NONE);
        self.scopes.open(ScopeKind::Item);
        for (param, bounds) in self.declare_type_params(node) {
            let form = self.bound_form(&bounds);
            self.scopes.add_type(param, form);
        }
        let has_receiver = child(node, f.parameters).is_some_and(|parameters| self.walk_parameters(parameters, body));
        let returns = self.type_form_in_field(node, f.return_type);
        let row = self.facts.body_mut(body);
        row.returns = returns;
        if !has_receiver && row.class.is_some() {
            row.flags = row.flags.with(BodyFlags::STATIC);
        }
        let block = child(node, f.body);
        if block.is_none_or(|block| self.is_unimplemented(block)) {
            let row = self.facts.body_mut(body);
            row.flags = row.flags.with(BodyFlags::STUB);
        }
        if let Some(block) = block {
            self.walk_block_as_body(block);
        }
        self.scopes.close();
        self.leave_body(place);
    }

    /// True if a block is only `todo!()` or `unimplemented!()`.
    fn is_unimplemented(&self, block: Node<'_>) -> bool {
        let mut parts = named(block);
        let (Some(only), None) = (parts.next(), parts.next()) else { return false };
        let call = if kind(only) == K::ExprStatement { named(only).next() } else { Some(only) };
        let name =
            call.filter(|call| kind(*call) == K::MacroInvocation).and_then(|call| child(call, fields().macro_name));
        name.is_some_and(|name| matches!(&*self.text(name), "todo" | "unimplemented"))
    }

    /// Walks the block of the current body, which returns the block's value.
    pub(crate) fn walk_block_as_body(&mut self, block: Node<'_>) {
        let value = self.walk_block(block);
        if value.has_tail && value.form.is_some() {
            self.add_exit(ExitKind::Return, value.form, value.span);
        }
    }

    /// Adds the parameters of a function or closure. Returns true if there is a receiver.
    pub(crate) fn walk_parameters(&mut self, node: Node<'_>, body: BodyId) -> bool {
        let f = fields();
        let mut params = Vec::new();
        let mut patterns = Vec::new();
        let mut has_receiver = false;
        for part in parts(node) {
            let number = params.len() as u32;
            let (pattern, annotation) = match kind(part) {
                K::SelfParameter => {
                    has_receiver = true;
                    let name = self.facts.intern("self");
                    params.push(self.add_param(name, ParamKind::Receiver, number, FormId::NONE));
                    continue;
                }
                K::AttributeItem | K::MutableSpecifier => continue,
                K::Parameter => {
                    let Some(pattern) = child(part, f.pattern) else { continue };
                    let annotation = self.type_form_in_field(part, f.type_name);
                    if kind(pattern) == K::SelfWord {
                        has_receiver = true;
                        let name = self.facts.intern("self");
                        params.push(self.add_param(name, ParamKind::Receiver, number, annotation));
                        continue;
                    }
                    (pattern, annotation)
                }
                // A parameter of a closure, without a type.
                _ => (part, FormId::NONE),
            };
            let pattern = strip_mut(pattern);
            let kind = ParamKind::PositionalOnly;
            if is_name_pattern(pattern) {
                let name = self.name_symbol(pattern);
                params.push(self.add_param(name, kind, number, annotation));
            } else {
                let param = self.add_param(NO_NAME, kind, number, annotation);
                patterns.push((pattern, param.var));
                params.push(param);
            }
        }
        let list = self.facts.params(&params);
        self.facts.body_mut(body).params = list;
        for (pattern, var) in patterns {
            let value = self.var_form(var);
            self.bind_pattern(pattern, value);
        }
        has_receiver
    }

    fn add_param(&mut self, name: Sym, kind: ParamKind, number: u32, annotation: FormId) -> Param {
        // A parameter with a pattern has a variable without a name.
        let var_name = if name == NO_NAME { self.facts.intern("") } else { name };
        let var = self.new_var(var_name, VarKind::Param(number));
        if name != NO_NAME {
            self.scopes.add_local(name, var);
        }
        Param { name, kind, var, default: FormId::NONE, annotation }
    }

    /// Adds a class with its body, which is the current body until [`Self::close_class`].
    fn open_class(&mut self, kind: ClassKind, node: Node<'_>, attrs: &Attrs<'_>, name: Option<Node<'_>>) -> OpenClass {
        let sym = match name {
            Some(name) => self.name_symbol(name),
            None => self.facts.intern(""),
        };
        let decorators = self.walk_decorators(attrs);
        let decorators = self.facts.list(&decorators);
        let derives = self.derive_arguments(attrs);
        let keywords = self.facts.args(&derives);
        let whole = Span::new(attrs.start(node), node.end_byte() as u32);
        let name_span = name.map_or(Span::new(whole.start, whole.start), span);
        let var = if name.is_some() { self.definition_var(sym) } else { VarId::NONE };
        let body_kind = if kind == ClassKind::Module { BodyKind::Module } else { BodyKind::Class };
        let body = self.add_body(body_kind, Flow::Sync, sym, whole, name_span);
        let class = self.walk.facts.class(Class {
            kind,
            name: sym,
            body,
            parent: self.walk.body,
            bases: List::EMPTY,
            keywords,
            decorators,
            type_params: List::EMPTY,
            subject: FormId::NONE,
            span: whole,
            name_span,
            var,
        });
        let row = self.facts.body_mut(body);
        row.decorators = decorators;
        row.var = var;
        if var.is_some() {
            let target = self.var_form(var);
            let value = self.form(Form::Class(class));
            self.bind(target, value, FormId::NONE, AssignKind::Definition, name_span);
        }
        let inside = if kind == ClassKind::Module { ClassId::NONE } else { class };
        let place = self.enter_body(body, inside);
        let members = std::mem::take(&mut self.members);
        self.scopes.open(if kind == ClassKind::Module { ScopeKind::Module } else { ScopeKind::Item });
        if kind != ClassKind::Module {
            let params: Vec<FormId> = self
                .declare_type_params(node)
                .into_iter()
                .map(|(param, bounds)| {
                    let name = self.form(Form::Str(param));
                    match self.join_bounds(&bounds) {
                        FormId::NONE => name,
                        bound => self.form(Form::Cast(name, bound)),
                    }
                })
                .collect();
            let list = self.facts.list(&params);
            self.facts.class_mut(class).type_params = list;
        }
        OpenClass { class, place, members }
    }

    fn close_class(&mut self, opened: OpenClass) {
        self.scopes.close();
        self.members = opened.members;
        self.leave_body(opened.place);
    }

    fn walk_struct(&mut self, node: Node<'_>, attrs: &Attrs<'_>) {
        let Some(name) = child(node, fields().name) else { return };
        let opened = self.open_class(ClassKind::Class, node, attrs, Some(name));
        if let Some(body) = child(node, fields().body) {
            self.walk_fields(body);
        }
        self.close_class(opened);
    }

    /// Declares the fields of a struct; those of a tuple struct have numbers as names.
    fn walk_fields(&mut self, body: Node<'_>) {
        let f = fields();
        if kind(body) == K::OrderedFields {
            for (index, ty) in tuple_fields(body).enumerate() {
                let name = self.facts.intern(&index.to_string());
                self.declare_field(name, ty, span(ty));
            }
            return;
        }
        for part in named(body).filter(|part| kind(*part) == K::FieldDeclaration) {
            let (Some(name), Some(ty)) = (child(part, f.name), child(part, f.type_name)) else { continue };
            let sym = self.name_symbol(name);
            self.declare_field(sym, ty, span(name));
        }
    }

    fn declare_field(&mut self, name: Sym, ty: Node<'_>, span: Span) {
        let var = self.definition_var(name);
        let target = self.var_form(var);
        let annotation = self.type_form(ty);
        self.bind(target, FormId::NONE, annotation, AssignKind::Declaration, span);
    }

    /// Walks an enum. The annotation of a variant is the type of its payload, a tuple of several, or `Pairs` of named
    /// ones.
    fn walk_enum(&mut self, node: Node<'_>, attrs: &Attrs<'_>) {
        let f = fields();
        let Some(name) = child(node, f.name) else { return };
        let opened = self.open_class(ClassKind::Enum, node, attrs, Some(name));
        for variant in child(node, f.body).into_iter().flat_map(named) {
            if kind(variant) != K::EnumVariant {
                continue;
            }
            let Some(name) = child(variant, f.name) else { continue };
            let sym = self.name_symbol(name);
            let annotation = match child(variant, f.body) {
                Some(body) if kind(body) == K::OrderedFields => {
                    let parts: Vec<FormId> = tuple_fields(body).map(|ty| self.type_form(ty)).collect();
                    match parts.as_slice() {
                        [one] => *one,
                        many => {
                            let list = self.facts.list(many);
                            self.form(Form::Display(DisplayKind::Tuple, list))
                        }
                    }
                }
                Some(body) => {
                    let mut pairs = Vec::new();
                    for part in named(body).filter(|part| kind(*part) == K::FieldDeclaration) {
                        let (Some(name), Some(ty)) = (child(part, f.name), child(part, f.type_name)) else { continue };
                        let name = self.name_symbol(name);
                        pairs.push(self.form(Form::Str(name)));
                        pairs.push(self.type_form(ty));
                    }
                    let list = self.facts.list(&pairs);
                    self.form(Form::Pairs(list))
                }
                None => FormId::NONE,
            };
            let var = self.definition_var(sym);
            let target = self.var_form(var);
            self.bind(target, FormId::NONE, annotation, AssignKind::Declaration, span(name));
        }
        self.close_class(opened);
    }

    fn walk_trait(&mut self, node: Node<'_>, attrs: &Attrs<'_>) {
        let f = fields();
        let Some(name) = child(node, f.name) else { return };
        let opened = self.open_class(ClassKind::Interface, node, attrs, Some(name));
        if let Some(bounds) = child(node, f.bounds) {
            let bases = self.collect_trait_bounds(bounds);
            let list = self.facts.list(&bases);
            self.facts.class_mut(opened.class).bases = list;
        }
        if let Some(body) = child(node, f.body) {
            self.walk_members(body);
        }
        self.close_class(opened);
    }

    fn walk_impl(&mut self, node: Node<'_>, attrs: &Attrs<'_>) {
        let f = fields();
        let opened = self.open_class(ClassKind::Impl, node, attrs, None);
        let subject = self.type_form_in_field(node, f.type_name);
        let mut bases = Vec::new();
        if let Some(base) = child(node, f.trait_name) {
            bases.push(self.type_form(base));
        }
        let bases = self.facts.list(&bases);
        let class = self.facts.class_mut(opened.class);
        class.subject = subject;
        class.bases = bases;
        // The qualified names of its methods contain the name of the type.
        if let Some(ty) = child(node, f.type_name) {
            let name_node = last_name_of_type(ty);
            let name = self.name_symbol(name_node);
            let body = self.body;
            let row = self.facts.body_mut(body);
            row.name = name;
            row.name_span = span(name_node);
            self.facts.class_mut(opened.class).name_span = span(name_node);
        }
        if let Some(body) = child(node, f.body) {
            self.walk_members(body);
        }
        self.close_class(opened);
    }

    /// Walks the members of a trait or impl block.
    fn walk_members(&mut self, body: Node<'_>) {
        let mut attrs = Attrs::default();
        for part in named(body) {
            match kind(part) {
                K::AttributeItem => attrs.nodes.push(part),
                K::MacroInvocation => self.walk_item_macro(part),
                _ => {
                    let own = std::mem::take(&mut attrs);
                    self.walk_item(part, &own);
                }
            }
        }
    }

    /// Walks `type A<T> = B;`, also as the associated type of an impl block.
    fn walk_type_alias(&mut self, node: Node<'_>, attrs: &Attrs<'_>) {
        let Some(name) = child(node, fields().name) else { return };
        let opened = self.open_class(ClassKind::Alias, node, attrs, Some(name));
        let subject = self.type_form_in_field(node, fields().type_name);
        self.facts.class_mut(opened.class).subject = subject;
        self.close_class(opened);
    }

    /// Walks `type A: B;` in a trait, which is a type with these bounds.
    fn walk_associated_type(&mut self, node: Node<'_>) {
        let Some(name) = child(node, fields().name) else { return };
        let sym = self.name_symbol(name);
        let bounds = child(node, fields().bounds).map(|bounds| self.collect_trait_bounds(bounds)).unwrap_or_default();
        let annotation = self.bound_form(&bounds);
        let var = self.definition_var(sym);
        let target = self.var_form(var);
        self.bind(target, FormId::NONE, annotation, AssignKind::Declaration, span(name));
    }

    /// Walks `mod a { … }`; `mod a;` is an import.
    fn walk_module(&mut self, node: Node<'_>, attrs: &Attrs<'_>) {
        let (Some(name), Some(body)) = (child(node, fields().name), child(node, fields().body)) else { return };
        let opened = self.open_class(ClassKind::Module, node, attrs, Some(name));
        self.walk_items(body);
        self.close_class(opened);
    }

    /// Walks a `const` or `static`.
    pub(crate) fn walk_constant(&mut self, node: Node<'_>) {
        let f = fields();
        let Some(name) = child(node, f.name) else { return };
        let annotation = self.type_form_in_field(node, f.type_name);
        let value = match child(node, f.value) {
            Some(value) => self.walk_value(value),
            None => FormId::NONE,
        };
        let sym = self.name_symbol(name);
        if self.facts.facts().text(sym) == "_" {
            return;
        }
        let var = self.definition_var(sym);
        let target = self.var_form(var);
        let kind = if value.is_none() { AssignKind::Declaration } else { AssignKind::Plain };
        self.bind(target, value, annotation, kind, span(name));
    }
}

/// A class being walked.
struct OpenClass {
    class: ClassId,
    place: crate::walker::OuterBody,
    members: rustc_hash::FxHashMap<Sym, VarId>,
}

/// Returns the types of the fields of a tuple struct.
fn tuple_fields(body: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    named(body).filter(|part| !matches!(kind(*part), K::AttributeItem) && part.kind() != "visibility_modifier")
}

/// Returns a pattern without a leading `mut`.
pub(crate) fn strip_mut(pattern: Node<'_>) -> Node<'_> {
    match kind(pattern) {
        K::MutPattern => named(pattern).find(|part| kind(*part) != K::MutableSpecifier).unwrap_or(pattern),
        _ => pattern,
    }
}

/// True if a pattern is a plain name.
pub(crate) fn is_name_pattern(pattern: Node<'_>) -> bool {
    kind(pattern) == K::Identifier
}

/// Returns the name of a type without its path and arguments.
fn last_name_of_type(node: Node<'_>) -> Node<'_> {
    let f = fields();
    let mut ty = node;
    loop {
        let next = match kind(ty) {
            K::GenericType | K::ReferenceType | K::PointerType => child(ty, f.type_name),
            K::ScopedTypeIdentifier => child(ty, f.name),
            K::DynamicType | K::AbstractType => child(ty, f.trait_name),
            _ => None,
        };
        match next {
            Some(next) => ty = next,
            None => return ty,
        }
    }
}
