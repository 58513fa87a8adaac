//! Python: modules, imports, star imports, builtins, and the names that change what code means.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{At, BodyId, Form, FormId, Import, ImportId, ImportKind, Sym};

use crate::linker::{Linker, Typed};
use crate::program::ids::{FileId, Name, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val, Why};

/// What a decorator of the language makes of a method.
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

/// Whether a class of the language, by its path, only says how others are to be derived.
pub fn is_for_interfaces(path: &str) -> bool {
    matches!(path, "abc.ABC" | "builtins.object" | "typing.Generic" | "typing.Protocol")
}

/// Whether a type of the language, by its path, is text: what is passed where a name is optional is not empty.
pub(crate) fn is_text(path: &str) -> bool {
    path == "builtins.str"
}

/// Whether a method of this name takes a text to pieces; no other type of the language has one.
pub(crate) fn splits(name: &str) -> bool {
    matches!(name, "partition" | "rpartition" | "rsplit" | "split")
}

/// Whether a type constructor, by its path, lists the literals that its values are.
pub(crate) fn lists_literals(path: &str) -> bool {
    matches!(path, "typing.Literal" | "typing_extensions.Literal")
}

/// Whether a type, by its path, is none that anything is made of: others stand for what is annotated so.
pub(crate) fn is_abstract(path: &str) -> bool {
    matches!(path, "typing.IO" | "typing.BinaryIO" | "typing.TextIO")
}

/// The language's own decorators by path.
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

/// Caches and properties that keep what their function gave, by the name that they have in many libraries: `cachetools.cached`,
/// `cachetools.func.ttl_cache`, `joblib.Memory.cache`, `django.utils.functional.cached_property`, `pyramid.decorator.reify`.
fn decorator_by_name(name: &str) -> Option<Decorator> {
    match name {
        "memoized_property" | "lazy_property" | "reify" => Some(Decorator::CachedProperty),
        _ if name.ends_with("cached_property") => Some(Decorator::CachedProperty),
        "cached" | "cachedmethod" | "cache" | "memoize" | "memoized" | "lru_cache" | "ttl_cache" | "lfu_cache"
        | "fifo_cache" | "rr_cache" | "timed_lru_cache" | "alru_cache" => Some(Decorator::Cached),
        _ => None,
    }
}

/// Whether a base class only speaks to the type checker.
pub(crate) fn adds_no_members(path: &str) -> bool {
    matches!(path, "typing.Generic" | "typing.Protocol" | "typing_extensions.Protocol" | "builtins.object" | "abc.ABC")
}

/// Whether a function tells the type checker something and gives back what it is given.
pub(crate) fn is_cast(path: &str) -> bool {
    matches!(path, "typing.cast" | "typing_extensions.cast")
}

/// What the members of an enumeration are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EnumBase {
    /// Values of their own, equal to nothing else.
    Opaque,
    /// The texts or numbers that they stand for.
    Literal,
}

/// Whether a base class makes a class an enumeration.
pub(crate) fn is_enum(path: &str) -> bool {
    path.starts_with("enum.") && enum_base(path).is_some()
}

/// What a base class says of an enumeration's members.
pub(crate) fn enum_base(path: &str) -> Option<EnumBase> {
    match path {
        "enum.Enum" | "enum.Flag" => Some(EnumBase::Opaque),
        "enum.StrEnum" | "enum.IntEnum" | "enum.IntFlag" | "builtins.str" | "builtins.int" => Some(EnumBase::Literal),
        _ => None,
    }
}

/// Whether a base class of the standard library sets no attributes that its subclasses declare.
pub fn sets_no_attributes(path: &str) -> bool {
    path == "builtins.object"
        || ["typing.", "typing_extensions.", "abc.", "collections.abc."].iter().any(|module| path.starts_with(module))
}

/// What a name of `typing` means in a type.
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

/// The special forms of types by path.
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

/// A name that the file does not bind: from a star import, else a builtin.
pub(crate) fn free_name(linker: &Linker<'_>, file: FileId, sym: Sym) -> Typed {
    let Some(name) = linker.program.global(file, sym) else { return linker.unknown(Why::Unbound) };
    if let Some(typed) = from_stars(linker, file, name) {
        return typed;
    }
    let text = linker.program.text(name);
    if text.starts_with("__") && text.ends_with("__") {
        return linker.unknown(Why::Unbound);
    }
    // A name that a star import of a library may give belongs to that library if a model says so.
    for &import in stars(linker, file).iter() {
        if let Val::External(module) = import {
            let path = linker.library.member(module, text);
            if linker.library.speaks(path) {
                return linker.known(Val::External(path));
            }
        }
    }
    let path = linker.library.path(Language::Python, &format!("builtins.{text}"));
    linker.known(Val::External(path))
}

/// The modules whose names a file imports with `*`.
fn stars(linker: &Linker<'_>, file: FileId) -> Rc<[Val]> {
    linker.query(&linker.tables.python.stars, file, Rc::default, || {
        let facts = linker.program.facts(file);
        let stars = facts.imports.iter().filter(|import| import.kind == ImportKind::Star);
        stars.map(|import| module_of(linker, file, &import)).collect()
    })
}

/// A name that a star import of a project module gives.
fn from_stars(linker: &Linker<'_>, file: FileId, name: Name) -> Option<Typed> {
    for &module in stars(linker, file).iter() {
        if let Val::Module(other) = module
            && other != file
            && let Some(typed) = exported(linker, other, name, 8)
        {
            return Some(typed);
        }
    }
    None
}

/// A public name of a module, through its own star imports.
fn exported(linker: &Linker<'_>, file: FileId, name: Name, depth: u32) -> Option<Typed> {
    let depth = depth.checked_sub(1)?;
    if !is_public(linker, file, name) {
        return None;
    }
    if let Some(var) = linker.program.scope_var(file, BodyId(0), name) {
        let scope = Scope { file, at: At::default(), env: EnvId::NONE };
        return Some(linker.var(scope, var));
    }
    for &module in stars(linker, file).iter() {
        if let Val::Module(other) = module
            && other != file
            && let Some(typed) = exported(linker, other, name, depth)
        {
            return Some(typed);
        }
    }
    None
}

/// Whether a star import takes a name: `__all__` decides where it is a plain list, else the leading underscore.
fn is_public(linker: &Linker<'_>, file: FileId, name: Name) -> bool {
    let facts = linker.program.facts(file);
    let text = linker.program.text(name);
    let all = linker.program.name("__all__").and_then(|all| linker.program.scope_var(file, BodyId(0), all));
    let listed = all.and_then(|var| {
        let mut rows = facts.assigns_of(var);
        let row = rows.next()?;
        match (facts.form(row.value), rows.next()) {
            (Form::Display(_, list), None) => Some(
                facts
                    .list(list)
                    .iter()
                    .any(|&part| matches!(facts.form(part), Form::Str(sym) if facts.text(sym) == text)),
            ),
            _ => None,
        }
    });
    listed.unwrap_or(!text.starts_with('_'))
}

/// What an import binds.
pub(crate) fn import(linker: &Linker<'_>, file: FileId, id: ImportId) -> Typed {
    linker.query_value(&linker.tables.values.imports, (file, id), || {
        let facts = linker.program.facts(file);
        let row = facts.import(id);
        let module = module_of(linker, file, &row);
        match row.kind {
            ImportKind::Head => {
                let head = facts.text(row.module).split('.').next().unwrap_or("");
                linker.known(absolute(linker, file, head))
            }
            ImportKind::Name => match linker.program.global(file, row.name) {
                Some(name) => linker.attr(module, name),
                None => linker.unknown(Why::Unbound),
            },
            _ => linker.known(module),
        }
    })
}

/// The builtin class that a name of `typing` stands for.
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

/// For types whose values are awaited: which argument awaiting gives.
pub(crate) fn awaitable_argument(path: &str) -> Option<usize> {
    match path {
        "typing.Awaitable" | "collections.abc.Awaitable" => Some(0),
        "typing.Coroutine" | "collections.abc.Coroutine" => Some(2),
        _ => None,
    }
}

/// The module that an import names, for aliases of types.
pub fn module_named(linker: &Linker<'_>, file: FileId, row: &Import) -> Val {
    module_of(linker, file, row)
}

/// The module that an import names.
fn module_of(linker: &Linker<'_>, file: FileId, row: &Import) -> Val {
    let facts = linker.program.facts(file);
    let dotted = facts.text(row.module);
    if row.level == 0 {
        return absolute(linker, file, dotted);
    }
    let mut folder = parent(&linker.program.files[file.index()].relative);
    for _ in 1..row.level {
        if folder.is_empty() {
            return Val::Unknown(Why::Unbound);
        }
        folder = parent(folder);
    }
    below(linker, folder, dotted).unwrap_or(Val::Unknown(Why::Unbound))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// An absolute import: in the file's own import root, then in the nearest other; else a library.
fn absolute(linker: &Linker<'_>, file: FileId, dotted: &str) -> Val {
    let relative = linker.program.files[file.index()].relative.as_str();
    let own = own_root(linker, relative);
    let head = dotted.split('.').next().unwrap_or("");
    // A script in a package finds what lies beside it.
    let beside = |val| match val {
        Val::External(_) if own != parent(relative) && !linker.library.knows_root(Language::Python, head) => {
            below(linker, parent(relative), dotted).filter(|found| matches!(found, Val::Module(_))).unwrap_or(val)
        }
        _ => val,
    };
    // Files of one root import alike.
    let find = || match below(linker, own, dotted) {
        Some(found @ Val::Module(_)) => found,
        in_own => {
            let mut roots: Vec<&str> = linker.program.layout.import_roots.iter().map(String::as_str).collect();
            roots.sort_by_key(|root| (std::cmp::Reverse(common_depth(root, relative)), *root));
            let elsewhere = || roots.iter().find_map(|root| below(linker, root, dotted));
            let mut found = in_own.or_else(elsewhere).filter(|_| !dotted.is_empty());
            // A folder without modules of its own must not hide a library of that name.
            if let Some(Val::Folder(_)) = found
                && linker.library.knows_root(Language::Python, head)
            {
                found = None;
            }
            found.unwrap_or_else(|| {
                match below(linker, own, head).or_else(|| roots.iter().find_map(|root| below(linker, root, head))) {
                    // The package is the project's, the module is missing: generated, or made at run time.
                    Some(Val::Module(_)) if dotted != head => Val::Unknown(Why::Unbound),
                    _ => Val::External(linker.library.path(Language::Python, dotted)),
                }
            })
        }
    };
    let key = (own, dotted.to_owned());
    beside(linker.query_or_cut(&linker.tables.python.modules, key, |cut| Val::Unknown(cut.into()), find))
}

/// The import root a file itself lies under: the parent of its topmost package, or its own folder. A folder without a
/// file of its own inside a package is part of it.
pub(crate) fn own_root<'a>(linker: &Linker<'a>, relative: &'a str) -> &'a str {
    let own = parent(relative);
    linker.query(&linker.tables.python.own_roots, own, || own, || root_of_folder(linker, own))
}

fn root_of_folder<'p>(linker: &Linker<'_>, own: &'p str) -> &'p str {
    let (mut root, mut folder) = (own, own);
    while !folder.is_empty() {
        let above = parent(folder);
        if linker.program.is_package(folder) {
            root = above;
        }
        folder = above;
    }
    root
}

fn common_depth(root: &str, relative: &str) -> usize {
    if root.is_empty() {
        return 0;
    }
    root.split('/').zip(relative.split('/')).take_while(|(a, b)| a == b).count()
}

/// The module at a dotted path below a folder.
fn below(linker: &Linker<'_>, folder: &str, dotted: &str) -> Option<Val> {
    let mut path = folder.to_owned();
    for part in dotted.split('.').filter(|part| !part.is_empty()) {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
    }
    let end = path.len();
    for ending in ["/__init__.py", ".py"] {
        path.push_str(ending);
        if let Some(file) = linker.program.file_at(&path) {
            return Some(Val::Module(file));
        }
        path.truncate(end);
    }
    linker.program.is_folder(&path).then(|| Val::Folder(linker.library.path(Language::Python, &path)))
}

/// The project's file that an import's module is, and the folder in which names imported from it may be modules.
pub fn imported_module(linker: &Linker<'_>, file: FileId, row: &Import) -> (Option<FileId>, Option<String>) {
    match module_of(linker, file, row) {
        Val::Module(of) => {
            let relative = &linker.program.files[of.index()].relative;
            (Some(of), relative.ends_with("__init__.py").then(|| parent(relative).to_owned()))
        }
        Val::Folder(path) => (None, Some(linker.library.text(path).to_string())),
        _ => (None, None),
    }
}

/// The module of this name in a folder.
pub fn file_below(linker: &Linker<'_>, folder: &str, name: Name) -> Option<FileId> {
    match below(linker, folder, linker.program.text(name)) {
        Some(Val::Module(of)) => Some(of),
        _ => None,
    }
}

/// A member of a project module.
pub(crate) fn module_member(linker: &Linker<'_>, file: FileId, name: Name) -> Typed {
    if let Some(var) = linker.program.scope_var(file, BodyId(0), name) {
        let scope = Scope { file, at: At::default(), env: EnvId::NONE };
        let typed = linker.var(scope, var);
        if !linker.values.is_unknown(typed.value) {
            return typed;
        }
        return submodule(linker, file, name).unwrap_or(typed);
    }
    if let Some(typed) = submodule(linker, file, name) {
        return typed;
    }
    if let Some(typed) = from_stars(linker, file, name) {
        return typed;
    }
    let text = linker.program.text(name);
    for &module in stars(linker, file).iter() {
        if let Val::External(module) = module {
            let path = linker.library.member(module, text);
            if linker.library.speaks(path) {
                return linker.known(Val::External(path));
            }
        }
    }
    linker.module_attribute_from_others(file, name).unwrap_or_else(|| linker.unknown(Why::Attribute))
}

/// A module of a package that has a file.
fn submodule(linker: &Linker<'_>, file: FileId, name: Name) -> Option<Typed> {
    let folder = linker.program.files[file.index()].relative.strip_suffix("/__init__.py")?;
    let found = below(linker, folder, linker.program.text(name))?;
    Some(linker.known(found))
}

/// A module of a folder without a file of its own.
pub(crate) fn folder_member(linker: &Linker<'_>, folder: &str, name: Name) -> Typed {
    match below(linker, folder, linker.program.text(name)) {
        Some(found) => linker.known(found),
        None => linker.unknown(Why::Attribute),
    }
}

/// The qualified name of a Python module: its dotted path below its import root.
pub(crate) fn module_name(linker: &Linker<'_>, file: FileId) -> String {
    let relative = &linker.program.files[file.index()].relative;
    let root = own_root(linker, relative);
    let inside = relative.strip_prefix(root).unwrap_or(relative).trim_start_matches('/');
    let inside = inside.strip_suffix(".py").or_else(|| inside.strip_suffix(".ipynb")).unwrap_or(inside);
    inside.strip_suffix("/__init__").unwrap_or(inside).replace('/', ".")
}

/// The right side of a variable that is an alias of a type: assigned once, with what can be read as a type.
pub(crate) fn alias_target(linker: &Linker<'_>, at: VarRef) -> Option<FormId> {
    let facts = linker.program.facts(at.file);
    let row = linker.program.only_value_of(at)?;
    matches!(facts.form(row.value), Form::Subscript(..) | Form::Join(_) | Form::Attr(..) | Form::Var(_) | Form::Name(_))
        .then_some(row.value)
}
