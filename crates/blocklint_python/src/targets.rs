//! The targets of assignments: names, attributes, subscripts, and tuples of these.

use blocklint_facts::{Arg, AssignKind, Form, FormId, SiteFlags, SiteKind, Sym, VarKind};
use ruff_python_ast::{Expr, ExprAttribute, ExprSubscript};
use ruff_text_size::{Ranged, TextRange};

use crate::dunder::Dunder;
use crate::walk::{EXPRESSION_DEPTH, Walker, span};

/// How a target is bound.
#[derive(Clone, Copy)]
pub(crate) struct Binding {
    /// Of names.
    pub(crate) vars: VarKind,
    /// True if taking a value apart is an operation of its own, which for loops it is not.
    pub(crate) unpacks: bool,
}

impl Binding {
    /// Of an assignment statement.
    pub(crate) const STATEMENT: Binding = Binding { vars: VarKind::Named, unpacks: true };
    /// Of a loop or `with`.
    pub(crate) const PART: Binding = Binding { vars: VarKind::Named, unpacks: false };
    /// Of a comprehension.
    pub(crate) const INNER: Binding = Binding { vars: VarKind::Inner, unpacks: false };
}

impl Walker<'_> {
    /// Binds the target to the value; a tuple is taken apart.
    pub(crate) fn target(&mut self, target: &Expr, value: FormId, annotation: FormId, binding: Binding) {
        match target {
            Expr::Name(name) => {
                if let Some((form, _)) = self.bind(&name.id, binding.vars) {
                    self.note_target(name.range, name.range, form);
                    self.assign(AssignKind::Plain, form, value, annotation, name.range);
                }
            }
            Expr::Attribute(node) => {
                let base = self.expr(&node.value);
                self.store_attribute(AssignKind::Plain, node, base, value, annotation);
            }
            Expr::Subscript(node) => {
                let base = self.expr(&node.value);
                let index = self.expr(&node.slice);
                self.store_subscript(AssignKind::Plain, node, base, index, value);
            }
            Expr::Tuple(node) => self.parts(&node.elts, value, binding, node.range),
            Expr::List(node) => self.parts(&node.elts, value, binding, node.range),
            Expr::Starred(node) => {
                let rest = self.facts.form(Form::Other);
                self.target(&node.value, rest, FormId::NONE, binding);
            }
            // No target: the file has a syntax error there.
            _ => {
                self.expr(target);
            }
        }
    }

    fn parts(&mut self, targets: &[Expr], value: FormId, binding: Binding, range: TextRange) {
        if self.expressions >= EXPRESSION_DEPTH {
            return self.leave_out(range);
        }
        self.expressions += 1;
        let shown = match self.facts.facts().form(value) {
            Form::Display(_, list) => Some(list),
            _ => None,
        };
        if shown.is_none() && binding.unpacks {
            self.implicit(SiteKind::Iterate, SiteFlags::default(), value, Dunder::ITER, range);
        }
        let fits = shown.filter(|list| {
            let facts = self.facts.facts();
            list.len as usize == targets.len()
                && !targets.iter().any(Expr::is_starred_expr)
                && !facts.list(*list).iter().any(|&item| matches!(facts.form(item), Form::Star(_)))
        });
        for (at, target) in targets.iter().enumerate() {
            let part = match fits {
                Some(list) => self.facts.facts().list(list)[at],
                // A comprehension, or a display with `*` in it.
                None if shown.is_some_and(|list| list.len as usize <= at || list.len == 1) => {
                    self.facts.form(Form::Element(value))
                }
                None => self.facts.form(Form::Part(value, at as u32)),
            };
            self.target(target, part, FormId::NONE, binding);
            if target.is_starred_expr() {
                // Positions after it are not known.
                for target in &targets[at + 1..] {
                    let part = self.facts.form(Form::Element(value));
                    self.target(target, part, FormId::NONE, binding);
                }
                break;
            }
        }
        self.expressions -= 1;
    }

    /// Binds a name in the present scope; nothing for the empty name of a syntax error.
    pub(crate) fn bind(&mut self, name: &str, kind: VarKind) -> Option<(FormId, blocklint_facts::VarId)> {
        if name.is_empty() {
            return None;
        }
        let sym = self.facts.intern(name);
        Some(self.scopes.bind(sym, kind, &mut self.facts))
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
        self.note_target(node.range, node.attr.range, target);
        if value.is_some() {
            self.write_site(node, base, sym);
        }
        self.assign(kind, target, value, annotation, node.range);
    }

    fn write_site(&mut self, node: &ExprAttribute, base: FormId, sym: Sym) {
        let args = self.args.len();
        self.site(SiteKind::Write, SiteFlags::default(), base, sym, node.range, node.attr.range, args);
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
        let name = self.dunder(Dunder::SETITEM);
        self.site(SiteKind::Subscript, SiteFlags::default(), base, name, node.range, node.range, args);
        let target = self.facts.form(Form::Subscript(base, index));
        self.assign(kind, target, value, FormId::NONE, node.range);
    }

    /// `del target`.
    pub(crate) fn delete(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => {
                if let Some((form, _)) = self.bind(&name.id, VarKind::Named) {
                    self.note_target(name.range, name.range, form);
                }
            }
            Expr::Attribute(node) => {
                let base = self.expr(&node.value);
                let sym = self.facts.intern(&node.attr.id);
                self.write_site(node, base, sym);
            }
            Expr::Subscript(node) => {
                let base = self.expr(&node.value);
                let index = self.expr(&node.slice);
                self.implicit_with(SiteKind::Subscript, base, Dunder::DELITEM, (index, node.slice.range()), node.range);
            }
            Expr::Tuple(node) => self.delete_all(&node.elts, target),
            Expr::List(node) => self.delete_all(&node.elts, target),
            _ => {
                self.expr(target);
            }
        }
    }

    fn delete_all(&mut self, targets: &[Expr], whole: &Expr) {
        if self.expressions >= EXPRESSION_DEPTH {
            return self.leave_out(whole.range());
        }
        self.expressions += 1;
        for target in targets {
            self.delete(target);
        }
        self.expressions -= 1;
    }
}
