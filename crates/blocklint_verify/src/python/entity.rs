//! The definitions and values that a dotted path may lead to.

use std::rc::Rc;

use blocklint_facts::FormId;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId};

/// A function or method; `owner` is the class in which it is looked up, if it is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    pub(crate) body: BodyRef,
    pub(crate) owner: Option<ClassRef>,
}

/// A name bound to something else: a variable, a field, an attribute set in a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    pub(crate) file: FileId,
    pub(crate) owner: Option<ClassRef>,
    pub(crate) expression: FormId,
    pub(crate) annotation: FormId,
}

/// One meaning of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Entity {
    Module(FileId),
    Class(ClassRef),
    Function(Function),
    Value(Value),
    /// An object of a class.
    Instance(ClassRef),
    /// A name of a library that is not at hand.
    Outside(Rc<str>),
}

impl Entity {
    /// Returns the entity of a path that is not at hand.
    pub(crate) fn outside(path: impl AsRef<str>) -> Self {
        Entity::Outside(Rc::from(path.as_ref()))
    }

    /// Returns the function it is.
    pub(crate) fn function(&self) -> Option<Function> {
        match self {
            Entity::Function(function) => Some(*function),
            _ => None,
        }
    }

    /// True if it is a class, a function or a module.
    pub(crate) fn is_definition(&self) -> bool {
        matches!(self, Entity::Class(_) | Entity::Function(_) | Entity::Module(_))
    }

    /// True if it is not at hand.
    pub(crate) fn is_outside(&self) -> bool {
        matches!(self, Entity::Outside(_))
    }
}

/// One of the bases from which a class takes its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Class(ClassRef),
    /// A built-in type, by its name.
    Builtin(&'static str),
    /// A class that is not at hand.
    Outside(Rc<str>),
}
