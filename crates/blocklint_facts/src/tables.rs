//! The rows of the tables of one file: bodies, parameters, classes, variables, regions, sites, assignments, exits,
//! imports, suppression comments.

use blocklint_core::Span;
use serde::{Deserialize, Serialize};

use crate::{BodyId, ClassId, FormId, List, RegionId, Sym, VarId};

/// A place in the order of evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// The innermost region around the place.
    pub region: RegionId,
    /// Position in the file's order of evaluation; positions of different bodies cannot be compared.
    pub position: u32,
}

/// Code that runs as one piece: a function, a lambda, the top level of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// The kind of the body.
    pub kind: BodyKind,
    /// The way in which a call runs it.
    pub flow: Flow,
    /// Properties that its syntax shows.
    pub flags: BodyFlags,
    /// The name; `<lambda>` and the like for bodies without a name.
    pub name: Sym,
    /// The body around it; none for the top level.
    pub parent: BodyId,
    /// The class of which it is a member; none if it is no member of a class.
    pub class: ClassId,
    /// The parameters, in [`FileFacts::params`](crate::FileFacts::params).
    pub params: List,
    /// The decorators, attributes or annotations, outermost first, as forms.
    pub decorators: List,
    /// The declared result type.
    pub returns: FormId,
    /// The text from the first decorator to the end of the body.
    pub span: Span,
    /// The text of the name, or of the first token if it has no name.
    pub name_span: Span,
    /// The region of the whole body.
    pub region: RegionId,
    /// The variable that its definition binds.
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

/// The way in which a call runs a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// The call runs it at once.
    Sync,
    /// It runs when the result of the call is awaited.
    Coroutine,
    /// It runs while the result of the call is iterated.
    Generator,
    /// It runs while the result of the call is iterated with `async for`.
    AsyncGenerator,
}

/// Properties of a body that its syntax shows, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodyFlags(pub u8);

impl BodyFlags {
    /// It has no code of its own: `...`, only a docstring, `raise NotImplementedError`, no block.
    pub const STUB: BodyFlags = BodyFlags(1);
    /// It is a closure that owns its captures (`move`).
    pub const MOVE: BodyFlags = BodyFlags(2);
    /// It uses a local of the body around it, or its `self`.
    pub const CAPTURES: BodyFlags = BodyFlags(4);
    /// It is `static`, or an associated function without a receiver.
    pub const STATIC: BodyFlags = BodyFlags(8);
    /// It is in code that is built only for tests (`#[cfg(test)]`, `#[test]`).
    pub const TEST: BodyFlags = BodyFlags(16);
    /// It is declared as an override or implementation of a method of a base (`@Override`).
    pub const OVERRIDES: BodyFlags = BodyFlags(32);
    /// It is declared as deprecated (`@Deprecated`, `#[deprecated]`).
    pub const DEPRECATED: BodyFlags = BodyFlags(64);

    /// True if all of `other` is set.
    pub fn has(self, other: BodyFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the flags with `other` set.
    pub fn with(self, other: BodyFlags) -> Self {
        BodyFlags(self.0 | other.0)
    }
}

/// A parameter of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    /// The name; none for a pattern.
    pub name: Sym,
    /// The way in which it is passed.
    pub kind: ParamKind,
    /// The variable that it binds.
    pub var: VarId,
    /// The default value, which is evaluated in the scope around the body.
    pub default: FormId,
    /// The declared type.
    pub annotation: FormId,
}

/// The way in which a parameter is passed.
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
    /// `self` in Rust. In Python `self` is a normal parameter; in Java `this` is `Form::This`.
    Receiver,
}

/// A class, struct, enum, trait, interface, impl block, type alias or inline module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// The kind of the class.
    pub kind: ClassKind,
    /// The name; empty for an impl block or an anonymous class.
    pub name: Sym,
    /// The body, whose scope has its members.
    pub body: BodyId,
    /// The body around it.
    pub parent: BodyId,
    /// The bases, interfaces or supertraits; for an impl block the trait.
    pub bases: List,
    /// The keyword arguments of the class statement, in [`FileFacts::args`](crate::FileFacts::args). In Rust the traits
    /// that it derives, each a nameless [`Form::Str`](crate::Form::Str) of the last part of its path.
    pub keywords: List,
    /// The decorators, attributes or annotations, outermost first.
    pub decorators: List,
    /// The type parameters, as `Form::Str`, or `Form::Cast(Str, bound)`.
    pub type_params: List,
    /// The type that an impl block implements, or the target of an alias.
    pub subject: FormId,
    /// The text from the first decorator to the end.
    pub span: Span,
    /// The text of the name.
    pub name_span: Span,
    /// The variable that its definition binds.
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
    /// A declared type alias (`type` in Rust and Python); its target is the `subject`.
    Alias,
    /// An inline module (Rust).
    Module,
}

/// A variable of one scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var {
    /// The name.
    pub name: Sym,
    /// The body whose scope has it. The variables of a comprehension are in the scope of the body around it.
    pub body: BodyId,
    /// The kind of the variable.
    pub kind: VarKind,
}

/// The kind of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarKind {
    /// The n-th parameter of its body.
    Param(u32),
    /// A name that is visible in its whole scope: a global, a member of a class, an item of a block, a local of Python.
    Named,
    /// A name that is visible only in a part of its body: in a comprehension, a pattern, a block (every local of Rust
    /// and Java).
    Inner,
}

/// A part of a body that runs under one condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The region around it; none for the region of a whole body.
    pub parent: RegionId,
    /// The body that it belongs to.
    pub body: BodyId,
    /// The kind of the region.
    pub kind: RegionKind,
    /// A number that the arms of one branch share, and the parts of one `try`; other regions have a number of their
    /// own.
    pub group: u32,
    /// The test of an arm or `while` loop, the iterable of a `for` loop, the item of a `with`, the types of a handler.
    pub test: FormId,
    /// The text of the region.
    pub span: Span,
}

/// The kind of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// A whole body.
    Body,
    /// A loop or a comprehension, which runs any number of times.
    Loop,
    /// Code that runs if the test is true.
    Then,
    /// Code that runs if the test is false: `else`, or the code behind an arm that always leaves.
    Else,
    /// A case of a `match` or `switch`.
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
    /// The kind of the operation.
    pub kind: SiteKind,
    /// The way in which its result is used.
    pub flags: SiteFlags,
    /// The callee of a call; the operand of an implicit call (the object that is read, entered, iterated, indexed).
    pub callee: FormId,
    /// The last name of the callee, the implicit method (`__enter__`, `drop`), or the attribute that is read.
    pub name: Sym,
    /// The arguments, in [`FileFacts::args`](crate::FileFacts::args).
    pub args: List,
    /// The region and the position in the order of evaluation.
    pub at: At,
    /// The text: for a call from the receiver's first character to the closing parenthesis, for an implicit call the
    /// operand.
    pub span: Span,
    /// The text of the called name; for an implicit call the operand.
    pub name_span: Span,
}

/// The kind of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteKind {
    /// A call with parentheses.
    Call,
    /// A constructor call that the syntax shows: `new T(…)` (for an anonymous class the callee is that class), a struct
    /// literal, an enum constant or annotation with arguments (Java).
    New,
    /// A call of a macro, or an attribute with arguments (Rust); the callee is its path.
    Macro,
    /// The application of a decorator; the callee is the decorator, the argument is the decorated function.
    Decorate,
    /// Reading an attribute that is not called.
    Read,
    /// Writing or deleting an attribute.
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
    /// `await` of a value that is not directly a call.
    Await,
    /// An import, which may run a module.
    Import,
    /// The end of a value's life (Rust).
    Drop,
    /// A test of a value's truth, with the name `__bool__`: `if x`, `not x`, `x and y` (Python).
    Test,
    /// A comparison (`==`, `<`), with the name of the left operand's method; the argument is the right operand
    /// (Python).
    Compare,
    /// The formatting of a value: in an f-string (`__format__`), by `!r` (`__repr__`), by `"%s" %` (`__str__`)
    /// (Python).
    Format,
}

impl SiteKind {
    /// True if the site runs a method that neither stores its operand nor passes it on, so that the analysis follows no
    /// value through the site: tests, comparisons, formatting.
    pub fn keeps_no_operand(self) -> bool {
        matches!(self, SiteKind::Test | SiteKind::Compare | SiteKind::Format)
    }
}

/// The way in which a site's result is used, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteFlags(pub u8);

impl SiteFlags {
    /// The result is awaited at once.
    pub const AWAITED: SiteFlags = SiteFlags(1);
    /// The site is an expression statement, so that its result is dropped.
    pub const DISCARDED: SiteFlags = SiteFlags(2);
    /// The site belongs to an `async with` or `async for`.
    pub const ASYNC: SiteFlags = SiteFlags(4);
    /// The callee is a simple name, which is looked up in the classes around the call (Java).
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

/// An argument of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    /// The keyword; none if the argument is positional.
    pub name: Sym,
    /// The value; `Star` or `StarStar` if it is unpacked.
    pub value: FormId,
    /// The text of the argument, without the keyword.
    pub span: Span,
}

/// An assignment: it binds a value to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assign {
    /// The target, a `Var`, `Attr` or `Subscript`; a pattern becomes several assignments.
    pub target: FormId,
    /// The value; none for a bare declaration (`x: int`, a struct field).
    pub value: FormId,
    /// The declared type.
    pub annotation: FormId,
    /// The kind of the assignment.
    pub kind: AssignKind,
    /// The region and the position in the order of evaluation.
    pub at: At,
    /// The text of the target.
    pub span: Span,
}

/// The kind of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssignKind {
    /// `x = v`, a part of a pattern, `with … as`, a loop variable.
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

/// An exit of a body, with a value: `return`, `yield`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The kind of the exit.
    pub kind: ExitKind,
    /// The value; none for a `return` without a value.
    pub value: FormId,
    /// The region and the position in the order of evaluation.
    pub at: At,
    /// The text of the exit.
    pub span: Span,
}

/// The kind of an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitKind {
    /// `return`, or the value at the end of a block, lambda or closure.
    Return,
    /// `yield`.
    Yield,
    /// `yield from`.
    YieldFrom,
}

/// The import of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    /// The kind of name that it binds.
    pub kind: ImportKind,
    /// The module or path as written, without leading dots and `super`s: `a.b`, `crate::db`, `java.util`; with a
    /// leading `::` for `use ::a` and `extern crate a`.
    pub module: Sym,
    /// The number of leading dots (Python), or of leading `super`s (Rust).
    pub level: u32,
    /// The name that is imported from the module; none for `import a.b` and for `*`.
    pub name: Sym,
    /// The region and the position in the order of evaluation.
    pub at: At,
    /// The text of the import.
    pub span: Span,
}

/// The kind of name that an import binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImportKind {
    /// The module (`import a.b as m`), or the item of a path (`use a::b` in Rust, `import a.B` in Java).
    Module,
    /// The first segment of the module (`import a.b`).
    Head,
    /// A name from the module (`from a import b`).
    Name,
    /// All names (`from a import *`, `use a::*`, `import a.*`); binds no variable.
    Star,
    /// A static member of a class (`import static a.B.m` in Java; `name` is none for `*`, which binds no variable).
    Static,
    /// The package of the file (`package a.b;` in Java); binds no variable.
    Package,
    /// A module in another file (`mod a;` in Rust, with the `name` `a`); `module` is the `#[path]`, if there is one.
    File,
}

/// A comment that suppresses findings or promises that code does not block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    /// The kind of the comment.
    pub kind: SuppressionKind,
    /// The rules (codes or names, as written), as `Form::Str`; empty for a comment that lists no rules.
    pub rules: List,
    /// The reason; none if the comment has no reason.
    pub reason: Sym,
    /// The text of the comment, or of the part of it that is this directive.
    pub comment: Span,
    /// The lines that it covers: its own line, the next line of code if it is alone on its line, the definition behind
    /// an annotation, or the whole file. In Python the covered lines begin at the start of a multi-line string or
    /// continuation that ends on the comment's line; for a comment at the header of a definition they include the line
    /// of the definition's name.
    pub covered_span: Span,
}

/// The kind of a suppression comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SuppressionKind {
    /// `blocklint: ignore[…]`.
    Ignore,
    /// `noqa` (Python), with or without codes. Without codes it covers only its own line.
    Noqa,
    /// `blocklint: nonblocking`: the function on that line must not block.
    Nonblocking,
    /// A comment in the author's own words which says that code on that line holds its thread on purpose, or briefly
    /// enough.
    Meant,
    /// A comment that is similar to a comment of blocklint and cannot be parsed; `reason` is the whole text.
    Malformed,
}

/// A part of the file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The place of the part.
    pub span: Span,
    /// The problem, in one line.
    pub message: String,
}
