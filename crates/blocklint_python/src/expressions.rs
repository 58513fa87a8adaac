//! Expressions: their operations as sites, their value as a form.

use blocklint_facts::{AltKind, Comparison, DisplayKind, ExitKind, Form, FormId, RegionKind, SiteFlags, SiteKind};
use ruff_python_ast::{
    BoolOp, CmpOp, ConversionFlag, Expr, ExprAwait, ExprBoolOp, ExprCompare, ExprDict, ExprIf, ExprNamed, ExprUnaryOp,
    InterpolatedStringElement, UnaryOp,
};
use ruff_text_size::Ranged;

use crate::dunder::Dunder;
use crate::literals::is_quiet;
use crate::walk::{CONDITIONS_IN_A_ROW, EXPRESSION_DEPTH, Walker, span};

impl Walker<'_> {
    /// Walks an expression in the order of evaluation and gives its form.
    pub(crate) fn expr(&mut self, expr: &Expr) -> FormId {
        match expr {
            Expr::Name(name) => {
                let form = self.name(&name.id);
                self.note(expr, form);
                form
            }
            Expr::NoneLiteral(_) => self.facts.form(Form::None),
            Expr::BooleanLiteral(literal) => self.facts.form(Form::Bool(literal.value)),
            Expr::NumberLiteral(literal) => self.number(&literal.value),
            Expr::StringLiteral(literal) => self.string(literal),
            Expr::BytesLiteral(literal) => self.bytes(literal),
            Expr::EllipsisLiteral(_) => self.facts.form(Form::Ellipsis),
            Expr::IpyEscapeCommand(_) => self.facts.form(Form::Other),
            _ if self.expressions >= EXPRESSION_DEPTH => {
                self.leave_out(expr);
                self.facts.form(Form::Other)
            }
            _ => {
                self.expressions += 1;
                let form = self.compound(expr);
                self.expressions -= 1;
                // The walk of a chain notes each of its links.
                if !matches!(expr, Expr::Call(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::BinOp(_)) {
                    self.note(expr, form);
                }
                form
            }
        }
    }

    fn compound(&mut self, expr: &Expr) -> FormId {
        match expr {
            Expr::Call(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::BinOp(_) => self.chain(expr, false),
            Expr::Await(node) => self.await_expr(node),
            Expr::BoolOp(node) => self.bool_op(node),
            Expr::Compare(node) => self.compare(node),
            Expr::UnaryOp(node) => self.unary(node),
            Expr::If(node) => self.ternary(node),
            Expr::Named(node) => self.walrus(node),
            Expr::Lambda(node) => self.lambda(node),
            Expr::List(node) => self.display(DisplayKind::List, &node.elts),
            Expr::Tuple(node) => self.display(DisplayKind::Tuple, &node.elts),
            Expr::Set(node) => self.display(DisplayKind::Set, &node.elts),
            Expr::Dict(node) => self.dict(node),
            Expr::ListComp(node) => self.list_comprehension(DisplayKind::List, &node.elt, &node.generators, node.range),
            Expr::SetComp(node) => self.list_comprehension(DisplayKind::Set, &node.elt, &node.generators, node.range),
            Expr::DictComp(node) => self.dict_comprehension(node),
            Expr::Generator(node) => self.generator(node),
            Expr::Yield(node) => {
                let value = node.value.as_deref().map_or(FormId::NONE, |value| self.expr(value));
                self.yields = true;
                self.exit(ExitKind::Yield, value, node.range);
                self.facts.form(Form::Other)
            }
            Expr::YieldFrom(node) => {
                let value = self.expr(&node.value);
                self.yields = true;
                self.implicit(SiteKind::Iterate, SiteFlags::default(), value, Dunder::ITER, node.value.range());
                self.exit(ExitKind::YieldFrom, value, node.range);
                self.facts.form(Form::Other)
            }
            Expr::Starred(node) => self.starred(&node.value),
            Expr::Slice(node) => {
                for part in [&node.lower, &node.upper, &node.step].into_iter().flatten() {
                    self.expr(part);
                }
                self.facts.form(Form::Other)
            }
            Expr::FString(node) => {
                for part in node.value.f_strings() {
                    self.interpolations(&part.elements, true);
                }
                self.put_together(&node.value)
            }
            Expr::TString(node) => {
                for part in node.value.iter() {
                    self.interpolations(&part.elements, false);
                }
                self.facts.form(Form::Other)
            }
            // Names and literals were handled before.
            _ => self.facts.form(Form::Other),
        }
    }

    /// Returns the form of a name that is read.
    pub(crate) fn name(&mut self, id: &str) -> FormId {
        // The parser puts an empty name where an expression is missing.
        if id.is_empty() {
            return self.facts.form(Form::Other);
        }
        let sym = self.facts.intern(id);
        self.scopes.load(sym, &mut self.facts)
    }

    fn await_expr(&mut self, node: &ExprAwait) -> FormId {
        self.awaits = true;
        let value = self.expr(&node.value);
        if matches!(*node.value, Expr::Call(_)) {
            self.flag(value, SiteFlags::AWAITED);
        } else {
            self.implicit(SiteKind::Await, SiteFlags::AWAITED, value, Dunder::AWAIT, node.value.range());
        }
        self.facts.form(Form::Await(value))
    }

    fn bool_op(&mut self, node: &ExprBoolOp) -> FormId {
        let (kind, arm) = match node.op {
            BoolOp::And => (AltKind::And, RegionKind::Then),
            BoolOp::Or => (AltKind::Or, RegionKind::Else),
        };
        let outer = self.region;
        let items = self.items.len();
        // Operands so far that later ones depend on; regions are made only for operands that do something.
        let mut opened = items;
        let end = node.range.end();
        for (at, operand) in node.values.iter().enumerate() {
            if !is_quiet(operand) {
                while opened < self.items.len() && opened - items < CONDITIONS_IN_A_ROW as usize {
                    let test = self.items[opened];
                    self.open(arm, test, ruff_text_size::TextRange::new(operand.start(), end));
                    opened += 1;
                }
            }
            let form = self.expr(operand);
            // The last operand is the result; the code that tests the result marks it as tested.
            if at + 1 < node.values.len() {
                self.test(operand, form);
            }
            self.items.push(form);
        }
        self.region = outer;
        let list = self.list(items);
        self.facts.form(Form::Alt(kind, list))
    }

    fn ternary(&mut self, node: &ExprIf) -> FormId {
        let test = self.tested(&node.test);
        let group = self.facts.group();
        let arm = |walker: &mut Self, kind, part: &Expr| {
            if is_quiet(part) {
                return walker.expr(part);
            }
            let outer = walker.open_arm(kind, group, test, span(part.range()));
            let form = walker.expr(part);
            walker.region = outer;
            form
        };
        let then = arm(self, RegionKind::Then, &node.body);
        let otherwise = arm(self, RegionKind::Else, &node.orelse);
        let list = self.facts.list(&[test, then, otherwise]);
        self.facts.form(Form::Alt(AltKind::Ternary, list))
    }

    fn compare(&mut self, node: &ExprCompare) -> FormId {
        let mut left = self.expr(&node.left);
        let mut left_range = node.left.range();
        let mut first = None;
        for (operator, operand) in node.ops.iter().zip(&node.comparators) {
            let right = self.expr(operand);
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
                self.implicit_with(SiteKind::Operator, right, Dunder::CONTAINS, (left, left_range), operand.range());
            }
            if let Some(method) = Dunder::comparison(*operator)
                && self.may_run_method(left, right)
            {
                self.implicit_with(SiteKind::Compare, left, method, (right, operand.range()), left_range);
            }
            first.get_or_insert((comparison, left, right));
            left = right;
            left_range = operand.range();
        }
        let form = first.map_or(Form::Other, |(comparison, left, right)| Form::Compare(comparison, left, right));
        self.facts.form(form)
    }

    /// A display or literal: looking into it runs nothing of note.
    fn is_builtin_container(&self, form: FormId) -> bool {
        matches!(
            self.facts.facts().form(form),
            Form::Display(..) | Form::Pairs(_) | Form::Str(_) | Form::Bytes(_) | Form::None
        )
    }

    fn unary(&mut self, node: &ExprUnaryOp) -> FormId {
        let operand = match node.op {
            UnaryOp::Not => self.tested(&node.operand),
            _ => self.expr(&node.operand),
        };
        let form = match (node.op, self.facts.facts().form(operand)) {
            (UnaryOp::Not, _) => Form::Not(operand),
            (UnaryOp::USub, Form::Int(value)) => value.checked_neg().map_or(Form::Other, Form::Int),
            (UnaryOp::USub, Form::Float(value)) => Form::Float(-value),
            (UnaryOp::UAdd, form @ (Form::Int(_) | Form::Float(_))) => form,
            (UnaryOp::Invert, Form::Int(value)) => Form::Int(!value),
            (operator, _) => match Dunder::unary(operator) {
                Some(method) => Form::Result(self.implicit(
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

    fn walrus(&mut self, node: &ExprNamed) -> FormId {
        let value = self.expr(&node.value);
        if let Expr::Name(name) = &*node.target
            && !name.id.is_empty()
        {
            let sym = self.facts.intern(&name.id);
            let (target, _) = self.scopes.bind_walrus(sym, &mut self.facts);
            self.note_target(name.range, name.range, target);
            self.assign(blocklint_facts::AssignKind::Plain, target, value, FormId::NONE, name.range);
        }
        value
    }

    fn display(&mut self, kind: DisplayKind, elements: &[Expr]) -> FormId {
        let items = self.items.len();
        for element in elements {
            let form = self.expr(element);
            self.items.push(form);
        }
        let list = self.list(items);
        self.facts.form(Form::Display(kind, list))
    }

    fn dict(&mut self, node: &ExprDict) -> FormId {
        let items = self.items.len();
        for item in &node.items {
            let key = item.key.as_ref().map_or(FormId::NONE, |key| self.expr(key));
            let value = self.expr(&item.value);
            self.items.extend([key, value]);
        }
        let list = self.list(items);
        self.facts.form(Form::Pairs(list))
    }

    /// `*x` among arguments or elements, which iterates.
    pub(crate) fn starred(&mut self, value: &Expr) -> FormId {
        let form = self.expr(value);
        if !self.is_builtin_container(form) {
            self.implicit(SiteKind::Iterate, SiteFlags::default(), form, Dunder::ITER, value.range());
        }
        self.facts.form(Form::Star(form))
    }

    /// Walks what stands in braces; a template string keeps the values, an f-string formats them.
    fn interpolations(&mut self, elements: &[InterpolatedStringElement], formats: bool) {
        for element in elements {
            if let InterpolatedStringElement::Interpolation(part) = element {
                let form = self.expr(&part.expression);
                if formats {
                    let method = match part.conversion {
                        ConversionFlag::None => Dunder::FORMAT,
                        ConversionFlag::Str => Dunder::STR,
                        ConversionFlag::Ascii | ConversionFlag::Repr => Dunder::REPR,
                    };
                    self.formatted(form, method, part.expression.range());
                }
                if let Some(spec) = &part.format_spec {
                    if self.expressions >= EXPRESSION_DEPTH {
                        self.leave_out(&**spec);
                        return;
                    }
                    self.expressions += 1;
                    self.interpolations(&spec.elements, formats);
                    self.expressions -= 1;
                }
            }
        }
    }
}
