//! Expressions: each operation becomes a call site, each value a form.

use blocklint_facts::{AltKind, Comparison, DisplayKind, ExitKind, Form, FormId, RegionKind, SiteFlags, SiteKind};
use ruff_python_ast::{
    BoolOp, CmpOp, ConversionFlag, Expr, ExprAwait, ExprBoolOp, ExprCompare, ExprDict, ExprIf, ExprNamed, ExprUnaryOp,
    InterpolatedStringElement, UnaryOp,
};
use ruff_text_size::Ranged;

use crate::dunder::Dunder;
use crate::literals::runs_no_code;
use crate::walk::{CONDITIONS_IN_A_ROW, EXPRESSION_DEPTH, Walker, span};

impl Walker<'_> {
    /// Walks an expression in the order of evaluation and returns its form.
    pub(crate) fn walk_expr(&mut self, expr: &Expr) -> FormId {
        match expr {
            Expr::Name(name) => {
                let form = self.load_name(&name.id);
                self.record_expression(expr, form);
                form
            }
            Expr::NoneLiteral(_) => self.facts.form(Form::None),
            Expr::BooleanLiteral(literal) => self.facts.form(Form::Bool(literal.value)),
            Expr::NumberLiteral(literal) => self.number_form(&literal.value),
            Expr::StringLiteral(literal) => self.string_form(literal),
            Expr::BytesLiteral(literal) => self.bytes_form(literal),
            Expr::EllipsisLiteral(_) => self.facts.form(Form::Ellipsis),
            Expr::IpyEscapeCommand(_) => self.facts.form(Form::Other),
            _ if self.expression_depth >= EXPRESSION_DEPTH => {
                self.leave_out(expr);
                self.facts.form(Form::Other)
            }
            _ => {
                self.expression_depth += 1;
                let form = self.walk_compound_expr(expr);
                self.expression_depth -= 1;
                // The walk of a chain records each of its links.
                if !matches!(expr, Expr::Call(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::BinOp(_)) {
                    self.record_expression(expr, form);
                }
                form
            }
        }
    }

    fn walk_compound_expr(&mut self, expr: &Expr) -> FormId {
        match expr {
            Expr::Call(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::BinOp(_) => self.walk_chain(expr, false),
            Expr::Await(node) => self.walk_await(node),
            Expr::BoolOp(node) => self.walk_bool_op(node),
            Expr::Compare(node) => self.walk_compare(node),
            Expr::UnaryOp(node) => self.walk_unary_op(node),
            Expr::If(node) => self.walk_ternary(node),
            Expr::Named(node) => self.walk_walrus(node),
            Expr::Lambda(node) => self.walk_lambda(node),
            Expr::List(node) => self.walk_display(DisplayKind::List, &node.elts),
            Expr::Tuple(node) => self.walk_display(DisplayKind::Tuple, &node.elts),
            Expr::Set(node) => self.walk_display(DisplayKind::Set, &node.elts),
            Expr::Dict(node) => self.walk_dict(node),
            Expr::ListComp(node) => {
                self.walk_list_comprehension(DisplayKind::List, &node.elt, &node.generators, node.range)
            }
            Expr::SetComp(node) => {
                self.walk_list_comprehension(DisplayKind::Set, &node.elt, &node.generators, node.range)
            }
            Expr::DictComp(node) => self.walk_dict_comprehension(node),
            Expr::Generator(node) => self.walk_generator(node),
            Expr::Yield(node) => {
                let value = node.value.as_deref().map_or(FormId::NONE, |value| self.walk_expr(value));
                self.yields = true;
                self.add_exit(ExitKind::Yield, value, node.range);
                self.facts.form(Form::Other)
            }
            Expr::YieldFrom(node) => {
                let value = self.walk_expr(&node.value);
                self.yields = true;
                self.add_implicit_call(
                    SiteKind::Iterate,
                    SiteFlags::default(),
                    value,
                    Dunder::ITER,
                    node.value.range(),
                );
                self.add_exit(ExitKind::YieldFrom, value, node.range);
                self.facts.form(Form::Other)
            }
            Expr::Starred(node) => self.walk_starred(&node.value),
            Expr::Slice(node) => {
                for part in [&node.lower, &node.upper, &node.step].into_iter().flatten() {
                    self.walk_expr(part);
                }
                self.facts.form(Form::Other)
            }
            Expr::FString(node) => {
                for part in node.value.f_strings() {
                    self.walk_interpolations(&part.elements, true);
                }
                self.f_string_form(&node.value)
            }
            Expr::TString(node) => {
                for part in node.value.iter() {
                    self.walk_interpolations(&part.elements, false);
                }
                self.facts.form(Form::Other)
            }
            // Names and literals were handled before.
            _ => self.facts.form(Form::Other),
        }
    }

    /// Returns the form of a name that is read.
    pub(crate) fn load_name(&mut self, id: &str) -> FormId {
        // The parser puts an empty name where an expression is missing.
        if id.is_empty() {
            return self.facts.form(Form::Other);
        }
        let sym = self.facts.intern(id);
        self.scopes.load_name(sym, &mut self.facts)
    }

    fn walk_await(&mut self, node: &ExprAwait) -> FormId {
        self.awaits = true;
        let value = self.walk_expr(&node.value);
        if matches!(*node.value, Expr::Call(_)) {
            self.set_site_flags(value, SiteFlags::AWAITED);
        } else {
            self.add_implicit_call(SiteKind::Await, SiteFlags::AWAITED, value, Dunder::AWAIT, node.value.range());
        }
        self.facts.form(Form::Await(value))
    }

    fn walk_bool_op(&mut self, node: &ExprBoolOp) -> FormId {
        let (kind, arm) = match node.op {
            BoolOp::And => (AltKind::And, RegionKind::Then),
            BoolOp::Or => (AltKind::Or, RegionKind::Else),
        };
        let outer = self.region;
        let items = self.items.len();
        // Index of the next operand whose region is not open yet; regions are opened only before operands that run
        // code.
        let mut opened = items;
        let end = node.range.end();
        for (index, operand) in node.values.iter().enumerate() {
            if !runs_no_code(operand) {
                while opened < self.items.len() && opened - items < CONDITIONS_IN_A_ROW as usize {
                    let test = self.items[opened];
                    self.open_region(arm, test, ruff_text_size::TextRange::new(operand.start(), end));
                    opened += 1;
                }
            }
            let form = self.walk_expr(operand);
            // The last operand is the result; the code that tests the result marks it as tested.
            if index + 1 < node.values.len() {
                self.add_truth_test(operand, form);
            }
            self.items.push(form);
        }
        self.region = outer;
        let list = self.finish_list(items);
        self.facts.form(Form::Alt(kind, list))
    }

    fn walk_ternary(&mut self, node: &ExprIf) -> FormId {
        let test = self.walk_test(&node.test);
        let group = self.facts.group();
        let arm = |walker: &mut Self, kind, part: &Expr| {
            if runs_no_code(part) {
                return walker.walk_expr(part);
            }
            let outer = walker.open_arm(kind, group, test, span(part.range()));
            let form = walker.walk_expr(part);
            walker.region = outer;
            form
        };
        let then = arm(self, RegionKind::Then, &node.body);
        let otherwise = arm(self, RegionKind::Else, &node.orelse);
        let list = self.facts.list(&[test, then, otherwise]);
        self.facts.form(Form::Alt(AltKind::Ternary, list))
    }

    fn walk_compare(&mut self, node: &ExprCompare) -> FormId {
        let mut left = self.walk_expr(&node.left);
        let mut left_range = node.left.range();
        let mut first = None;
        for (operator, operand) in node.ops.iter().zip(&node.comparators) {
            let right = self.walk_expr(operand);
            let comparison = match operator {
                CmpOp::Eq => Comparison::Eq,
                CmpOp::NotEq => Comparison::NotEq,
                CmpOp::Lt => Comparison::Less,
                CmpOp::LtE => Comparison::LessEq,
                CmpOp::Gt => Comparison::Greater,
                CmpOp::GtE => Comparison::GreaterEq,
                CmpOp::Is => Comparison::Is,
                CmpOp::IsNot => Comparison::IsNot,
                CmpOp::In => Comparison::In,
                CmpOp::NotIn => Comparison::NotIn,
            };
            if matches!(operator, CmpOp::In | CmpOp::NotIn) && !self.is_builtin_container(right) {
                self.add_implicit_call_with(
                    SiteKind::Operator,
                    right,
                    Dunder::CONTAINS,
                    (left, left_range),
                    operand.range(),
                );
            }
            if let Some(method) = Dunder::from_comparison(*operator)
                && self.comparison_may_call(left, right)
            {
                self.add_implicit_call_with(SiteKind::Compare, left, method, (right, operand.range()), left_range);
            }
            first.get_or_insert((comparison, left, right));
            left = right;
            left_range = operand.range();
        }
        let form = first.map_or(Form::Other, |(comparison, left, right)| Form::Compare(comparison, left, right));
        self.facts.form(form)
    }

    /// True for displays and literals, whose `__contains__` and `__iter__` are builtin.
    fn is_builtin_container(&self, form: FormId) -> bool {
        matches!(
            self.facts.facts().form(form),
            Form::Display(..) | Form::Pairs(_) | Form::Str(_) | Form::Bytes(_) | Form::None
        )
    }

    fn walk_unary_op(&mut self, node: &ExprUnaryOp) -> FormId {
        let operand = match node.op {
            UnaryOp::Not => self.walk_test(&node.operand),
            _ => self.walk_expr(&node.operand),
        };
        let form = match (node.op, self.facts.facts().form(operand)) {
            (UnaryOp::Not, _) => Form::Not(operand),
            (UnaryOp::USub, Form::Int(value)) => value.checked_neg().map_or(Form::Other, Form::Int),
            (UnaryOp::USub, Form::Float(value)) => Form::Float(-value),
            (UnaryOp::UAdd, form @ (Form::Int(_) | Form::Float(_))) => form,
            (UnaryOp::Invert, Form::Int(value)) => Form::Int(!value),
            (operator, _) => match Dunder::from_unary(operator) {
                Some(method) => Form::Result(self.add_implicit_call(
                    SiteKind::Operator,
                    SiteFlags::default(),
                    operand,
                    method,
                    node.operand.range(),
                )),
                None => Form::Other,
            },
        };
        self.facts.form(form)
    }

    fn walk_walrus(&mut self, node: &ExprNamed) -> FormId {
        let value = self.walk_expr(&node.value);
        if let Expr::Name(name) = &*node.target
            && !name.id.is_empty()
        {
            let sym = self.facts.intern(&name.id);
            let (target, _) = self.scopes.bind_walrus(sym, &mut self.facts);
            self.record_target(name.range, name.range, target);
            self.add_assignment(blocklint_facts::AssignKind::Plain, target, value, FormId::NONE, name.range);
        }
        value
    }

    fn walk_display(&mut self, kind: DisplayKind, elements: &[Expr]) -> FormId {
        let items = self.items.len();
        for element in elements {
            let form = self.walk_expr(element);
            self.items.push(form);
        }
        let list = self.finish_list(items);
        self.facts.form(Form::Display(kind, list))
    }

    fn walk_dict(&mut self, node: &ExprDict) -> FormId {
        let items = self.items.len();
        for item in &node.items {
            let key = item.key.as_ref().map_or(FormId::NONE, |key| self.walk_expr(key));
            let value = self.walk_expr(&item.value);
            self.items.extend([key, value]);
        }
        let list = self.finish_list(items);
        self.facts.form(Form::Pairs(list))
    }

    /// Walks `*x` among arguments or elements, which iterates over `x`.
    pub(crate) fn walk_starred(&mut self, value: &Expr) -> FormId {
        let form = self.walk_expr(value);
        if !self.is_builtin_container(form) {
            self.add_implicit_call(SiteKind::Iterate, SiteFlags::default(), form, Dunder::ITER, value.range());
        }
        self.facts.form(Form::Star(form))
    }

    /// Walks the expressions in the braces of an f-string, which formats them, or of a template string, which does not.
    fn walk_interpolations(&mut self, elements: &[InterpolatedStringElement], formats: bool) {
        for element in elements {
            if let InterpolatedStringElement::Interpolation(part) = element {
                let form = self.walk_expr(&part.expression);
                if formats {
                    let method = match part.conversion {
                        ConversionFlag::None => Dunder::FORMAT,
                        ConversionFlag::Str => Dunder::STR,
                        ConversionFlag::Ascii | ConversionFlag::Repr => Dunder::REPR,
                    };
                    self.add_format_call(form, method, part.expression.range());
                }
                if let Some(spec) = &part.format_spec {
                    if self.expression_depth >= EXPRESSION_DEPTH {
                        self.leave_out(&**spec);
                        return;
                    }
                    self.expression_depth += 1;
                    self.walk_interpolations(&spec.elements, formats);
                    self.expression_depth -= 1;
                }
            }
        }
    }
}
