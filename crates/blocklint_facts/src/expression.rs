//! An expression of a source file beside its form: facts keep forms without their places, and programs that rewrite code ask by place.

use blocklint_core::Span;

use crate::{At, FormId};

/// An expression as it is written, with the form that the facts of its file have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Its text, without parentheses around it.
    pub span: Span,
    /// The last name of it: of a name the name itself, of an attribute the name behind the dot; else the whole text.
    pub name_span: Span,
    /// Its form.
    pub form: FormId,
    /// The place at which it is evaluated.
    pub at: At,
    /// True if a value is bound to it, or if it is deleted.
    pub is_target: bool,
}
