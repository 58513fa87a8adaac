//! Constants: the literal values that conditions of rows and branches test.

use blocklint_models::Literal;

/// The literal value of an expression, a parameter that a caller decides, or an unknown value.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// An unknown value.
    Hidden,
    /// The value of the n-th parameter of the body around the expression.
    Param(u32),
    /// `None`, `null`.
    Null,
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string, truncated to 64 bytes.
    Str(String),
    /// A string with this known prefix and an unknown rest.
    Head(String),
    /// Named constants, by path: `["os.O_RDONLY"]`.
    Symbols(Vec<String>),
    /// An empty collection.
    Empty,
}

impl Constant {
    /// Returns the value as a number; false is zero.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Constant::Int(value) => Some(*value as f64),
            Constant::Float(value) => Some(*value),
            Constant::Bool(false) => Some(0.0),
            _ => None,
        }
    }

    /// Returns the value as a number of seconds; `None` for Booleans and other values.
    pub fn seconds(&self) -> Option<f64> {
        match self {
            Constant::Bool(_) => None,
            _ => self.number(),
        }
    }

    /// True if the value is equal to a literal of a model row.
    pub(crate) fn equals(&self, literal: &Literal) -> bool {
        match (self, literal) {
            (Constant::Bool(a), Literal::Bool(b)) => a == b,
            (Constant::Int(a), Literal::Int(b)) => a == b,
            // Booleans of Python are numbers: `block=0` is `block=False`.
            (Constant::Int(a), Literal::Bool(b)) => *a == i64::from(*b),
            (Constant::Int(a), Literal::Float(b)) => *a as f64 == *b,
            (Constant::Float(a), Literal::Float(b)) => a == b,
            (Constant::Float(a), Literal::Int(b)) => *a == *b as f64,
            (Constant::Str(a), Literal::Str(b)) => a == b,
            _ => false,
        }
    }
}
