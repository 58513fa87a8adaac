//! Literals: numbers, strings, bytes, f-strings, and constant folding of numbers.

use blocklint_facts::{Form, FormId};
use ruff_python_ast::{
    Expr, ExprStringLiteral, FStringPart, FStringValue, InterpolatedStringElement, Number, Operator,
};

use crate::walk::Walker;

impl Walker<'_> {
    pub(crate) fn number_form(&mut self, number: &Number) -> FormId {
        let form = match number {
            Number::Int(int) => int.as_i64().map_or(Form::Other, Form::Int),
            Number::Float(float) => Form::Float(*float),
            Number::Complex { .. } => Form::Other,
        };
        self.facts.form(form)
    }

    pub(crate) fn string_form(&mut self, literal: &ExprStringLiteral) -> FormId {
        let sym = match literal.value.as_slice() {
            [part] => self.facts.intern_literal(part),
            parts => {
                // The form holds only the beginning of a long literal.
                let mut text = String::new();
                for part in parts {
                    text.push_str(part);
                    if text.len() > 64 {
                        break;
                    }
                }
                self.facts.intern_literal(&text)
            }
        };
        self.facts.form(Form::Str(sym))
    }

    /// Returns the form of an f-string, which holds the literal text before the first placeholder.
    pub(crate) fn f_string_form(&mut self, value: &FStringValue) -> FormId {
        let head = match value.as_slice().first() {
            Some(FStringPart::Literal(part)) => &*part.value,
            Some(FStringPart::FString(part)) => match part.elements.first() {
                Some(InterpolatedStringElement::Literal(literal)) => &*literal.value,
                _ => "",
            },
            None => "",
        };
        let sym = self.facts.intern_literal(head);
        self.facts.form(Form::Text(sym))
    }

    pub(crate) fn bytes_form(&mut self, literal: &ruff_python_ast::ExprBytesLiteral) -> FormId {
        let bytes: Vec<u8> = literal.value.bytes().take(64).collect();
        let sym = self.facts.intern_literal(&String::from_utf8_lossy(&bytes));
        self.facts.form(Form::Bytes(sym))
    }

    /// Returns the value of an operation on two literal numbers: `timeout=60 * 5` is 300.
    pub(crate) fn fold_constants(&mut self, left: FormId, operator: Operator, right: FormId) -> FormId {
        let facts = self.facts.facts();
        let value = match (facts.form(left), facts.form(right)) {
            (Form::Int(a), Form::Int(b)) => match operator {
                Operator::Add => a.checked_add(b).map(Form::Int),
                Operator::Sub => a.checked_sub(b).map(Form::Int),
                Operator::Mult => a.checked_mul(b).map(Form::Int),
                Operator::FloorDiv if b > 0 => Some(Form::Int(a.div_euclid(b))),
                Operator::Div if b != 0 => Some(Form::Float(a as f64 / b as f64)),
                Operator::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)).map(Form::Int),
                Operator::LShift if (0..62).contains(&b) => a.checked_mul(1 << b).map(Form::Int),
                _ => None,
            },
            (a, b) => match (as_float(a), as_float(b)) {
                (Some(a), Some(b)) => match operator {
                    Operator::Add => Some(Form::Float(a + b)),
                    Operator::Sub => Some(Form::Float(a - b)),
                    Operator::Mult => Some(Form::Float(a * b)),
                    Operator::Div if b != 0.0 => Some(Form::Float(a / b)),
                    _ => None,
                },
                _ => None,
            },
        };
        self.facts.form(value.unwrap_or_default())
    }

    /// True if the form is a literal number or string.
    pub(crate) fn is_literal(&self, form: FormId) -> bool {
        matches!(
            self.facts.facts().form(form),
            Form::Int(_) | Form::Float(_) | Form::Str(_) | Form::Bytes(_) | Form::Bool(_)
        )
    }
}

fn as_float(form: Form) -> Option<f64> {
    match form {
        Form::Int(value) => Some(value as f64),
        Form::Float(value) => Some(value),
        _ => None,
    }
}

/// True if evaluating the expression runs no user-defined code.
pub(crate) fn runs_no_code(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Name(_)
            | Expr::StringLiteral(_)
            | Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
            | Expr::Lambda(_)
    )
}
