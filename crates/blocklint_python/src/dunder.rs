//! Dunder methods that syntax calls implicitly (`__enter__`, `__iter__`, `__add__`); each name is interned at its first
//! use.

use blocklint_facts::{FactsBuilder, Sym};
use ruff_python_ast::{CmpOp, Operator, UnaryOp};

/// The symbols of the dunder methods, by their index in [`NAMES`].
#[derive(Debug)]
pub(crate) struct Dunders([Sym; NAMES.len()]);

impl Default for Dunders {
    fn default() -> Self {
        Dunders([Sym::NONE; NAMES.len()])
    }
}

impl Dunders {
    pub(crate) fn intern(&mut self, dunder: Dunder, facts: &mut FactsBuilder) -> Sym {
        let slot = &mut self.0[dunder.0 as usize];
        if slot.is_none() {
            *slot = facts.intern(NAMES[dunder.0 as usize]);
        }
        *slot
    }
}

/// A dunder method: an index into [`NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dunder(u8);

impl Dunder {
    pub(crate) const ENTER: Dunder = Dunder(0);
    pub(crate) const EXIT: Dunder = Dunder(1);
    pub(crate) const AENTER: Dunder = Dunder(2);
    pub(crate) const AEXIT: Dunder = Dunder(3);
    pub(crate) const ITER: Dunder = Dunder(4);
    pub(crate) const AITER: Dunder = Dunder(5);
    pub(crate) const GETITEM: Dunder = Dunder(6);
    pub(crate) const SETITEM: Dunder = Dunder(7);
    pub(crate) const DELITEM: Dunder = Dunder(8);
    pub(crate) const CONTAINS: Dunder = Dunder(9);
    pub(crate) const AWAIT: Dunder = Dunder(10);
    pub(crate) const INVERT: Dunder = Dunder(11);
    pub(crate) const POS: Dunder = Dunder(12);
    pub(crate) const NEG: Dunder = Dunder(13);

    pub(crate) const BOOL: Dunder = Dunder(40);
    pub(crate) const FORMAT: Dunder = Dunder(41);
    pub(crate) const STR: Dunder = Dunder(42);
    pub(crate) const REPR: Dunder = Dunder(43);

    /// Returns the method of a comparison of values; `is` and `in` have none.
    pub(crate) fn from_comparison(operator: CmpOp) -> Option<Dunder> {
        match operator {
            CmpOp::Eq => Some(Dunder(44)),
            CmpOp::NotEq => Some(Dunder(45)),
            CmpOp::Lt => Some(Dunder(46)),
            CmpOp::LtE => Some(Dunder(47)),
            CmpOp::Gt => Some(Dunder(48)),
            CmpOp::GtE => Some(Dunder(49)),
            CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn => None,
        }
    }

    /// Returns the method of a unary operator; `not` has none.
    pub(crate) fn from_unary(operator: UnaryOp) -> Option<Dunder> {
        match operator {
            UnaryOp::Invert => Some(Dunder::INVERT),
            UnaryOp::UAdd => Some(Dunder::POS),
            UnaryOp::USub => Some(Dunder::NEG),
            UnaryOp::Not => None,
        }
    }

    /// Returns the method of a binary operator.
    pub(crate) fn from_binary(operator: Operator) -> Dunder {
        Dunder(14 + operator_index(operator))
    }

    /// Returns the method of an augmented assignment.
    pub(crate) fn from_augmented(operator: Operator) -> Dunder {
        Dunder(27 + operator_index(operator))
    }
}

fn operator_index(operator: Operator) -> u8 {
    match operator {
        Operator::Add => 0,
        Operator::Sub => 1,
        Operator::Mult => 2,
        Operator::MatMult => 3,
        Operator::Div => 4,
        Operator::Mod => 5,
        Operator::Pow => 6,
        Operator::LShift => 7,
        Operator::RShift => 8,
        Operator::BitOr => 9,
        Operator::BitXor => 10,
        Operator::BitAnd => 11,
        Operator::FloorDiv => 12,
    }
}

const NAMES: [&str; 50] = [
    "__enter__",
    "__exit__",
    "__aenter__",
    "__aexit__",
    "__iter__",
    "__aiter__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__contains__",
    "__await__",
    "__invert__",
    "__pos__",
    "__neg__",
    "__add__",
    "__sub__",
    "__mul__",
    "__matmul__",
    "__truediv__",
    "__mod__",
    "__pow__",
    "__lshift__",
    "__rshift__",
    "__or__",
    "__xor__",
    "__and__",
    "__floordiv__",
    "__iadd__",
    "__isub__",
    "__imul__",
    "__imatmul__",
    "__itruediv__",
    "__imod__",
    "__ipow__",
    "__ilshift__",
    "__irshift__",
    "__ior__",
    "__ixor__",
    "__iand__",
    "__ifloordiv__",
    "__bool__",
    "__format__",
    "__str__",
    "__repr__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
];
