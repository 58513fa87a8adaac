//! What a dotted path may lead to.

use std::rc::Rc;

use blocklint_facts::{BodyId, ClassId, FormId};

/// A file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileRef(pub(crate) u32);

/// A module or package, with its sources and stubs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ModuleRef(pub(crate) u32);

/// A class, in a source or a stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClassRef {
    pub(crate) file: FileRef,
    pub(crate) class: ClassId,
}

/// A function or method; `owner` is the class in which it is looked up, if it is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    pub(crate) file: FileRef,
    pub(crate) body: BodyId,
    pub(crate) owner: Option<ClassRef>,
}

/// A name bound to something else: a variable, a field, an attribute set in a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    pub(crate) file: FileRef,
    pub(crate) owner: Option<ClassRef>,
    pub(crate) expression: FormId,
    pub(crate) annotation: FormId,
}

/// What a path may lead to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Entity {
    Module(ModuleRef),
    Class(ClassRef),
    Function(Function),
    Value(Value),
    /// An object of a class.
    Instance(ClassRef),
    /// Something of a library that is not at hand, or of an expression that is not understood.
    Outside(Rc<str>),
}

impl Entity {
    /// Something that is not at hand.
    pub(crate) fn outside(path: impl AsRef<str>) -> Self {
        Entity::Outside(Rc::from(path.as_ref()))
    }

    /// The function it is.
    pub(crate) fn function(&self) -> Option<Function> {
        match self {
            Entity::Function(function) => Some(*function),
            _ => None,
        }
    }

    /// Whether it is a class, a function or a module.
    pub(crate) fn is_definition(&self) -> bool {
        matches!(self, Entity::Class(_) | Entity::Function(_) | Entity::Module(_))
    }

    /// Whether it is not at hand.
    pub(crate) fn is_outside(&self) -> bool {
        matches!(self, Entity::Outside(_))
    }
}

/// What a scope binds a name to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// It is this.
    Is(Entity),
    /// Another module gives it: a name of that module, or the module itself.
    From { source: Rc<str>, name: Option<Rc<str>> },
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
