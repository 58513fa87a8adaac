//! Targets of assignments, loops, `with` and `del`: names, attributes, subscripts, and tuples of these.

use blocklint_facts::{Arg, AssignKind, Form, FormId, SiteFlags, SiteKind, Sym, VarKind};
use ruff_python_ast::{Expr, ExprAttribute, ExprSubscript};
use ruff_text_size::{Ranged, TextRange};

use crate::dunder::Dunder;
use crate::walk::{EXPRESSION_DEPTH, Walker, span};

/// How a target is bound.
#[derive(Clone, Copy)]
pub(crate) struct Binding {
    /// The kind of the variables that it binds.
    pub(crate) var_kind: VarKind,
    /// True if unpacking a tuple adds a call of `__iter__`; false for loops, because they already have an `Iterate`
    /// site, and for `with`.
    pub(crate) unpacks: bool,
}

impl Binding {
    /// The targets of an assignment statement.
    pub(crate) const STATEMENT: Binding = Binding { var_kind: VarKind::Named, unpacks: true };
    /// The target of a `for` loop.
    pub(crate) const LOOP: Binding = Binding { var_kind: VarKind::Named, unpacks: false };
    /// The target of a comprehension.
    pub(crate) const COMPREHENSION: Binding = Binding { var_kind: VarKind::Inner, unpacks: false };
}

impl Walker<'_> {
    /// Binds a target to a value; a tuple or list of targets is unpacked.
    pub(crate) fn bind_target(&mut self, target: &Expr, value: FormId, annotation: FormId, binding: Binding) {
        match target {
            Expr::Name(name) => {
                if let Some((form, _)) = self.bind_name(&name.id, binding.var_kind) {
                    self.record_target(name.range, name.range, form);
                    self.add_assignment(AssignKind::Plain, form, value, annotation, name.range);
                }
            }
            Expr::Attribute(node) => {
                let base = self.walk_expr(&node.value);
                self.store_attribute(AssignKind::Plain, node, base, value, annotation);
            }
            Expr::Subscript(node) => {
                let base = self.walk_expr(&node.value);
                let index = self.walk_expr(&node.slice);
                self.store_subscript(AssignKind::Plain, node, base, index, value);
            }
            Expr::Tuple(node) => self.bind_parts(&node.elts, value, binding, node.range),
            Expr::List(node) => self.bind_parts(&node.elts, value, binding, node.range),
            Expr::Starred(node) => {
                let rest = self.facts.form(Form::Other);
                self.bind_target(&node.value, rest, FormId::NONE, binding);
            }
            // No target: the file has a syntax error there.
            _ => {
                self.walk_expr(target);
            }
        }
    }

    fn bind_parts(&mut self, targets: &[Expr], value: FormId, binding: Binding, range: TextRange) {
        if self.expression_depth >= EXPRESSION_DEPTH {
            return self.leave_out(range);
        }
        self.expression_depth += 1;
        let elements = match self.facts.facts().form(value) {
            Form::Display(_, list) => Some(list),
            _ => None,
        };
        if elements.is_none() && binding.unpacks {
            self.add_implicit_call(SiteKind::Iterate, SiteFlags::default(), value, Dunder::ITER, range);
        }
        let matching = elements.filter(|list| {
            let facts = self.facts.facts();
            list.len as usize == targets.len()
                && !targets.iter().any(Expr::is_starred_expr)
                && !facts.list(*list).iter().any(|&item| matches!(facts.form(item), Form::Star(_)))
        });
        for (index, target) in targets.iter().enumerate() {
            let part = match matching {
                Some(list) => self.facts.facts().list(list)[index],
                // The element count is unknown: a comprehension, or a starred element.
                None if elements.is_some_and(|list| list.len as usize <= index || list.len == 1) => {
                    self.facts.form(Form::Element(value))
                }
                None => self.facts.form(Form::Part(value, index as u32)),
            };
            self.bind_target(target, part, FormId::NONE, binding);
            if target.is_starred_expr() {
                // The positions behind a starred target are unknown.
                for target in &targets[index + 1..] {
                    let part = self.facts.form(Form::Element(value));
                    self.bind_target(target, part, FormId::NONE, binding);
                }
                break;
            }
        }
        self.expression_depth -= 1;
    }

    /// Binds a name in the innermost scope. Returns `None` for the empty name that the parser puts at a syntax error.
    pub(crate) fn bind_name(&mut self, name: &str, kind: VarKind) -> Option<(FormId, blocklint_facts::VarId)> {
        if name.is_empty() {
            return None;
        }
        let sym = self.facts.intern(name);
        Some(self.scopes.bind_name(sym, kind, &mut self.facts))
    }

    pub(crate) fn store_attribute(
        &mut self,
        kind: AssignKind,
        node: &ExprAttribute,
        base: FormId,
        value: FormId,
        annotation: FormId,
    ) {
        let sym = self.facts.intern(&node.attr.id);
        let target = self.facts.form(Form::Attr(base, sym));
        self.record_target(node.range, node.attr.range, target);
        if value.is_some() {
            self.add_write_site(node, base, sym);
        }
        self.add_assignment(kind, target, value, annotation, node.range);
    }

    fn add_write_site(&mut self, node: &ExprAttribute, base: FormId, sym: Sym) {
        let args = self.args.len();
        self.add_site(SiteKind::Write, SiteFlags::default(), base, sym, node.range, node.attr.range, args);
    }

    pub(crate) fn store_subscript(
        &mut self,
        kind: AssignKind,
        node: &ExprSubscript,
        base: FormId,
        index: FormId,
        value: FormId,
    ) {
        let args = self.args.len();
        let span = span(node.slice.range());
        self.args.extend([index, value].map(|value| Arg { name: Sym::NONE, value, span }));
        let name = self.dunder_symbol(Dunder::SETITEM);
        self.add_site(SiteKind::Subscript, SiteFlags::default(), base, name, node.range, node.range, args);
        let target = self.facts.form(Form::Subscript(base, index));
        self.add_assignment(kind, target, value, FormId::NONE, node.range);
    }

    /// `del target`.
    pub(crate) fn delete_target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => {
                if let Some((form, _)) = self.bind_name(&name.id, VarKind::Named) {
                    self.record_target(name.range, name.range, form);
                }
            }
            Expr::Attribute(node) => {
                let base = self.walk_expr(&node.value);
                let sym = self.facts.intern(&node.attr.id);
                self.add_write_site(node, base, sym);
            }
            Expr::Subscript(node) => {
                let base = self.walk_expr(&node.value);
                let index = self.walk_expr(&node.slice);
                self.add_implicit_call_with(
                    SiteKind::Subscript,
                    base,
                    Dunder::DELITEM,
                    (index, node.slice.range()),
                    node.range,
                );
            }
            Expr::Tuple(node) => self.delete_targets(&node.elts, target),
            Expr::List(node) => self.delete_targets(&node.elts, target),
            _ => {
                self.walk_expr(target);
            }
        }
    }

    fn delete_targets(&mut self, targets: &[Expr], whole: &Expr) {
        if self.expression_depth >= EXPRESSION_DEPTH {
            return self.leave_out(whole.range());
        }
        self.expression_depth += 1;
        for target in targets {
            self.delete_target(target);
        }
        self.expression_depth -= 1;
    }
}
