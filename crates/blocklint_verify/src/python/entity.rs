//! The results of the lookup of a dotted path (`Entity`): modules, classes, functions and values.

use std::rc::Rc;

use blocklint_facts::FormId;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId};

/// A function or method; `owner` is the class on which a method is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    pub(crate) body: BodyRef,
    pub(crate) owner: Option<ClassRef>,
}

/// A name that is bound to a value: a variable, a field, an attribute that a method sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    pub(crate) file: FileId,
    pub(crate) owner: Option<ClassRef>,
    pub(crate) expression: FormId,
    pub(crate) annotation: FormId,
}

/// A definition or value that a path refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Entity {
    Module(FileId),
    Class(ClassRef),
    Function(Function),
    Value(Value),
    /// An instance of a class.
    Instance(ClassRef),
    /// A path in a library that was not extracted.
    Outside(Rc<str>),
}

impl Entity {
    /// Returns the entity of a path in a library that was not extracted.
    pub(crate) fn outside(path: impl AsRef<str>) -> Self {
        Entity::Outside(Rc::from(path.as_ref()))
    }

    /// Returns the function, if the entity is one.
    pub(crate) fn function(&self) -> Option<Function> {
        match self {
            Entity::Function(function) => Some(*function),
            _ => None,
        }
    }

    /// True if the entity is a class, a function or a module.
    pub(crate) fn is_definition(&self) -> bool {
        matches!(self, Entity::Class(_) | Entity::Function(_) | Entity::Module(_))
    }

    /// True if the entity is in a library that was not extracted.
    pub(crate) fn is_outside(&self) -> bool {
        matches!(self, Entity::Outside(_))
    }
}

/// A class in the method resolution order of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Class(ClassRef),
    /// A built-in type, by its name.
    Builtin(&'static str),
    /// A class in a library that was not extracted.
    Outside(Rc<str>),
}
