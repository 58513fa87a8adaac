//! An expression of a source file with its place and its form. Facts store forms without their places, but programs
//! that rewrite code find expressions by place (`blocklint ask`).

use blocklint_core::Span;

use crate::{At, FormId};

/// An expression of a source file, with its form in the facts of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Where it is, without enclosing parentheses.
    pub span: Span,
    /// The span of the last name: a name itself, the name behind the dot of an attribute; otherwise the whole span.
    pub name_span: Span,
    /// The form.
    pub form: FormId,
    /// The place in the order of evaluation.
    pub at: At,
    /// True if the expression is assigned or deleted.
    pub is_target: bool,
}
