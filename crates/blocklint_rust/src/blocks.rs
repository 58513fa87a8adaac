//! Blocks: statements, `let`, and the value of the tail expression.

use blocklint_core::Span;
use blocklint_facts::{AssignKind, Exit, ExitKind, Form, FormId, RegionId, RegionKind, SiteFlags, VarKind};
use tree_sitter::Node;

use crate::attrs::Attrs;
use crate::kinds::{K, child, fields, kind, named};
use crate::scope::ScopeKind;
use crate::walker::{Breaks, Walker, Walking, span};

/// The value of a block.
pub(crate) struct BlockValue {
    /// The value; [`FormId::NONE`] if control never reaches the end.
    pub(crate) form: FormId,
    /// True if the block has a tail expression.
    pub(crate) has_tail: bool,
    /// The span of the tail expression, or of the block.
    pub(crate) span: Span,
}

/// The arm of an `if` that covers the statements after it, because its other branch always leaves the block:
/// `if x { return; }`.
#[derive(Clone, Copy)]
pub(crate) struct FollowingArm {
    pub(crate) kind: RegionKind,
    pub(crate) group: u32,
    pub(crate) test: FormId,
}

impl Walker<'_> {
    /// Walks a block in a scope of its own.
    pub(crate) fn walk_block(&mut self, node: Node<'_>) -> BlockValue {
        let result = self.one_level_deeper(node, |walker| {
            walker.scopes.open(ScopeKind::Open);
            let region = walker.region;
            // A label is the first child.
            let label = named(node).next().filter(|part| kind(*part) == K::Label).map(|label| walker.label_name(label));
            let is_labelled = label.is_some();
            if is_labelled {
                walker.breaks.push(Breaks { label, ..Breaks::default() });
            }
            let owned_before = walker.owned.len();
            let mut value = walker.walk_statements(node);
            walker.end_owned_locals(owned_before);
            if is_labelled && let Some(mut breaks) = walker.breaks.pop().filter(|breaks| breaks.is_left) {
                breaks.values.push(value.form);
                value.form = walker.ends(breaks.values);
                value.has_tail = true;
            }
            walker.region = region;
            walker.scopes.close();
            value
        });
        result.unwrap_or_else(|| BlockValue { form: self.other(), has_tail: false, span: span(node) })
    }

    /// Walks a block that is an expression. If it has a `let`, it gets a region, at whose end the locals are dropped.
    pub(crate) fn walk_scoped_block(&mut self, node: Node<'_>) -> FormId {
        if !named(node).any(|part| kind(part) == K::LetDeclaration) {
            return self.walk_block(node).form;
        }
        let region = self.open_region(RegionKind::Block, FormId::NONE, span(node));
        self.in_region(region, |walker| walker.walk_block(node).form)
    }

    /// Adds a region for a `match`, `if let`, `while let` or `for` whose subject creates temporary values, which live
    /// to the end of the whole expression. Returns `None` if the subject creates none. [`Self::set_subject`] sets its
    /// test.
    pub(crate) fn add_subject_region(&mut self, whole: Node<'_>, subject: Node<'_>) -> Option<RegionId> {
        let creates_none = matches!(
            kind(subject),
            K::Identifier | K::Field | K::SelfWord | K::Await | K::RangeExpr | K::ScopedIdentifier | K::TupleExpr
        );
        (!creates_none).then(|| self.open_region(RegionKind::Block, FormId::NONE, span(whole)))
    }

    /// Walks the statements of a block. The current region stays that of the last statement.
    fn walk_statements(&mut self, node: Node<'_>) -> BlockValue {
        let parts: Vec<Node<'_>> = named(node).filter(|part| kind(*part) != K::Label).collect();
        self.declare_items_among(parts.iter().copied());
        let parts = self.without_test_parts(parts);
        let unit = self.form(Form::None);
        let mut value = BlockValue { form: unit, has_tail: false, span: span(node) };
        let mut attrs = Attrs::default();
        let end = node.end_byte();
        let mut is_ended = false;
        for (index, &part) in parts.iter().enumerate() {
            let is_last = index + 1 == parts.len();
            let mut diverges = false;
            // Statements behind `return …;` never run, but items that are declared there exist.
            if is_ended && kind(part) != K::AttributeItem && !self.is_item(part) {
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
                    diverges = leaves;
                    self.open_arms_after(after.as_slice(), part.end_byte(), end);
                }
                K::ExprStatement => {
                    let Some(inner) = named(part).next() else { continue };
                    let has_semicolon = part
                        .child_count()
                        .checked_sub(1)
                        .and_then(|last| part.child(last))
                        .is_some_and(|sign| kind(sign) == K::Semicolon);
                    if is_last && !has_semicolon {
                        value = BlockValue { form: self.walk_expr(inner), has_tail: true, span: span(inner) };
                        diverges = value.form.is_none();
                    } else {
                        diverges = self.walk_statement(inner, end);
                    }
                }
                _ if self.is_item(part) => {
                    let item_attrs = std::mem::take(&mut attrs);
                    self.walk_item(part, &item_attrs);
                }
                _ if is_last && !part.is_error() => {
                    value = BlockValue { form: self.walk_expr(part), has_tail: true, span: span(part) };
                    diverges = value.form.is_none();
                }
                _ => diverges = self.walk_statement(part, end),
            }
            attrs.nodes.clear();
            if diverges && !value.has_tail {
                value.form = FormId::NONE;
            }
            is_ended |= diverges && !value.has_tail;
        }
        value
    }

    /// Returns the parts of a block without the statements that only a build for tests compiles: `#[cfg(test)] { … }`.
    /// Items stay, because they have a flag.
    fn without_test_parts<'t>(&self, parts: Vec<Node<'t>>) -> Vec<Node<'t>> {
        // Few blocks have attributes.
        if self.is_test || !parts.iter().any(|part| kind(*part) == K::AttributeItem) {
            return parts;
        }
        let mut kept = Vec::new();
        // The index at which the attributes of the next part begin.
        let mut attributes_start = 0;
        for part in parts {
            let is_attribute = kind(part) == K::AttributeItem;
            let is_left_out = !is_attribute
                && !self.is_test
                && !self.is_item(part)
                && kept[attributes_start..].iter().any(|&attribute| self.is_test_attribute(attribute));
            if is_left_out {
                kept.truncate(attributes_start);
                continue;
            }
            kept.push(part);
            if !is_attribute {
                attributes_start = kept.len();
            }
        }
        kept
    }

    /// Walks an expression statement. Returns true if control never reaches its end.
    fn walk_statement(&mut self, node: Node<'_>, end: usize) -> bool {
        if node.is_error() {
            for part in named(node) {
                self.walk_fragment(part);
            }
            return false;
        }
        if kind(node) == K::If {
            let mut after = Vec::new();
            let form =
                self.one_level_deeper(node, |walker| walker.walk_if(node, &mut after)).unwrap_or_else(|| self.other());
            self.open_arms_after(&after, node.end_byte(), end);
            return form.is_none();
        }
        if kind(node) == K::Match {
            let mut after = Vec::new();
            let form = self
                .one_level_deeper(node, |walker| walker.walk_match(node, &mut after))
                .unwrap_or_else(|| self.other());
            self.flag_discarded(form);
            self.open_arms_after(&after, node.end_byte(), end);
            return form.is_none();
        }
        let form = self.walk_expr(node);
        self.flag_discarded(form);
        form.is_none()
    }

    /// Flags the call whose result a statement leaves unused.
    fn flag_discarded(&mut self, form: FormId) {
        if let Some(site) = self.site_of(form) {
            self.flag(site, SiteFlags::DISCARDED);
        }
    }

    /// Opens the arms in which the rest of the block runs.
    fn open_arms_after(&mut self, after: &[FollowingArm], start: usize, end: usize) {
        for arm in after {
            let span = Span::new(start as u32, end as u32);
            self.region = self.open_arm(arm.kind, arm.group, arm.test, span);
        }
    }

    /// True if a node is an item, or a declaration in a trait or an impl block.
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

    /// Walks a `let`. Returns true if its value diverges, and the arm of the code after a `let … else`.
    pub(crate) fn walk_let(&mut self, node: Node<'_>) -> (bool, Option<FollowingArm>) {
        let f = fields();
        let Some(pattern) = child(node, f.pattern) else { return (false, None) };
        let annotation = self.type_form_in_field(node, f.type_name);
        let Some(value_node) = child(node, f.value) else {
            // `let x;` is assigned later.
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
        let diverges = value.is_none();
        let value = if diverges { self.other() } else { value };
        let mut after = None;
        if let Some(alternative) = child(node, f.alternative) {
            let test = self.pattern_test(pattern, value);
            let group = self.facts.group();
            let region = self.open_arm(RegionKind::Else, group, test, span(alternative));
            self.in_region(region, |walker| walker.walk_block(alternative));
            after = Some(FollowingArm { kind: RegionKind::Then, group, test });
        }
        let name_pattern = crate::items::strip_mut(pattern);
        if kind(name_pattern) == K::Identifier {
            let before = std::mem::replace(&mut self.pattern_start, u32::MAX);
            self.bind_name(name_pattern, value, annotation);
            self.pattern_start = before;
            self.record_owned_local(name_pattern, value_node);
        } else {
            let value = match annotation {
                FormId::NONE => value,
                ty => self.form(Form::Cast(value, ty)),
            };
            self.bind_pattern(pattern, value);
        }
        (diverges, after)
    }

    /// Adds an exit of the current body.
    pub(crate) fn add_exit(&mut self, kind: ExitKind, value: FormId, span: Span) {
        let at = self.at();
        self.facts.exit(Exit { kind, value, at, span });
    }

    /// Returns the name of a label, without the quote.
    pub(crate) fn label_name(&self, node: Node<'_>) -> String {
        self.text(node).trim_start_matches('\'').to_owned()
    }
}
