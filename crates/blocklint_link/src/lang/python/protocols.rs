//! Python: protocols: the special methods that an operation (`x in y`, `if x:`, `f"{x}"`) or a builtin function
//! (`len(x)`) calls on its operands.
//!
//! The tables are read in both directions (`implicit_calls.rs`): from a site to the methods that it runs, and from a
//! method to the names of the sites that may run it. Functions that iterate over an argument are not listed here,
//! because model rows with `consumes` describe them.

/// The operand of a site whose method runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// The operand of a unary operation, the left operand of a binary one, the container of `in`.
    Own,
    /// The right operand of a binary operation, whose method runs if the left operand has none.
    Other,
    /// The first argument of a function.
    First,
    /// Each positional argument of a function.
    Positional,
    /// Each argument of a function.
    Each,
}

/// One step of a protocol. The first step that the operand has runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandCall {
    /// The method of this name.
    Method(&'static str),
    /// An iteration: `__iter__` and then `__next__` of the iterator, or `__getitem__` for each index.
    Iteration,
}

/// The methods that an operation or a function runs on one of its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Protocol {
    /// The name that the front end records for sites of the operation, or the path of the function.
    pub caller: &'static str,
    /// The operand.
    pub operand: Operand,
    /// The steps that are tried, in order.
    pub steps: &'static [OperandCall],
}

const fn protocol(caller: &'static str, operand: Operand, steps: &'static [OperandCall]) -> Protocol {
    Protocol { caller, operand, steps }
}

use Operand::{Each, First, Other, Own, Positional};
use OperandCall::{Iteration, Method};

const AS_TEXT: &[OperandCall] = &[Method("__str__"), Method("__repr__")];
const FORMATTED: &[OperandCall] = &[Method("__format__"), Method("__str__"), Method("__repr__")];
const TRUTH: &[OperandCall] = &[Method("__bool__"), Method("__len__")];

/// The protocols of operations, by the name of their sites. An operation that is not listed runs the method of its
/// name.
const OPERATIONS: &[Protocol] = &[
    protocol("__bool__", Own, TRUTH),
    protocol("__format__", Own, FORMATTED),
    protocol("__str__", Own, AS_TEXT),
    protocol("__repr__", Own, &[Method("__repr__")]),
    protocol("__contains__", Own, &[Method("__contains__"), Iteration]),
    protocol("__eq__", Own, &[Method("__eq__")]),
    protocol("__eq__", Other, &[Method("__eq__")]),
    protocol("__ne__", Own, &[Method("__ne__"), Method("__eq__")]),
    protocol("__ne__", Other, &[Method("__ne__"), Method("__eq__")]),
    protocol("__lt__", Own, &[Method("__lt__")]),
    protocol("__lt__", Other, &[Method("__gt__")]),
    protocol("__le__", Own, &[Method("__le__")]),
    protocol("__le__", Other, &[Method("__ge__")]),
    protocol("__gt__", Own, &[Method("__gt__")]),
    protocol("__gt__", Other, &[Method("__lt__")]),
    protocol("__ge__", Own, &[Method("__ge__")]),
    protocol("__ge__", Other, &[Method("__le__")]),
];

/// Binary operators with the reflected method of the right operand, and their augmented assignments, which fall back on
/// both.
macro_rules! arithmetic {
    ($($name:literal),* $(,)?) => {
        &[$(
            protocol(concat!("__", $name, "__"), Own, &[Method(concat!("__", $name, "__"))]),
            protocol(concat!("__", $name, "__"), Other, &[Method(concat!("__r", $name, "__"))]),
            protocol(
                concat!("__i", $name, "__"),
                Own,
                &[Method(concat!("__i", $name, "__")), Method(concat!("__", $name, "__"))],
            ),
            protocol(concat!("__i", $name, "__"), Other, &[Method(concat!("__r", $name, "__"))]),
        )*]
    };
}

const ARITHMETIC: &[Protocol] = arithmetic![
    "add", "sub", "mul", "matmul", "truediv", "mod", "pow", "lshift", "rshift", "or", "xor", "and", "floordiv",
];

const FUNCTIONS: &[Protocol] = &[
    protocol("builtins.len", First, &[Method("__len__")]),
    protocol("builtins.bool", First, TRUTH),
    protocol("builtins.str", First, AS_TEXT),
    protocol("builtins.repr", First, &[Method("__repr__")]),
    protocol("builtins.ascii", First, &[Method("__repr__")]),
    protocol("builtins.format", First, FORMATTED),
    protocol("builtins.str.format", Each, FORMATTED),
    protocol("builtins.print", Positional, AS_TEXT),
    protocol("builtins.int", First, &[Method("__int__"), Method("__index__"), Method("__trunc__")]),
    protocol("builtins.float", First, &[Method("__float__"), Method("__index__")]),
    protocol("builtins.complex", First, &[Method("__complex__"), Method("__float__"), Method("__index__")]),
    protocol("builtins.bytes", First, &[Method("__bytes__"), Iteration]),
    protocol("builtins.hash", First, &[Method("__hash__")]),
    protocol("builtins.abs", First, &[Method("__abs__")]),
    protocol("builtins.round", First, &[Method("__round__")]),
    protocol("builtins.divmod", First, &[Method("__divmod__")]),
    protocol("builtins.pow", First, &[Method("__pow__")]),
    protocol("builtins.reversed", First, &[Method("__reversed__")]),
    protocol("builtins.next", First, &[Method("__next__")]),
    protocol(ITER, First, &[Method("__iter__")]),
    protocol("builtins.dir", First, &[Method("__dir__")]),
];

/// The function that returns an iterator without calling `__next__`.
pub(crate) const ITER: &str = "builtins.iter";

/// The methods that an iteration may run. Sites of loops have the name of the first one.
pub(crate) const ITERATION: &[&str] = &["__iter__", "__next__", "__getitem__"];

impl OperandCall {
    /// True if the step may run a method of this name.
    pub(crate) fn may_run(self, method: &str) -> bool {
        match self {
            Method(own) => own == method,
            Iteration => ITERATION.contains(&method),
        }
    }
}

impl Protocol {
    /// Returns the name of the sites: the operation's name, or the last segment of the function's path.
    pub(crate) fn site_name(&self) -> &'static str {
        self.caller.rsplit('.').next().unwrap_or(self.caller)
    }
}

/// Returns the protocols of an operation, by the name of its sites; none if the operation only runs the method of that
/// name.
pub(crate) fn operation_protocols(name: &str) -> impl Iterator<Item = &'static Protocol> {
    OPERATIONS.iter().chain(ARITHMETIC).filter(move |row| row.caller == name)
}

/// Returns the protocols of a function, by its path.
pub(crate) fn function_protocols(path: &str) -> impl Iterator<Item = &'static Protocol> {
    let is_builtin = path.starts_with("builtins.");
    FUNCTIONS.iter().filter(move |row| is_builtin && row.caller == path)
}

/// Returns all protocols.
pub(crate) fn all_protocols() -> impl Iterator<Item = &'static Protocol> {
    OPERATIONS.iter().chain(ARITHMETIC).chain(FUNCTIONS)
}

/// True if sites of this name run a method by an iteration, not directly: `list(x)` runs `__next__` so, `next(x)` does
/// not.
pub(crate) fn runs_by_iteration(site: &str, method: &str) -> bool {
    let runs_directly = |row: &Protocol| {
        row.site_name() == site && row.steps.iter().any(|step| matches!(step, Method(name) if *name == method))
    };
    ITERATION.contains(&method) && site != method && !all_protocols().any(runs_directly)
}

/// True if a binary operation runs a method of its left operand.
pub(crate) fn is_left_operand_method(operation: &str, method: &str) -> bool {
    let runs = |row: &'static Protocol| row.operand == Own && row.steps.iter().any(|step| step.may_run(method));
    operation == method || operation_protocols(operation).any(runs)
}

/// Returns the operator of the comparison that runs a method: `<` for `__lt__`.
pub(crate) fn comparison_operator(method: &str) -> &'static str {
    match method {
        "__ne__" => "!=",
        "__lt__" => "<",
        "__le__" => "<=",
        "__gt__" => ">",
        "__ge__" => ">=",
        _ => "==",
    }
}

/// True if the method of this name returns an iterator: `__iter__`.
pub fn returns_iterator(method: &str) -> bool {
    method == ITERATION[0]
}

/// True if the only argument of a special method is a key or the name of an attribute: `__getitem__`.
pub fn takes_only_key(method: &str) -> bool {
    matches!(method, "__getitem__" | "__delitem__" | "__missing__" | "__getattr__" | "__getattribute__" | "__delattr__")
}
