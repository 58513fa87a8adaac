//! The rows of the tables of one file.

use blocklint_core::Span;
use serde::{Deserialize, Serialize};

use crate::{BodyId, ClassId, FormId, List, RegionId, Sym, VarId};

/// A place in the order of evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// The innermost region.
    pub region: RegionId,
    /// Position in the file's order of evaluation; positions of different bodies do not compare.
    pub position: u32,
}

/// Code that runs as one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its kind.
    pub kind: BodyKind,
    /// How it runs.
    pub flow: Flow,
    /// Known properties of its text.
    pub flags: BodyFlags,
    /// Its name; `<lambda>` and the like for nameless ones.
    pub name: Sym,
    /// The body it stands in; none for the top level.
    pub parent: BodyId,
    /// The class in whose body it stands directly.
    pub class: ClassId,
    /// Its parameters, in [`FileFacts::params`].
    pub params: List,
    /// Its decorators, attributes or annotations, outermost first, as forms.
    pub decorators: List,
    /// Its declared result type.
    pub returns: FormId,
    /// From the first decorator to its end.
    pub span: Span,
    /// Its name, or its first token.
    pub name_span: Span,
    /// Its own region.
    pub region: RegionId,
    /// The variable its definition binds.
    pub var: VarId,
}

/// The kind of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// The top level of a file, or of an inline module.
    Module,
    /// The body of a class.
    Class,
    /// A function or method.
    Function,
    /// A lambda or closure.
    Lambda,
    /// An `async` block (Rust).
    AsyncBlock,
    /// A generator expression.
    GeneratorExpression,
    /// A field initialiser or initialiser block (Java).
    Initialiser,
}

/// How a body runs when it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// At once.
    Sync,
    /// When awaited.
    Coroutine,
    /// While iterated.
    Generator,
    /// While iterated with `async for`.
    AsyncGenerator,
}

/// Known properties of a body's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodyFlags(pub u8);

impl BodyFlags {
    /// It leaves its code to others: `...`, only a docstring, `raise NotImplementedError`, no block at all.
    pub const STUB: BodyFlags = BodyFlags(1);
    /// A closure that takes what it captures (`move`).
    pub const MOVE: BodyFlags = BodyFlags(2);
    /// It uses a local of the body around it, or its `self`.
    pub const CAPTURES: BodyFlags = BodyFlags(4);
    /// `static`, or an associated function without receiver.
    pub const STATIC: BodyFlags = BodyFlags(8);
    /// It stands in code built only for tests (`#[cfg(test)]`, `#[test]`).
    pub const TEST: BodyFlags = BodyFlags(16);
    /// It is declared to implement or override a method of a base (`@Override`).
    pub const OVERRIDES: BodyFlags = BodyFlags(32);

    /// True if all of `other` is set.
    pub fn has(self, other: BodyFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the flags with `other` set.
    pub fn with(self, other: BodyFlags) -> Self {
        BodyFlags(self.0 | other.0)
    }
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    /// Its name; none for a pattern.
    pub name: Sym,
    /// How it is passed.
    pub kind: ParamKind,
    /// The variable it binds.
    pub var: VarId,
    /// Its default value, read in the scope around the body.
    pub default: FormId,
    /// Its declared type.
    pub annotation: FormId,
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ParamKind {
    /// By position or name.
    Normal,
    /// By position only (always in Rust and Java).
    PositionalOnly,
    /// By name only.
    KeywordOnly,
    /// `*args`, a Java varargs parameter.
    VarArgs,
    /// `**kwargs`.
    KwArgs,
    /// `self` in Rust. Python's is a normal parameter, Java's is `Form::This`.
    Receiver,
}

/// A class or its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// Its kind.
    pub kind: ClassKind,
    /// Its name; empty for an impl block or an anonymous class.
    pub name: Sym,
    /// Its body, whose scope holds its members.
    pub body: BodyId,
    /// The body it stands in.
    pub parent: BodyId,
    /// Bases, interfaces, supertraits; for an impl block the trait.
    pub bases: List,
    /// Keyword arguments of the class statement, in [`FileFacts::args`]; for Rust the traits that it derives, each a nameless
    /// [`Form::Str`](crate::Form::Str) of the last part of its path.
    pub keywords: List,
    /// Its decorators, attributes or annotations, outermost first.
    pub decorators: List,
    /// Its type parameters, as `Form::Str`, or `Form::Cast(Str, bound)`.
    pub type_params: List,
    /// The type that an impl block is for.
    pub subject: FormId,
    /// From the first decorator to its end.
    pub span: Span,
    /// Its name.
    pub name_span: Span,
    /// The variable its definition binds.
    pub var: VarId,
}

/// The kind of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ClassKind {
    /// A class, struct or record.
    Class,
    /// An enum; its variants are variables of its scope.
    Enum,
    /// An interface or trait.
    Interface,
    /// An impl block (Rust).
    Impl,
    /// A type alias that the language declares as such (Rust's and Python's `type`); its target is the `subject`.
    Alias,
    /// An inline module (Rust).
    Module,
}

/// A variable of one scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var {
    /// Its name.
    pub name: Sym,
    /// The body whose scope holds it. A comprehension's variables are of the body it stands in.
    pub body: BodyId,
    /// Its kind.
    pub kind: VarKind,
}

/// The kind of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarKind {
    /// The n-th parameter of its body.
    Param(u32),
    /// A name its scope can be asked for: a global, a member of a class, an item of a block, a local of Python.
    Named,
    /// A name seen only in a part of its body: of a comprehension, a pattern, a block (every local of Rust and Java).
    Inner,
}

/// A part of a body that runs under one condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The region around it; none for a body's own.
    pub parent: RegionId,
    /// Its body.
    pub body: BodyId,
    /// Its kind.
    pub kind: RegionKind,
    /// Arms of one branch share this number, and so do the parts of one `try`; other regions have their own.
    pub group: u32,
    /// The test of an arm or `while` loop, the iterable of a `for` loop, the item of a `with`, the types of a handler.
    pub test: FormId,
    /// Its text.
    pub span: Span,
}

/// The kind of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// A whole body.
    Body,
    /// Runs any number of times; also a comprehension.
    Loop,
    /// Runs if the test holds.
    Then,
    /// Runs if the test does not hold: `else`, or what follows an arm that always leaves.
    Else,
    /// One case of a `match` or `switch`.
    Case,
    /// The guarded part of a `try`.
    Try,
    /// An exception handler.
    Handler,
    /// `finally`.
    Finally,
    /// The block of a `with`, `synchronized` or try-with-resources.
    With,
    /// A plain block with its own scope.
    Block,
}

/// An operation that can run other code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its kind.
    pub kind: SiteKind,
    /// How its result is used.
    pub flags: SiteFlags,
    /// The callee of a call; the operand of an implicit call (the object read, entered, iterated, indexed).
    pub callee: FormId,
    /// The last name of the callee, or the implicit method (`__enter__`, `drop`), or the attribute read.
    pub name: Sym,
    /// Its arguments, in [`FileFacts::args`].
    pub args: List,
    /// Where it stands.
    pub at: At,
    /// Its text: of a call from the receiver's first character to the closing parenthesis; of an implicit call its
    /// operand.
    pub span: Span,
    /// The name called; of an implicit call the operand.
    pub name_span: Span,
}

/// The kind of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteKind {
    /// A call with parentheses.
    Call,
    /// A constructor call that the language marks as one: `new T(…)` (of an anonymous class the callee is that
    /// class), a struct literal, an enum constant or annotation with arguments (Java).
    New,
    /// A macro call, also of an attribute with arguments (Rust); the callee is its path.
    Macro,
    /// The application of a decorator: callee is the decorator, the one argument the decorated function.
    Decorate,
    /// The reading of an attribute outside callee position.
    Read,
    /// The writing or deleting of an attribute.
    Write,
    /// Entering a `with` item; the result is what `as` binds.
    Enter,
    /// Leaving a `with` item.
    Leave,
    /// Iterating to the end: a loop, a comprehension, unpacking, `in` over an iterator.
    Iterate,
    /// `a[i]` read, written or deleted: `__getitem__`, `__setitem__`, `__delitem__`.
    Subscript,
    /// A binary or unary operator, named by its method (`__truediv__`).
    Operator,
    /// `await` of what is not directly a call.
    Await,
    /// An import, which may run a module.
    Import,
    /// The end of a value's life (Rust).
    Drop,
    /// A test of a value's truth, named `__bool__`: `if x`, `not x`, `x and y` (Python).
    Test,
    /// `==`, `<` and their like, named by the left operand's method; the argument is the right operand (Python).
    Compare,
    /// A value that is made a text: in an f-string (`__format__`), by `!r` (`__repr__`), by `"%s" %` (`__str__`) (Python).
    Format,
}

impl SiteKind {
    /// True if the site runs a method of its operand that neither keeps the operand nor hands it on, so that no value is followed
    /// through it.
    pub fn only_asks(self) -> bool {
        matches!(self, SiteKind::Test | SiteKind::Compare | SiteKind::Format)
    }
}

/// How a site's result is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteFlags(pub u8);

impl SiteFlags {
    /// Awaited where it stands.
    pub const AWAITED: SiteFlags = SiteFlags(1);
    /// An expression statement: its result is dropped.
    pub const DISCARDED: SiteFlags = SiteFlags(2);
    /// Of an `async with`, `async for`.
    pub const ASYNC: SiteFlags = SiteFlags(4);
    /// Java: the callee is a bare name, looked up in the classes around it.
    pub const BARE: SiteFlags = SiteFlags(8);

    /// True if all of `other` is set.
    pub fn has(self, other: SiteFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the flags with `other` set.
    pub fn with(self, other: SiteFlags) -> Self {
        SiteFlags(self.0 | other.0)
    }
}

/// One argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Its keyword; none if it is passed by position.
    pub name: Sym,
    /// Its value; `Star` and `StarStar` for unpacked ones.
    pub value: FormId,
    /// Its text, without the keyword.
    pub span: Span,
}

/// Binds a value to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assign {
    /// `Var`, `Attr` or `Subscript`; a pattern is taken apart into several assignments.
    pub target: FormId,
    /// The value; none for a bare declaration (`x: int`, a struct field).
    pub value: FormId,
    /// The declared type.
    pub annotation: FormId,
    /// The kind of binding.
    pub kind: AssignKind,
    /// Where it stands.
    pub at: At,
    /// The target's text.
    pub span: Span,
}

/// The kind of binding of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssignKind {
    /// `x = v`, also a pattern's part, `with … as`, a loop variable.
    Plain,
    /// `x += v`; the value is the operator's result.
    Augmented,
    /// The definition of a function or class.
    Definition,
    /// An import.
    Import,
    /// `x: T` without value, a struct field, an enum variant.
    Declaration,
}

/// A way out of a body with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Which way.
    pub kind: ExitKind,
    /// The value; none for a bare `return`.
    pub value: FormId,
    /// Where it stands.
    pub at: At,
    /// Its text.
    pub span: Span,
}

/// Which way a value leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitKind {
    /// `return`, or the value at the end of a block, lambda or closure.
    Return,
    /// `yield`.
    Yield,
    /// `yield from`.
    YieldFrom,
}

/// One import of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    /// The kind of name that it binds.
    pub kind: ImportKind,
    /// The module or path as written, without leading dots and `super`s: `a.b`, `crate::db`, `java.util`; with a
    /// leading `::` for `use ::a` and `extern crate a`.
    pub module: Sym,
    /// Number of leading dots (Python), of leading `super`s (Rust).
    pub level: u32,
    /// The name taken from the module; none for `import a.b`, for `*`.
    pub name: Sym,
    /// Where it stands.
    pub at: At,
    /// Its text.
    pub span: Span,
}

/// The kind of name that an import binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImportKind {
    /// The module named (`import a.b as m`; Rust's `use a::b`, Java's `import a.B`: the item named).
    Module,
    /// The first segment of the module named (`import a.b`).
    Head,
    /// A name from the module (`from a import b`).
    Name,
    /// Everything (`from a import *`, `use a::*`, `import a.*`); binds no variable.
    Star,
    /// The members of a class (Java's `import static a.B.m`; `name` is none for `*`, which binds no variable).
    Static,
    /// The package that the file itself belongs to (Java's `package a.b;`); binds no variable.
    Package,
    /// A module in another file (Rust's `mod a;`, `a` being the `name`); `module` is the `#[path]`, if there is one.
    File,
}

/// A comment that silences rules or makes a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    /// Its kind.
    pub kind: SuppressionKind,
    /// The rules named, as `Form::Str` (codes or names, as written); empty for a bare comment.
    pub rules: List,
    /// The reason given; none if there is none.
    pub reason: Sym,
    /// The comment, or the part of it with this meaning.
    pub comment: Span,
    /// The lines that it covers: its own, the next line of code if it stands alone, what an annotation stands before,
    /// or the whole file. In Python its own lines begin where a multi-line string or a continuation that ends there
    /// begins; of a comment at the header of a definition they reach to the definition's name.
    pub line: Span,
}

/// The kind of a suppression comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SuppressionKind {
    /// `blocklint: ignore[…]`.
    Ignore,
    /// `noqa` (Python), with or without codes. Without, its lines are its own only.
    Noqa,
    /// `blocklint: nonblocking`: the function on that line must not block.
    Nonblocking,
    /// Words of its author: that what stands on that line holds its thread on purpose, or briefly enough.
    Meant,
    /// It begins nearly like one of blocklint's own and cannot be read; `reason` holds the whole text.
    Malformed,
}

/// Something of the file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// The problem, in one line.
    pub message: String,
}
