//! Python: names of builtins and of the standard library that change what code means: decorators, special forms of types, enumerations,
//! base classes without members.

/// The kind of method that a decorator of the language makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decorator {
    /// Reading the attribute calls it.
    Property,
    /// No receiver.
    Static,
    /// The receiver is the class.
    Class,
    /// A generator used in `with`.
    ContextManager,
    /// Answers from memory once it ran, as long as its library keeps what it gave.
    Cached,
    /// Answers from memory once it ran, as long as the program lives.
    Kept,
    /// A property that does.
    CachedProperty,
    /// Leaves the code to classes that derive.
    Abstract,
    /// Keeps the function as it is.
    Transparent,
}

/// True if a class of the language, by its path, only declares how its subclasses look.
pub fn is_for_interfaces(path: &str) -> bool {
    matches!(path, "abc.ABC" | "builtins.object" | "typing.Generic" | "typing.Protocol")
}

/// True if a type of the language, by its path, is text: what is passed where a name is optional is not empty.
pub(crate) fn is_text(path: &str) -> bool {
    path == "builtins.str"
}

/// True if a method of this name takes a text to pieces; no other type of the language has one.
pub(crate) fn splits(name: &str) -> bool {
    matches!(name, "partition" | "rpartition" | "rsplit" | "split")
}

/// True if a type constructor, by its path, lists the literals that its values are.
pub(crate) fn lists_literals(path: &str) -> bool {
    matches!(path, "typing.Literal" | "typing_extensions.Literal")
}

/// True if a type, by its path, is none that anything is made of: others stand for what is annotated so.
pub(crate) fn is_abstract(path: &str) -> bool {
    matches!(path, "typing.IO" | "typing.BinaryIO" | "typing.TextIO")
}

/// Returns the language's own decorators by path.
pub(crate) fn decorator(path: &str) -> Option<Decorator> {
    Some(match path {
        "builtins.property" | "abc.abstractproperty" | "enum.property" | "types.DynamicClassAttribute" => {
            Decorator::Property
        }
        "functools.cached_property" => Decorator::CachedProperty,
        "functools.lru_cache" | "functools.cache" => Decorator::Kept,
        "abc.abstractmethod" => Decorator::Abstract,
        "builtins.staticmethod" | "abc.abstractstaticmethod" => Decorator::Static,
        "builtins.classmethod" | "abc.abstractclassmethod" => Decorator::Class,
        "contextlib.contextmanager" | "contextlib.asynccontextmanager" => Decorator::ContextManager,
        "functools.wraps"
        | "functools.update_wrapper"
        | "typing.overload"
        | "typing.final"
        | "typing.override"
        | "typing.no_type_check"
        | "typing_extensions.override"
        | "typing_extensions.final"
        | "typing_extensions.deprecated"
        | "warnings.deprecated"
        | "dataclasses.dataclass"
        | "enum.unique"
        | "typing.runtime_checkable"
        | "functools.total_ordering"
        | "functools.singledispatch"
        | "functools.singledispatchmethod" => Decorator::Transparent,
        // Many libraries bring the same one under the same name.
        _ => return decorator_by_name(path.rsplit_once('.').map_or(path, |(_, name)| name)),
    })
}

/// Returns the kind of a decorator by the name that caches and properties have in many libraries; these store their
/// function's result: `cachetools.cached`, `cachetools.func.ttl_cache`, `joblib.Memory.cache`,
/// `django.utils.functional.cached_property`, `pyramid.decorator.reify`.
pub(crate) fn decorator_by_name(name: &str) -> Option<Decorator> {
    match name {
        "memoized_property" | "lazy_property" | "reify" => Some(Decorator::CachedProperty),
        _ if name.ends_with("cached_property") => Some(Decorator::CachedProperty),
        "cached" | "cachedmethod" | "cache" | "memoize" | "memoized" | "lru_cache" | "ttl_cache" | "lfu_cache"
        | "fifo_cache" | "rr_cache" | "timed_lru_cache" | "alru_cache" => Some(Decorator::Cached),
        _ => None,
    }
}

/// True if a base class exists for the type checker only.
pub(crate) fn adds_no_members(path: &str) -> bool {
    matches!(path, "typing.Generic" | "typing.Protocol" | "typing_extensions.Protocol" | "builtins.object" | "abc.ABC")
}

/// True if a function informs the type checker and returns its argument.
pub(crate) fn is_cast(path: &str) -> bool {
    matches!(path, "typing.cast" | "typing_extensions.cast")
}

/// The kind of value that the members of an enumeration are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EnumBase {
    /// Values of their own, equal to nothing else.
    Opaque,
    /// The texts or numbers that they stand for.
    Literal,
}

/// True if a base class makes a class an enumeration.
pub(crate) fn is_enum(path: &str) -> bool {
    path.starts_with("enum.") && enum_base(path).is_some()
}

/// Returns the kind of an enumeration's members, if this base class decides it.
pub(crate) fn enum_base(path: &str) -> Option<EnumBase> {
    match path {
        "enum.Enum" | "enum.Flag" => Some(EnumBase::Opaque),
        "enum.StrEnum" | "enum.IntEnum" | "enum.IntFlag" | "builtins.str" | "builtins.int" => Some(EnumBase::Literal),
        _ => None,
    }
}

/// True if a base class of the standard library sets no attributes that its subclasses declare.
pub fn sets_no_attributes(path: &str) -> bool {
    path == "builtins.object"
        || ["typing.", "typing_extensions.", "abc.", "collections.abc."].iter().any(|module| path.starts_with(module))
}

/// The meaning of a name of `typing` in a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// Says nothing: the value is inferred.
    Nothing,
    /// Its argument, or `None`.
    Optional,
    /// One of its arguments.
    Union,
    /// Its first argument, with metadata behind it.
    Annotated,
    /// Its argument.
    Wrapper,
    /// The class itself that the argument names.
    TypeOf,
    /// The class around.
    SelfType,
}

/// Returns the special forms of types by path.
pub(crate) fn special(path: &str) -> Option<Special> {
    let name = path
        .strip_prefix("typing.")
        .or_else(|| path.strip_prefix("typing_extensions."))
        .or_else(|| path.strip_prefix("builtins."))
        .or_else(|| path.strip_prefix("collections.abc."))?;
    Some(match name {
        "Any" | "object" | "Callable" | "type" | "TypeVar" | "ParamSpec" | "Literal" | "LiteralString" | "NoReturn"
        | "Never" | "Hashable" | "Sized" | "Protocol" | "Generic" | "NamedTuple" | "TypedDict" | "TypeAlias" => {
            Special::Nothing
        }
        "Optional" => Special::Optional,
        "Union" => Special::Union,
        "Annotated" => Special::Annotated,
        "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly" | "InitVar" | "TypeGuard" | "Unpack" => {
            Special::Wrapper
        }
        "Type" => Special::TypeOf,
        "Self" => Special::SelfType,
        _ => return None,
    })
}

/// Returns the builtin class that a name of `typing` stands for.
pub(crate) fn generic_alias(path: &str) -> Option<&'static str> {
    Some(match path.strip_prefix("typing.")? {
        "List" => "builtins.list",
        "Dict" => "builtins.dict",
        "Set" => "builtins.set",
        "FrozenSet" => "builtins.frozenset",
        "Tuple" => "builtins.tuple",
        "Deque" => "collections.deque",
        "DefaultDict" => "collections.defaultdict",
        "OrderedDict" => "collections.OrderedDict",
        _ => return None,
    })
}

/// For types whose values are awaited: the argument that is the result of awaiting.
pub(crate) fn awaitable_argument(path: &str) -> Option<usize> {
    match path {
        "typing.Awaitable" | "collections.abc.Awaitable" => Some(0),
        "typing.Coroutine" | "collections.abc.Coroutine" => Some(2),
        _ => None,
    }
}
