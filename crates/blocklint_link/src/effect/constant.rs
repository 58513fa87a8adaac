//! A literal, as far as conditions ask.

use blocklint_models::Literal;

/// A literal, as far as conditions ask.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Not visible.
    Hidden,
    /// The n-th parameter of the body around.
    Param(u32),
    /// `None`, `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Another number.
    Float(f64),
    /// A string, cut to 64 bytes.
    Str(String),
    /// A string that begins with this text.
    Head(String),
    /// Named constants.
    Symbols(Vec<String>),
    /// A collection without elements that a parameter has by default.
    Empty,
}

impl Constant {
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Constant::Int(value) => Some(*value as f64),
            Constant::Float(value) => Some(*value),
            Constant::Bool(false) => Some(0.0),
            _ => None,
        }
    }

    /// Returns seconds, where it is a number of them.
    pub fn seconds(&self) -> Option<f64> {
        match self {
            Constant::Bool(_) => None,
            _ => self.number(),
        }
    }

    pub(crate) fn equals(&self, literal: &Literal) -> bool {
        match (self, literal) {
            (Constant::Bool(a), Literal::Bool(b)) => a == b,
            (Constant::Int(a), Literal::Int(b)) => a == b,
            // Python's truth values are numbers: `block=0` is `block=False`.
            (Constant::Int(a), Literal::Bool(b)) => *a == i64::from(*b),
            (Constant::Int(a), Literal::Float(b)) => *a as f64 == *b,
            (Constant::Float(a), Literal::Float(b)) => a == b,
            (Constant::Float(a), Literal::Int(b)) => *a == *b as f64,
            (Constant::Str(a), Literal::Str(b)) => a == b,
            _ => false,
        }
    }
}
