//! Forms: the syntax of values, callees, tests and types, reduced to the kinds that the analysis distinguishes.

use crate::{BodyId, ClassId, FormId, ImportId, List, SiteId, Sym, VarId};

/// The syntax of a value, without its meaning. Entries of lists are in [`crate::FileFacts::lists`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Form {
    /// An expression without a form of its own.
    #[default]
    Other,
    /// `None`, `null`, `()`.
    None,
    /// `...` in Python.
    Ellipsis,
    /// A literal truth value.
    Bool(bool),
    /// A literal integer, with its sign.
    Int(i64),
    /// A literal floating-point number, with its sign.
    Float(f64),
    /// A literal string, cut to 64 bytes at a character boundary.
    Str(Sym),
    /// A formatted string (`f"id-{number}"`): the literal text with which it begins, cut to 64 bytes.
    Text(Sym),
    /// A literal byte string, cut to 64 bytes.
    Bytes(Sym),
    /// A variable that this file binds.
    Var(VarId),
    /// A name that this file does not bind: a builtin, a prelude name, a name from a star import, a class of the
    /// same package.
    Name(Sym),
    /// `this` in Java; `super` is `Name("super")`.
    This,
    /// `a.b`: field, method or module member.
    Attr(FormId, Sym),
    /// `a::b`: a path segment (Rust; `::a` starts at the empty `Name`), a method reference (Java).
    Path(FormId, Sym),
    /// The result of a site.
    Result(SiteId),
    /// The result of awaiting a value.
    Await(FormId),
    /// `expr?` in Rust: the value of the success case.
    Try(FormId),
    /// A function, method, lambda or closure itself, before decorators.
    Callable(BodyId),
    /// The value of a generator expression or async block, whose body runs lazily.
    Run(BodyId),
    /// A class itself, before decorators.
    Class(ClassId),
    /// The name that an import binds.
    Import(ImportId),
    /// An element of the value, as iteration returns it.
    Element(FormId),
    /// The n-th part of a value that a pattern destructures.
    Part(FormId, u32),
    /// The named part of a value that a pattern destructures: a field, or the payload of an enum variant or tuple
    /// struct. A payload of several parts is a tuple, and [`Form::Part`] selects one of them.
    Field(FormId, Sym),
    /// A list, tuple or set display, with its elements.
    Display(DisplayKind, List),
    /// A dictionary display: key, value, key, value, … The key `FormId::NONE` means `**` unpacking.
    Pairs(List),
    /// Alternatives: `a or b`, `a and b` (their operands), `a if t else b` (test, then, else), the ends of blocks. In a
    /// type, `And` is a conjunction of bounds.
    Alt(AltKind, List),
    /// Operands that are joined by `|`.
    Join(List),
    /// `*x` among arguments or elements.
    Star(FormId),
    /// `**x` among arguments.
    StarStar(FormId),
    /// `a[i]`, `a<T>`. Several type arguments are a tuple display.
    Subscript(FormId, FormId),
    /// `not x`, `!x`.
    Not(FormId),
    /// A comparison of two operands; a chain is reduced to its first pair.
    Compare(Comparison, FormId, FormId),
    /// A value whose type is stated: a cast, a pattern with a class, `x as T` (value, type).
    Cast(FormId, FormId),
    /// Some type that implements a bound: `impl T`, `dyn T`, a bounded generic parameter.
    Bound(FormId),
}

/// The kind of collection that a display creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DisplayKind {
    /// `[…]`, `vec![…]`, an array.
    List,
    /// `(…)`.
    Tuple,
    /// `{…}`.
    Set,
}

/// The syntax of alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AltKind {
    /// `a or b`, `a || b`.
    Or,
    /// `a and b`, `a && b`.
    And,
    /// A conditional expression: test, then, else.
    Ternary,
    /// The ends of a block, `match` or `switch` that is used as a value.
    Ends,
}

/// The operator of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `==`
    Eq,
    /// `!=`
    NotEq,
    /// `<`
    Less,
    /// `<=`
    LessEq,
    /// `>`
    Greater,
    /// `>=`
    GreaterEq,
    /// `is`
    Is,
    /// `is not`
    IsNot,
    /// `in`
    In,
    /// `not in`
    NotIn,
}
