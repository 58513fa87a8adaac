//! Chains that lean to the left: calls, attributes, subscripts, operators. They can be as long as a file, so they are
//! walked by a loop.

use blocklint_facts::{Arg, Form, FormId, SiteFlags, SiteKind, Sym};
use ruff_python_ast::{Expr, ExprAttribute, ExprBinOp, ExprCall, ExprSubscript, Operator};
use ruff_text_size::Ranged;
use smallvec::SmallVec;

use crate::annotations::is_type_constructor;
use crate::dunder::Dunder;
use crate::walk::{Walker, span};

impl Walker<'_> {
    /// Returns an expression that will be called: its last attribute is no read.
    pub(crate) fn callee(&mut self, expr: &Expr) -> FormId {
        if matches!(expr, Expr::Attribute(_)) { self.chain(expr, true) } else { self.expr(expr) }
    }

    /// Walks a chain; `called` tells that its last link is the callee of something outside.
    pub(crate) fn chain(&mut self, expr: &Expr, called: bool) -> FormId {
        let mut links: SmallVec<[&Expr; 8]> = SmallVec::new();
        let mut first = expr;
        loop {
            let next = match first {
                Expr::Attribute(node) => &node.value,
                Expr::Call(node) => &node.func,
                Expr::Subscript(node) if !is_type_constructor(&node.value) => &node.value,
                Expr::BinOp(node) => &node.left,
                _ => break,
            };
            links.push(first);
            first = next;
        }
        let mut form = match first {
            Expr::Subscript(_) => self.annotation(first),
            _ => self.expr(first),
        };
        for at in (0..links.len()).rev() {
            form = match links[at] {
                Expr::Attribute(node) => {
                    let called = if at == 0 { called } else { matches!(links[at - 1], Expr::Call(_)) };
                    self.attribute(node, form, called)
                }
                Expr::Call(node) => self.call(node, form),
                Expr::Subscript(node) => self.subscript(node, form),
                Expr::BinOp(node) => self.binary(node, form),
                // Only these are links.
                _ => form,
            };
            self.note(links[at], form);
        }
        form
    }

    fn attribute(&mut self, node: &ExprAttribute, base: FormId, called: bool) -> FormId {
        if node.attr.id.is_empty() {
            return self.facts.form(Form::Other);
        }
        let sym = self.facts.intern(&node.attr.id);
        if !called {
            let args = self.args.len();
            self.site(SiteKind::Read, SiteFlags::default(), base, sym, node.range, node.attr.range, args);
        }
        self.facts.form(Form::Attr(base, sym))
    }

    fn call(&mut self, node: &ExprCall, callee: FormId) -> FormId {
        let args = self.args.len();
        let casts = matches!(&*node.func, Expr::Name(name) if name.id == "cast")
            || matches!(&*node.func, Expr::Attribute(attribute) if attribute.attr.id == "cast");
        for (at, argument) in node.arguments.args.iter().enumerate() {
            // `typing.cast("T", x)` names a type in a string.
            let value = match argument {
                Expr::StringLiteral(_) if casts && at == 0 => self.annotation(argument),
                _ => self.expr(argument),
            };
            self.args.push(Arg { name: Sym::NONE, value, span: span(argument.range()) });
        }
        for keyword in &node.arguments.keywords {
            let value = match (&keyword.arg, &keyword.value) {
                (Some(name), Expr::StringLiteral(_)) if name.id == "bound" => self.annotation(&keyword.value),
                _ => self.expr(&keyword.value),
            };
            let (name, value) = match &keyword.arg {
                Some(name) => (self.facts.intern(&name.id), value),
                None => (Sym::NONE, self.facts.form(Form::StarStar(value))),
            };
            self.args.push(Arg { name, value, span: span(keyword.value.range()) });
        }
        let (name, name_range) = match &*node.func {
            Expr::Name(name) => (&*name.id, name.range),
            Expr::Attribute(attribute) => (&*attribute.attr.id, attribute.attr.range),
            other => ("", other.range()),
        };
        let name = self.facts.intern(name);
        let site = self.site(SiteKind::Call, SiteFlags::default(), callee, name, node.range(), name_range, args);
        self.facts.form(Form::Result(site))
    }

    fn subscript(&mut self, node: &ExprSubscript, base: FormId) -> FormId {
        let index = self.expr(&node.slice);
        self.implicit_with(SiteKind::Subscript, base, Dunder::GETITEM, (index, node.slice.range()), node.range);
        self.facts.form(Form::Subscript(base, index))
    }

    fn binary(&mut self, node: &ExprBinOp, left: FormId) -> FormId {
        let right = self.expr(&node.right);
        let formats =
            node.op == Operator::Mod && matches!(self.facts.facts().form(left), Form::Str(_) | Form::Bytes(_));
        if formats {
            self.formatted_by_percent(right, node.right.range());
            return self.facts.form(Form::Other);
        }
        if self.is_literal(left) && self.is_literal(right) {
            return self.folded(left, node.op, right);
        }
        let site = self.implicit_with(
            SiteKind::Operator,
            left,
            Dunder::binary(node.op),
            (right, node.right.range()),
            node.left.range(),
        );
        if node.op == Operator::BitOr && self.may_be_type(left) && self.may_be_type(right) {
            return self.join(left, right);
        }
        self.facts.form(Form::Result(site))
    }

    fn may_be_type(&self, form: FormId) -> bool {
        matches!(
            self.facts.facts().form(form),
            Form::Var(_) | Form::Name(_) | Form::Attr(..) | Form::Subscript(..) | Form::Join(_) | Form::None
        )
    }

    /// Returns the operands joined by `|`, flat up to a few members: copying each list into the next would make a long
    /// chain quadratic.
    pub(crate) fn join(&mut self, left: FormId, right: FormId) -> FormId {
        let items = self.items.len();
        for operand in [left, right] {
            match self.facts.facts().form(operand) {
                Form::Join(list) if list.len < 16 => {
                    let members = self.facts.facts().list(list);
                    self.items.extend_from_slice(members);
                }
                _ => self.items.push(operand),
            }
        }
        let list = self.list(items);
        self.facts.form(Form::Join(list))
    }
}
