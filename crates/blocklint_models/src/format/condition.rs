//! Conditions of rows (`when`, `unless`): a subject, such as an argument of the call, and tests on it.

use blocklint_core::{Context, Runtime};
use serde::{Deserialize, Serialize};

use super::argument::Argument;
use super::type_expr::TypeExpr;
use super::version::VersionRange;
use super::words::Source;

/// A condition that must be proven (`when`) or must not be proven (`unless`) for a row to hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The thing that is tested.
    pub subject: Subject,
    /// The tests, which must all be proven; empty only for subjects that need no test.
    pub tests: Vec<Test>,
}

/// The subject of a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Subject {
    /// An argument of the call.
    Argument(Argument),
    /// The context from which the call is reached is one of these.
    Context(Vec<Context>),
    /// The runtime of that context is one of these.
    Runtime(Vec<Runtime>),
    /// One of these switches of the unit is on.
    Switch(Vec<String>),
    /// The unit depends on this library.
    Library(String),
}

/// A test on a condition's subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Test {
    /// The argument is one of these literals.
    Equals(Vec<Literal>),
    /// The argument is a string literal that contains this text.
    Contains(String),
    /// The argument is one of these named constants, alone or in an `|` expression.
    Symbol(Vec<String>),
    /// True: the argument is `None` or `null`. False: it is evidently neither.
    Null(bool),
    /// True: the call lacks the argument. False: the call has it.
    Absent(bool),
    /// True: the argument is a constant. False: it is evidently no constant.
    Literal(bool),
    /// The argument is a number literal below this number.
    Less(f64),
    /// The argument is a number literal above this number.
    Greater(f64),
    /// The argument has one of these static types, a subtype of one, or a type with one of these tags.
    Type(Vec<TypeTest>),
    /// An earlier call has given this state to the argument.
    State(String),
    /// The argument comes from a call with one of these sources.
    From(Vec<Source>),
    /// The argument is evidently large.
    Unbounded,
    /// The argument is a parameter that is declared as any stream, and no known caller passes a known type. A finding
    /// that depends on this condition is a note of low confidence.
    Unseen,
    /// The argument is the text of an SQL statement that evidently concerns few rows.
    ShortSql,
    /// The library's version is in this range.
    Version(VersionRange),
    /// This feature of the library is enabled.
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

/// An alternative of a `type` test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TypeTest {
    /// A type with this tag (written `#tag`).
    Tag(String),
    /// This type or a subtype.
    Type(TypeExpr),
}
