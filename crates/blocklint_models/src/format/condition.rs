//! Conditions of rows: one subject and the tests it must pass.

use blocklint_core::{Context, Runtime};
use serde::{Deserialize, Serialize};

use super::argument::Argument;
use super::type_expr::TypeExpr;
use super::version::VersionRange;
use super::words::Source;

/// A condition that a row requires with `when`, or that excuses a call with `unless`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The thing that is tested.
    pub subject: Subject,
    /// All of them must be shown. Empty only for subjects that need no test.
    pub tests: Vec<Test>,
}

/// The subject of a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Subject {
    /// An argument of the call.
    Argument(Argument),
    /// One of these is the context in which the call is reached.
    Context(Vec<Context>),
    /// One of these is the runtime of that context.
    Runtime(Vec<Runtime>),
    /// One of these switches of the unit is on.
    Switch(Vec<String>),
    /// A library is a dependency of the unit.
    Library(String),
}

/// A test on a condition's subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Test {
    /// Is one of these literals.
    Equals(Vec<Literal>),
    /// Is a string literal that contains this.
    Contains(String),
    /// Is one of these named constants, alone or in an `|` expression.
    Symbol(Vec<String>),
    /// Is `None` or `null` (true), or visibly is not (false).
    Null(bool),
    /// Is not given (true), or is (false).
    Absent(bool),
    /// Is any constant (true), or visibly none (false).
    Literal(bool),
    /// Is a number literal below this.
    Less(f64),
    /// Is a number literal above this.
    Greater(f64),
    /// Has one of these static types, a subtype, or one of these tags.
    Type(Vec<TypeTest>),
    /// Was put in this state.
    State(String),
    /// Comes from a call with one of these sources.
    From(Vec<Source>),
    /// Is evidently large.
    Unbounded,
    /// Is declared as any stream and comes by a parameter, and no caller in sight passes a known type. A finding that
    /// rests on this condition is a note of low confidence.
    Unseen,
    /// Is the text of an SQL statement that evidently touches few rows.
    ShortSql,
    /// The library's version lies in this range.
    Version(VersionRange),
    /// The library has this feature on.
    Feature(String),
}

/// A literal that an argument may equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Literal {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Another number.
    Float(f64),
    /// A string.
    Str(String),
}

/// One alternative of a `type` test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TypeTest {
    /// The type has this tag (written `#tag`).
    Tag(String),
    /// The type or a subtype.
    Type(TypeExpr),
}
