//! Statements: blocks, local variables, loops, `try`, `synchronized`; `if` and `switch` are in `branches.rs`.

use blocklint_core::Span;
use blocklint_facts::{AssignKind, Form, FormId, List, RegionId, RegionKind, Site, SiteFlags, SiteKind, VarKind};
use tree_sitter::Node;

use crate::NO_NAME;
use crate::classes::class_kind;
use crate::declarations::{Declaration, DeclarationParts, declaration_parts};
use crate::kinds::{K, child, fields, first, kind, named};
use crate::walker::{FollowingArm, Walker, Walking, span};

impl Walker<'_> {
    /// Walks a block in a scope of its own. Returns true if control never reaches its end.
    pub(crate) fn walk_block(&mut self, node: Node<'_>) -> bool {
        self.one_level_deeper(node, |walker| {
            walker.scopes.open();
            let region = walker.region;
            let diverges = walker.walk_statements(named(node), node.end_byte());
            walker.region = region;
            walker.scopes.close();
            diverges
        })
        .unwrap_or(false)
    }

    /// Walks statements in order. The current region stays that of the last statement.
    pub(crate) fn walk_statements<'t>(&mut self, statements: impl Iterator<Item = Node<'t>>, block_end: usize) -> bool {
        let mut diverges = false;
        let mut after = Vec::new();
        for statement in statements {
            after.clear();
            diverges |= self.walk_statement(statement, &mut after, block_end);
        }
        diverges
    }

    /// Walks one statement. Returns true if control never reaches the code behind it. Adds to `after` the conditions
    /// under which the following statements run, and enters them.
    pub(crate) fn walk_statement(&mut self, node: Node<'_>, after: &mut Vec<FollowingArm>, block_end: usize) -> bool {
        let before = self.region;
        let diverges = self.one_level_deeper(node, |walker| walker.walk_statement_inner(node, after)).unwrap_or(false);
        if self.region != before {
            // The code behind a `try` is in the region of its handler.
            let handler = self.region;
            let region = self.facts.region_mut(handler);
            region.span.end = region.span.end.max(block_end as u32);
        }
        for arm in after.iter() {
            let span = Span::new(node.end_byte() as u32, block_end as u32);
            self.region = self.open_arm(arm.kind, arm.group, arm.test, span);
        }
        diverges
    }

    /// Walks the statement of a branch or loop in a scope of its own.
    pub(crate) fn walk_branch(&mut self, node: Node<'_>) -> bool {
        if kind(node) == K::Block {
            return self.walk_block(node);
        }
        self.scopes.open();
        let region = self.region;
        let diverges = self.walk_statement(node, &mut Vec::new(), node.end_byte());
        self.region = region;
        self.scopes.close();
        diverges
    }

    fn walk_statement_inner(&mut self, node: Node<'_>, after: &mut Vec<FollowingArm>) -> bool {
        let f = fields();
        match kind(node) {
            K::ExprStatement => {
                if let Some(inner) = first(node) {
                    if kind(inner) == K::Switch {
                        return self.walk_switch(inner).is_none();
                    }
                    let form = self.walk_value(inner);
                    let call = matches!(kind(inner), K::Invocation | K::Creation);
                    if let Some(site) = self.site_of(form).filter(|_| call) {
                        self.flag(site, SiteFlags::DISCARDED);
                    }
                }
                false
            }
            K::LocalVariable => {
                self.walk_local_variable(node);
                false
            }
            K::Block => self.walk_block(node),
            K::If => self.walk_if(node, after),
            K::While | K::Do | K::For | K::EnhancedFor => self.walk_loop(node),
            K::Return => {
                let value = match first(node) {
                    Some(value) => self.walk_value(value),
                    None => FormId::NONE,
                };
                self.add_exit(value, span(node));
                true
            }
            K::Yield => {
                let value = match first(node) {
                    Some(value) => self.walk_value(value),
                    None => self.other(),
                };
                if let Some(ends) = self.yields.last_mut() {
                    ends.push(value);
                }
                true
            }
            K::Throw => {
                for value in named(node) {
                    self.walk_value(value);
                }
                true
            }
            K::Break | K::Continue => true,
            K::Switch => self.walk_switch(node).is_none(),
            K::Labeled => {
                if let Some(inner) = named(node).nth(1) {
                    self.walk_branch(inner);
                }
                // A `break` with this label can leave the statement anywhere.
                false
            }
            K::Synchronized => {
                let Some(block) = child(node, f.body) else { return false };
                let lock_node = named(node).find(|part| kind(*part) == K::Paren);
                let lock = match lock_node {
                    Some(lock) => self.walk_value(lock),
                    None => self.other(),
                };
                self.walk_locked_block(lock, lock_node.unwrap_or(node), block)
            }
            K::Try | K::TryResources => self.walk_try(node),
            K::Assert => {
                for value in named(node) {
                    self.walk_value(value);
                }
                false
            }
            K::ExplicitConstructor => {
                self.walk_explicit_constructor(node);
                false
            }
            _ if class_kind(node).is_some() => {
                self.walk_class(node);
                false
            }
            _ if node.is_error() => {
                for part in named(node) {
                    self.walk_statement(part, &mut Vec::new(), node.end_byte());
                }
                false
            }
            // After a syntax error an expression can be a statement.
            _ => {
                self.walk_value(node);
                false
            }
        }
    }

    /// Declares a local variable and returns its form; `None` for `_`.
    pub(crate) fn add_local(&mut self, name: Node<'_>) -> Option<FormId> {
        let sym = self.name_symbol(name);
        if self.facts.facts().text(sym) == "_" {
            return None;
        }
        let var = self.new_var(sym, VarKind::Inner);
        self.scopes.add_local(sym, var);
        Some(self.var_form(var))
    }

    /// Walks a declaration of local variables: `T a = x, b;`.
    pub(crate) fn walk_local_variable(&mut self, node: Node<'_>) {
        let mut declaration = Declaration::new(node);
        while let Some(declarator) = declaration.next() {
            let ty = declaration.ty;
            let DeclarationParts { name: Some(name), dimensions, value, .. } = declaration_parts(declarator) else {
                continue;
            };
            let annotation = self.declared_type(ty, dimensions);
            let value = match value {
                Some(value) => self.walk_initial_value(value),
                None => FormId::NONE,
            };
            let Some(target) = self.add_local(name) else { continue };
            let kind = if value.is_none() { AssignKind::Declaration } else { AssignKind::Plain };
            self.bind(target, value, annotation, kind, span(name));
        }
    }

    /// Walks `while`, `do`, `for` or the `for` over a collection. Returns false, because a loop can end.
    fn walk_loop(&mut self, node: Node<'_>) -> bool {
        let f = fields();
        self.scopes.open();
        match kind(node) {
            K::EnhancedFor => {
                let iterable = match child(node, f.value) {
                    Some(value) => {
                        let form = self.walk_value(value);
                        self.add_implicit_call(SiteKind::Iterate, "iterator", form, span(value));
                        form
                    }
                    None => self.other(),
                };
                let annotation = self.declared_type(child(node, f.type_name), child(node, f.dimensions));
                let region = self.open_region(RegionKind::Loop, iterable, span(node));
                self.in_region(region, |walker| {
                    let element = walker.form(Form::Element(iterable));
                    if let Some(name) = child(node, f.name)
                        && let Some(target) = walker.add_local(name)
                    {
                        walker.bind(target, element, annotation, AssignKind::Plain, span(name));
                    }
                    if let Some(body) = child(node, f.body) {
                        walker.walk_branch(body);
                    }
                });
            }
            _ => {
                let mut cursor = node.walk();
                let inits: Vec<Node<'_>> = node.children_in_field(f.init, &mut cursor);
                for init in inits {
                    if kind(init) == K::LocalVariable {
                        self.walk_local_variable(init)
                    } else {
                        _ = self.walk_value(init)
                    }
                }
                let region = self.open_region(RegionKind::Loop, FormId::NONE, span(node));
                self.in_region(region, |walker| {
                    let test_first = kind(node) != K::Do;
                    if test_first {
                        walker.walk_loop_test(node, region);
                    }
                    if let Some(body) = child(node, f.body) {
                        walker.walk_branch(body);
                    }
                    if !test_first {
                        walker.walk_loop_test(node, region);
                    }
                    let mut cursor = node.walk();
                    for update in node.children_in_field(f.update, &mut cursor) {
                        walker.walk_value(update);
                    }
                });
            }
        }
        self.scopes.close();
        false
    }

    fn walk_loop_test(&mut self, node: Node<'_>, region: blocklint_facts::RegionId) {
        if let Some(condition) = child(node, fields().condition) {
            let test = self.walk_value(condition);
            self.facts.region_mut(region).test = test;
        }
    }

    /// Walks a `try` with its handlers, and the resources that it closes. Returns true if it diverges. If its block
    /// diverges and only one handler does not, the statements after the `try` are in the region of that handler.
    fn walk_try(&mut self, node: Node<'_>) -> bool {
        let f = fields();
        let group = self.facts.group();
        self.scopes.open();
        let region = self.open_arm(RegionKind::Try, group, FormId::NONE, span(node));
        let mut diverges = self.in_region(region, |walker| {
            let mut resources = Vec::new();
            let before = walker.region;
            for resource in child(node, f.resources).into_iter().flat_map(named) {
                let form = walker.walk_resource(resource);
                resources.push((form, resource));
                walker.region = walker.open_region(RegionKind::With, form, span(node));
            }
            let diverges = child(node, f.body).is_some_and(|body| walker.walk_block(body));
            walker.region = before;
            for (form, resource) in resources.into_iter().rev() {
                walker.add_implicit_call(SiteKind::Leave, "close", form, span(resource));
            }
            diverges
        });
        self.scopes.close();
        let block_diverges = diverges;
        let mut falling: Vec<RegionId> = Vec::new();
        for clause in named(node).filter(|part| kind(*part) == K::CatchClause) {
            let parameter = named(clause).find(|part| kind(*part) == K::CatchParameter);
            let types = parameter.and_then(|parameter| named(parameter).find(|part| kind(*part) == K::CatchType));
            let types = match types {
                Some(types) => self.type_form(types),
                None => FormId::NONE,
            };
            let region = self.open_arm(RegionKind::Handler, group, types, span(clause));
            self.scopes.open();
            let handler_diverges = self.in_region(region, |walker| {
                if let Some(name) = parameter.and_then(|parameter| child(parameter, f.name))
                    && let Some(target) = walker.add_local(name)
                {
                    walker.bind(target, FormId::NONE, types, AssignKind::Declaration, span(name));
                }
                child(clause, f.body).is_some_and(|body| walker.walk_block(body))
            });
            if !handler_diverges {
                falling.push(region);
            }
            diverges &= handler_diverges;
            self.scopes.close();
        }
        if let Some(clause) = named(node).find(|part| kind(*part) == K::FinallyClause) {
            let region = self.open_arm(RegionKind::Finally, group, FormId::NONE, span(clause));
            let block = named(clause).find(|part| kind(*part) == K::Block);
            diverges |= self.in_region(region, |walker| block.is_some_and(|block| walker.walk_block(block)));
        }
        if let (true, false, [only]) = (block_diverges, diverges, &falling[..]) {
            self.region = *only;
        }
        diverges
    }

    /// Walks one resource of a `try`: a declaration, or a variable.
    fn walk_resource(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let Some(value) = child(node, f.value) else {
            return match named(node).next() {
                Some(value) => self.walk_value(value),
                None => self.other(),
            };
        };
        let annotation = self.declared_type(child(node, f.type_name), child(node, f.dimensions));
        let value = self.walk_value(value);
        match child(node, f.name).and_then(|name| Some((name, self.add_local(name)?))) {
            Some((name, target)) => {
                self.bind(target, value, annotation, AssignKind::Plain, span(name));
                target
            }
            None => value,
        }
    }

    /// Adds an implicit call on an operand.
    pub(crate) fn add_implicit_call(&mut self, kind: SiteKind, name: &str, operand: FormId, span: Span) {
        let name = self.facts.intern(name);
        let at = self.at();
        let flags = SiteFlags::default();
        self.facts.site(Site { kind, flags, callee: operand, name, args: List::EMPTY, at, span, name_span: span }, &[]);
    }

    /// Returns the symbol of a name that is bound; [`NO_NAME`] for `_`.
    pub(crate) fn binding_symbol(&mut self, node: Node<'_>) -> blocklint_facts::Sym {
        if self.bytes(node) == b"_" { NO_NAME } else { self.name_symbol(node) }
    }
}

/// Access to all children in a field of a node.
trait FieldChildren<'t> {
    fn children_in_field(&self, field: u16, cursor: &mut tree_sitter::TreeCursor<'t>) -> Vec<Node<'t>>;
}

impl<'t> FieldChildren<'t> for Node<'t> {
    fn children_in_field(&self, field: u16, cursor: &mut tree_sitter::TreeCursor<'t>) -> Vec<Node<'t>> {
        match std::num::NonZeroU16::new(field) {
            Some(field) => self.children_by_field_id(field, cursor).filter(|part| part.is_named()).collect(),
            None => Vec::new(),
        }
    }
}
