//! Postfix chains and left-associative operators: calls, attributes, subscripts, `a + b + …`. A chain can be as long as
//! a file, so it is walked by a loop and not by recursion.

use blocklint_facts::{Arg, Form, FormId, SiteFlags, SiteKind, Sym};
use ruff_python_ast::{Expr, ExprAttribute, ExprBinOp, ExprCall, ExprSubscript, Operator};
use ruff_text_size::Ranged;
use smallvec::SmallVec;

use crate::annotations::is_type_constructor;
use crate::dunder::Dunder;
use crate::walk::{Walker, span};

impl Walker<'_> {
    /// Walks the callee of a call or decorator, whose last attribute is no read of a property.
    pub(crate) fn walk_callee(&mut self, expr: &Expr) -> FormId {
        if matches!(expr, Expr::Attribute(_)) { self.walk_chain(expr, true) } else { self.walk_expr(expr) }
    }

    /// Walks a chain. If it `is_callee`, its last attribute is no read of a property.
    pub(crate) fn walk_chain(&mut self, expr: &Expr, is_callee: bool) -> FormId {
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
            Expr::Subscript(_) => self.walk_annotation(first),
            _ => self.walk_expr(first),
        };
        for index in (0..links.len()).rev() {
            form = match links[index] {
                Expr::Attribute(node) => {
                    let is_callee = if index == 0 { is_callee } else { matches!(links[index - 1], Expr::Call(_)) };
                    self.walk_attribute(node, form, is_callee)
                }
                Expr::Call(node) => self.walk_call(node, form),
                Expr::Subscript(node) => self.walk_subscript(node, form),
                Expr::BinOp(node) => self.walk_binary_op(node, form),
                // Only these are links.
                _ => form,
            };
            self.record_expression(links[index], form);
        }
        form
    }

    fn walk_attribute(&mut self, node: &ExprAttribute, base: FormId, is_callee: bool) -> FormId {
        if node.attr.id.is_empty() {
            return self.facts.form(Form::Other);
        }
        let sym = self.facts.intern(&node.attr.id);
        if !is_callee {
            let args = self.args.len();
            self.add_site(SiteKind::Read, SiteFlags::default(), base, sym, node.range, node.attr.range, args);
        }
        self.facts.form(Form::Attr(base, sym))
    }

    fn walk_call(&mut self, node: &ExprCall, callee: FormId) -> FormId {
        let args = self.args.len();
        let is_cast = matches!(&*node.func, Expr::Name(name) if name.id == "cast")
            || matches!(&*node.func, Expr::Attribute(attribute) if attribute.attr.id == "cast");
        for (index, argument) in node.arguments.args.iter().enumerate() {
            // The first argument of `typing.cast("T", x)` is a type in a string.
            let value = match argument {
                Expr::StringLiteral(_) if is_cast && index == 0 => self.walk_annotation(argument),
                _ => self.walk_expr(argument),
            };
            self.args.push(Arg { name: Sym::NONE, value, span: span(argument.range()) });
        }
        for keyword in &node.arguments.keywords {
            let value = match (&keyword.arg, &keyword.value) {
                (Some(name), Expr::StringLiteral(_)) if name.id == "bound" => self.walk_annotation(&keyword.value),
                _ => self.walk_expr(&keyword.value),
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
        let site = self.add_site(SiteKind::Call, SiteFlags::default(), callee, name, node.range(), name_range, args);
        self.facts.form(Form::Result(site))
    }

    fn walk_subscript(&mut self, node: &ExprSubscript, base: FormId) -> FormId {
        let index = self.walk_expr(&node.slice);
        self.add_implicit_call_with(
            SiteKind::Subscript,
            base,
            Dunder::GETITEM,
            (index, node.slice.range()),
            node.range,
        );
        self.facts.form(Form::Subscript(base, index))
    }

    fn walk_binary_op(&mut self, node: &ExprBinOp, left: FormId) -> FormId {
        let right = self.walk_expr(&node.right);
        let is_formatting =
            node.op == Operator::Mod && matches!(self.facts.facts().form(left), Form::Str(_) | Form::Bytes(_));
        if is_formatting {
            self.add_percent_format_calls(right, node.right.range());
            return self.facts.form(Form::Other);
        }
        if self.is_literal(left) && self.is_literal(right) {
            return self.fold_constants(left, node.op, right);
        }
        let site = self.add_implicit_call_with(
            SiteKind::Operator,
            left,
            Dunder::from_binary(node.op),
            (right, node.right.range()),
            node.left.range(),
        );
        if node.op == Operator::BitOr && self.may_be_type(left) && self.may_be_type(right) {
            return self.join_types(left, right);
        }
        self.facts.form(Form::Result(site))
    }

    fn may_be_type(&self, form: FormId) -> bool {
        matches!(
            self.facts.facts().form(form),
            Form::Var(_) | Form::Name(_) | Form::Attr(..) | Form::Subscript(..) | Form::Join(_) | Form::None
        )
    }

    /// Returns the union `left | right`. It is flat up to 16 members only, because copying each list into the next
    /// would make a long chain quadratic.
    pub(crate) fn join_types(&mut self, left: FormId, right: FormId) -> FormId {
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
        let list = self.finish_list(items);
        self.facts.form(Form::Join(list))
    }
}
