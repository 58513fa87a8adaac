//! Blocks: statements in order, what a `let` binds, and the value at the end.

use blocklint_core::Span;
use blocklint_facts::{AssignKind, Exit, ExitKind, Form, FormId, RegionId, RegionKind, SiteFlags, VarKind};
use tree_sitter::Node;

use crate::attrs::Attrs;
use crate::kinds::{K, child, fields, kind, named};
use crate::scope::ScopeKind;
use crate::walker::{Breaks, Walker, Walking, span};

/// The value of a block.
pub(crate) struct BlockValue {
    /// Its value; none if its end is never reached.
    pub(crate) form: FormId,
    /// True if an expression stands at its end.
    pub(crate) tail: bool,
    /// Of that expression, or of the block.
    pub(crate) span: Span,
}

/// The arm that the rest of a block runs in, after a branch one side of which always leaves.
#[derive(Clone, Copy)]
pub(crate) struct After {
    pub(crate) kind: RegionKind,
    pub(crate) group: u32,
    pub(crate) test: FormId,
}

impl Walker<'_> {
    /// Walks a block in a scope of its own.
    pub(crate) fn walk_block(&mut self, node: Node<'_>) -> BlockValue {
        let result = self.deeper(node, |walker| {
            walker.scopes.open(ScopeKind::Open);
            let region = walker.region;
            // It comes first of all.
            let label = named(node).next().filter(|part| kind(*part) == K::Label).map(|label| walker.label_name(label));
            let labelled = label.is_some();
            if labelled {
                walker.breaks.push(Breaks { label, ..Breaks::default() });
            }
            let owned = walker.owned.len();
            let mut value = walker.walk_statements(node);
            walker.end_owned_locals(owned);
            if labelled && let Some(mut breaks) = walker.breaks.pop().filter(|breaks| breaks.any) {
                breaks.values.push(value.form);
                value.form = walker.ends(breaks.values);
                value.tail = true;
            }
            walker.region = region;
            walker.scopes.close();
            value
        });
        result.unwrap_or_else(|| BlockValue { form: self.other(), tail: false, span: span(node) })
    }

    /// Returns a block that is an expression: what is bound in it lives to its end.
    pub(crate) fn walk_scoped_block(&mut self, node: Node<'_>) -> FormId {
        if !named(node).any(|part| kind(part) == K::LetDeclaration) {
            return self.walk_block(node).form;
        }
        let region = self.region_here(RegionKind::Block, FormId::NONE, span(node));
        self.within(region, |walker| walker.walk_block(node).form)
    }

    /// Returns the region of a whole `match`, `if let`, `while let` or `for` whose subject makes values that live as
    /// long as it does; the current one where it makes none. Its test is the subject, once that is known.
    pub(crate) fn add_subject_region(&mut self, whole: Node<'_>, subject: Node<'_>) -> Option<RegionId> {
        let plain = matches!(
            kind(subject),
            K::Identifier | K::Field | K::SelfWord | K::Await | K::RangeExpr | K::ScopedIdentifier | K::TupleExpr
        );
        (!plain).then(|| self.region_here(RegionKind::Block, FormId::NONE, span(whole)))
    }

    /// Returns the statements of a block; leaves the region in that of the last.
    fn walk_statements(&mut self, node: Node<'_>) -> BlockValue {
        let parts: Vec<Node<'_>> = named(node).filter(|part| kind(*part) != K::Label).collect();
        self.declare_items_among(parts.iter().copied());
        let parts = self.without_test_parts(parts);
        let unit = self.form(Form::None);
        let mut value = BlockValue { form: unit, tail: false, span: span(node) };
        let mut attrs = Attrs::default();
        let end = node.end_byte();
        let mut ended = false;
        for (at, &part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let mut never = false;
            // Code behind `return …;` never runs; items that are declared there are known all the same.
            if ended && kind(part) != K::AttributeItem && !self.is_item(part) {
                attrs.nodes.clear();
                continue;
            }
            match kind(part) {
                K::AttributeItem => {
                    attrs.nodes.push(part);
                    continue;
                }
                K::EmptyStatement | K::InnerAttribute | K::UseDeclaration | K::ExternCrate => {}
                K::LetDeclaration => {
                    let (leaves, after) = self.walk_let(part);
                    never = leaves;
                    self.open_arms_after(after.as_slice(), part.end_byte(), end);
                }
                K::ExprStatement => {
                    let Some(inner) = named(part).next() else { continue };
                    let closed = part
                        .child_count()
                        .checked_sub(1)
                        .and_then(|last| part.child(last))
                        .is_some_and(|sign| kind(sign) == K::Semicolon);
                    if last && !closed {
                        value = BlockValue { form: self.walk_expr(inner), tail: true, span: span(inner) };
                        never = value.form.is_none();
                    } else {
                        never = self.walk_statement(inner, end);
                    }
                }
                _ if self.is_item(part) => {
                    let own = std::mem::take(&mut attrs);
                    self.walk_item(part, &own);
                }
                _ if last && !part.is_error() => {
                    value = BlockValue { form: self.walk_expr(part), tail: true, span: span(part) };
                    never = value.form.is_none();
                }
                _ => never = self.walk_statement(part, end),
            }
            attrs.nodes.clear();
            if never && !value.tail {
                value.form = FormId::NONE;
            }
            ended |= never && !value.tail;
        }
        value
    }

    /// Returns the parts of a block without those that only a build for tests compiles: `#[cfg(test)] { … }` beside its
    /// `#[cfg(not(test))]`. Items are kept, and told apart by their flag.
    fn without_test_parts<'t>(&self, parts: Vec<Node<'t>>) -> Vec<Node<'t>> {
        // Hardly a block holds one.
        if self.test || !parts.iter().any(|part| kind(*part) == K::AttributeItem) {
            return parts;
        }
        let mut kept = Vec::new();
        // Where the attributes of the next part begin.
        let mut from = 0;
        for part in parts {
            let is_attribute = kind(part) == K::AttributeItem;
            let left_out = !is_attribute
                && !self.test
                && !self.is_item(part)
                && kept[from..].iter().any(|&attribute| self.is_test_attribute(attribute));
            if left_out {
                kept.truncate(from);
                continue;
            }
            kept.push(part);
            if !is_attribute {
                from = kept.len();
            }
        }
        kept
    }

    /// Reads an expression whose result is dropped; true if it never ends.
    fn walk_statement(&mut self, node: Node<'_>, end: usize) -> bool {
        if node.is_error() {
            for part in named(node) {
                self.walk_fragment(part);
            }
            return false;
        }
        if kind(node) == K::If {
            let mut after = Vec::new();
            let form = self.deeper(node, |walker| walker.walk_if(node, &mut after)).unwrap_or_else(|| self.other());
            self.open_arms_after(&after, node.end_byte(), end);
            return form.is_none();
        }
        let form = self.walk_expr(node);
        if let Some(site) = self.site_of(form) {
            self.flag(site, SiteFlags::DISCARDED);
        }
        form.is_none()
    }

    /// The rest of the block runs in these arms.
    fn open_arms_after(&mut self, after: &[After], start: usize, end: usize) {
        for arm in after {
            let span = Span::new(start as u32, end as u32);
            self.region = self.arm_here(arm.kind, arm.group, arm.test, span);
        }
    }

    /// True if a node is an item, or what stands like one.
    pub(crate) fn is_item(&self, node: Node<'_>) -> bool {
        matches!(
            kind(node),
            K::FunctionItem
                | K::FunctionSignature
                | K::StructItem
                | K::UnionItem
                | K::EnumItem
                | K::TraitItem
                | K::ImplItem
                | K::TypeItem
                | K::ModItem
                | K::ConstItem
                | K::StaticItem
                | K::ForeignMod
                | K::MacroDefinition
                | K::AssociatedType
        )
    }

    /// Reads a `let`. Returns true if its value never comes, and the arm that follows a `let … else`.
    pub(crate) fn walk_let(&mut self, node: Node<'_>) -> (bool, Option<After>) {
        let f = fields();
        let Some(pattern) = child(node, f.pattern) else { return (false, None) };
        let annotation = self.type_form_in_field(node, f.type_name);
        let Some(value_node) = child(node, f.value) else {
            // `let x;` is set later.
            let pattern = crate::items::strip_mut(pattern);
            if kind(pattern) == K::Identifier {
                let name = self.name_symbol(pattern);
                let var = self.new_var(name, VarKind::Inner);
                self.scopes.add_local(name, var);
                let target = self.var_form(var);
                self.bind(target, FormId::NONE, annotation, AssignKind::Declaration, span(pattern));
            }
            return (false, None);
        };
        let value = self.walk_expr(value_node);
        let never = value.is_none();
        let value = if never { self.other() } else { value };
        let mut after = None;
        if let Some(alternative) = child(node, f.alternative) {
            let test = self.pattern_test(pattern, value);
            let group = self.facts.group();
            let region = self.arm_here(RegionKind::Else, group, test, span(alternative));
            self.within(region, |walker| walker.walk_block(alternative));
            after = Some(After { kind: RegionKind::Then, group, test });
        }
        let simple = crate::items::strip_mut(pattern);
        if kind(simple) == K::Identifier {
            let before = std::mem::replace(&mut self.pattern_start, u32::MAX);
            self.bind_name(simple, value, annotation);
            self.pattern_start = before;
            self.record_owned_local(simple, value_node);
        } else {
            let value = match annotation {
                FormId::NONE => value,
                ty => self.form(Form::Cast(value, ty)),
            };
            self.bind_pattern(pattern, value);
        }
        (never, after)
    }

    /// Records a way out of the current body.
    pub(crate) fn add_exit(&mut self, kind: ExitKind, value: FormId, span: Span) {
        let at = self.at();
        self.facts.exit(Exit { kind, value, at, span });
    }

    /// Returns a label's name.
    pub(crate) fn label_name(&self, node: Node<'_>) -> String {
        self.text(node).trim_start_matches('\'').to_owned()
    }
}
