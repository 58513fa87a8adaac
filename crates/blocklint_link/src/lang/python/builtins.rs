//! Python: paths of builtins and of the standard library that have a meaning in the language: decorators, special forms
//! of `typing`, enumerations, base classes without members.

/// The effect of a decorator of the language on its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decorator {
    /// A read of the attribute calls the function.
    Property,
    /// A static method, without a receiver.
    Static,
    /// A class method, whose receiver is the class.
    Class,
    /// The function is a generator, and its result is used in `with`.
    ContextManager,
    /// A cache that may drop results: `cachetools.cached`.
    Cached,
    /// A cache that keeps results until the program ends: `functools.lru_cache`.
    PermanentlyCached,
    /// A property whose object keeps the value: `functools.cached_property`.
    CachedProperty,
    /// Subclasses implement the method.
    Abstract,
    /// Returns a function that behaves like the decorated one: `functools.wraps`.
    Transparent,
}

/// True if the path refers to a base class that marks interfaces: `typing.Protocol`.
pub fn is_interface_marker(path: &str) -> bool {
    matches!(path, "abc.ABC" | "builtins.object" | "typing.Generic" | "typing.Protocol")
}

/// True if the path refers to `str`. Callers of a parameter `name: str = None` pass a text that is not empty.
pub(crate) fn is_text(path: &str) -> bool {
    path == "builtins.str"
}

/// True if a method of this name splits a string. Only strings have such a method.
pub(crate) fn splits_string(name: &str) -> bool {
    matches!(name, "partition" | "rpartition" | "rsplit" | "split")
}

/// True if the path refers to `Literal`, whose arguments are the possible values.
pub(crate) fn is_literal_constructor(path: &str) -> bool {
    matches!(path, "typing.Literal" | "typing_extensions.Literal")
}

/// True if the path refers to an abstract type of streams: values declared so are of other types.
pub(crate) fn is_abstract_stream(path: &str) -> bool {
    matches!(path, "typing.IO" | "typing.BinaryIO" | "typing.TextIO")
}

/// Returns the effect of a decorator, by its path.
pub(crate) fn decorator(path: &str) -> Option<Decorator> {
    Some(match path {
        "builtins.property" | "abc.abstractproperty" | "enum.property" | "types.DynamicClassAttribute" => {
            Decorator::Property
        }
        "functools.cached_property" => Decorator::CachedProperty,
        "functools.lru_cache" | "functools.cache" => Decorator::PermanentlyCached,
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
        // Many libraries have a decorator of the same name and effect.
        _ => return decorator_by_name(path.rsplit_once('.').map_or(path, |(_, name)| name)),
    })
}

/// Returns the effect of a decorator by its last name, for the names of caches and cached properties in many libraries:
/// `cachetools.cached`, `cachetools.func.ttl_cache`, `joblib.Memory.cache`,
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

/// True if the path refers to a base class without members: `typing.Generic`.
pub(crate) fn adds_no_members(path: &str) -> bool {
    matches!(path, "typing.Generic" | "typing.Protocol" | "typing_extensions.Protocol" | "builtins.object" | "abc.ABC")
}

/// True if the path refers to `typing.cast`, which returns its argument.
pub(crate) fn is_cast(path: &str) -> bool {
    matches!(path, "typing.cast" | "typing_extensions.cast")
}

/// The values of an enumeration's members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EnumBase {
    /// Each member is equal to itself only: `enum.Enum`.
    Opaque,
    /// Each member is equal to its string or number: `enum.StrEnum`.
    Literal,
}

/// True if a base class makes a class an enumeration.
pub(crate) fn is_enum(path: &str) -> bool {
    path.starts_with("enum.") && enum_base(path).is_some()
}

/// Returns the kind of an enumeration's members, if the base class of this path decides it.
pub(crate) fn enum_base(path: &str) -> Option<EnumBase> {
    match path {
        "enum.Enum" | "enum.Flag" => Some(EnumBase::Opaque),
        "enum.StrEnum" | "enum.IntEnum" | "enum.IntFlag" | "builtins.str" | "builtins.int" => Some(EnumBase::Literal),
        _ => None,
    }
}

/// True if the constructor of a base class of the standard library assigns no attributes.
pub fn sets_no_attributes(path: &str) -> bool {
    path == "builtins.object"
        || ["typing.", "typing_extensions.", "abc.", "collections.abc."].iter().any(|module| path.starts_with(module))
}

/// The meaning of a special form of `typing` in an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecialForm {
    /// The annotation declares no type, so the value is inferred: `Any`.
    Nothing,
    /// Its argument, or `None`.
    Optional,
    /// One of its arguments.
    Union,
    /// Its first argument; the others are metadata.
    Annotated,
    /// Its argument: `Final[int]`.
    Wrapper,
    /// The class object of its argument: `Type[Store]`.
    TypeOf,
    /// The enclosing class.
    SelfType,
}

/// Returns the special form of a path of `typing`, `builtins` or `collections.abc`.
pub(crate) fn special_form(path: &str) -> Option<SpecialForm> {
    let name = path
        .strip_prefix("typing.")
        .or_else(|| path.strip_prefix("typing_extensions."))
        .or_else(|| path.strip_prefix("builtins."))
        .or_else(|| path.strip_prefix("collections.abc."))?;
    Some(match name {
        "Any" | "object" | "Callable" | "type" | "TypeVar" | "ParamSpec" | "Literal" | "LiteralString" | "NoReturn"
        | "Never" | "Hashable" | "Sized" | "Protocol" | "Generic" | "NamedTuple" | "TypedDict" | "TypeAlias" => {
            SpecialForm::Nothing
        }
        "Optional" => SpecialForm::Optional,
        "Union" => SpecialForm::Union,
        "Annotated" => SpecialForm::Annotated,
        "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly" | "InitVar" | "TypeGuard" | "Unpack" => {
            SpecialForm::Wrapper
        }
        "Type" => SpecialForm::TypeOf,
        "Self" => SpecialForm::SelfType,
        _ => return None,
    })
}

/// Returns the builtin class that a generic alias of `typing` stands for: `builtins.list` for `typing.List`.
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

/// Returns the index of the type argument that is the result of `await`, for types of awaitables: 2 for
/// `Coroutine[Any, Any, int]`.
pub(crate) fn awaitable_argument(path: &str) -> Option<usize> {
    match path {
        "typing.Awaitable" | "collections.abc.Awaitable" => Some(0),
        "typing.Coroutine" | "collections.abc.Coroutine" => Some(2),
        _ => None,
    }
}
