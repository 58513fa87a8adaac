//! The small form in which assigned, passed and returned values, callees, tests and types are recorded.

use crate::{BodyId, ClassId, FormId, ImportId, List, SiteId, Sym, VarId};

/// One value as it is written, without what it means. Lists lie in [`crate::FileFacts::lists`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Form {
    /// Anything without a form of its own.
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
    /// A string that is put together, `f"id-{number}"`; the literal text it begins with, cut likewise.
    Text(Sym),
    /// A literal byte string, likewise.
    Bytes(Sym),
    /// A variable bound in this file.
    Var(VarId),
    /// A name that this file does not bind: a builtin, a prelude name, a name from a star import, a class of the
    /// same package.
    Name(Sym),
    /// `this` in Java where no variable stands for it; `super` is `Name("super")`.
    This,
    /// `a.b`: field, method or module member.
    Attr(FormId, Sym),
    /// `a::b`: a path segment (Rust; `::a` starts at the empty `Name`), a method reference (Java).
    Path(FormId, Sym),
    /// The result of a site.
    Result(SiteId),
    /// The awaited value.
    Await(FormId),
    /// `expr?` in Rust: the value of the success case.
    Try(FormId),
    /// A function, method, lambda or closure itself, before decorators.
    Callable(BodyId),
    /// A body that was started lazily where it stands: a generator expression, an async block.
    Run(BodyId),
    /// A class itself, before decorators.
    Class(ClassId),
    /// The name that an import binds.
    Import(ImportId),
    /// An element of the value, as iteration returns it.
    Element(FormId),
    /// The n-th part of a value taken apart by a pattern.
    Part(FormId, u32),
    /// The named part of a value taken apart by a pattern: a field, or the payload of an enum variant or tuple struct
    /// (with several parts their tuple, of which [`Form::Part`] takes one).
    Field(FormId, Sym),
    /// A list, tuple or set display; its elements.
    Display(DisplayKind, List),
    /// A dictionary display: key, value, key, value … A key of `FormId::NONE` is `**` unpacking.
    Pairs(List),
    /// Alternatives: `a or b`, `a and b` (their operands), `a if t else b` (test, then, else), ends of blocks. Bounds
    /// that hold together are `And` in a type.
    Alt(AltKind, List),
    /// Operands joined by `|`.
    Join(List),
    /// `*x` among arguments or elements.
    Star(FormId),
    /// `**x` among arguments.
    StarStar(FormId),
    /// `a[i]`; in a type, its arguments (a tuple display where there are several). `a<T>` likewise.
    Subscript(FormId, FormId),
    /// `not x`, `!x`.
    Not(FormId),
    /// A comparison of two operands; chains keep the first pair.
    Compare(Comparison, FormId, FormId),
    /// A value known to have a type: a cast, a pattern with a class, `x as T` (value, type).
    Cast(FormId, FormId),
    /// `impl T`, `dyn T`, a bounded generic parameter: some type that implements the bound.
    Bound(FormId),
}

/// The kind of collection that a display makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DisplayKind {
    /// `[…]`, `vec![…]`, an array.
    List,
    /// `(…)`.
    Tuple,
    /// `{…}`.
    Set,
}

/// Where alternatives come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AltKind {
    /// `a or b`, `a || b`.
    Or,
    /// `a and b`, `a && b`.
    And,
    /// A conditional expression: test, then, else.
    Ternary,
    /// The ends of a block, `match` or `switch` used as a value.
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
