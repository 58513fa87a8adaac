//! Rust: name lookup: paths, the prelude, `Self`, impl blocks, callees.

use blocklint_core::Language;
use blocklint_facts::{At, BodyId, ClassId, ClassKind, Form, Import, SiteKind, Sym};

use crate::lang::rust::modules;
use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, Name, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, Why};

/// Crates that depend on tokio without `tokio` in their names. A program with one of them runs on tokio.
pub(crate) const TOKIO_DEPENDENTS: &[&str] = &[
    "actix",
    "actix-rt",
    "actix-web",
    "axum",
    "bb8",
    "deadpool",
    "hyper",
    "hyper-util",
    "lambda_runtime",
    "poem",
    "quinn",
    "reqwest",
    "rocket",
    "salvo",
    "sea-orm",
    "sqlx",
    "tonic",
    "warp",
    "zbus",
];

/// Crates with an async runtime of their own, on which code that needs tokio panics.
pub(crate) const OTHER_RUNTIMES: &[&str] = &[
    "async-executor",
    "async-global-executor",
    "async-std",
    "compio",
    "compio-runtime",
    "glommio",
    "monoio",
    "pollster",
    "smol",
];

/// Names of the prelude that are paths of `std`.
const PRELUDE: &[(&str, &str)] = &[
    ("Box", "std::boxed::Box"),
    ("Option", "std::option::Option"),
    ("Result", "std::result::Result"),
    ("String", "std::string::String"),
    ("Vec", "std::vec::Vec"),
    ("Drop", "std::ops::Drop"),
    ("Fn", "std::ops::Fn"),
    ("FnMut", "std::ops::FnMut"),
    ("FnOnce", "std::ops::FnOnce"),
    ("Iterator", "std::iter::Iterator"),
    ("DoubleEndedIterator", "std::iter::DoubleEndedIterator"),
    ("ExactSizeIterator", "std::iter::ExactSizeIterator"),
    ("Future", "std::future::Future"),
    ("drop", "std::mem::drop"),
    ("Default", "std::default::Default"),
    ("Clone", "std::clone::Clone"),
    ("IntoIterator", "std::iter::IntoIterator"),
    ("Some", "std::option::Option::Some"),
    ("Ok", "std::result::Result::Ok"),
];

/// Returns the value of a name that the file does not bind: `Self`, a type parameter, a name of a glob import or of the
/// prelude, or an external crate.
pub(crate) fn free_name(linker: &Linker<'_>, scope: Scope, sym: Sym) -> Typed {
    let facts = linker.program.facts(scope.file);
    let text = facts.text(sym);
    let body = facts.regions.get(scope.at.region.index()).map_or(BodyId(0), |region| region.body);
    match text {
        "Self" => {
            return match enclosing_class(linker, scope.file, body) {
                Some(class) => linker.known(Val::Class(subject(linker, class).unwrap_or(class))),
                None => linker.unknown(Why::Unbound),
            };
        }
        // An inferred type.
        "_" => return linker.unknown(Why::Expression),
        "crate" => return linker.known(modules::crate_root(linker, scope.file)),
        "self" => return linker.known(modules::module_at(linker, scope.file, body)),
        "super" => return linker.known(modules::parent_module(linker, modules::module_at(linker, scope.file, body))),
        _ => {}
    }
    if let Some(param) = linker.type_param(scope.file, body, sym) {
        return linker.known(param);
    }
    if let Some(name) = linker.program.global(scope.file, sym)
        && let Some(typed) = modules::glob_import_value(linker, scope.file, body, name)
    {
        return typed;
    }
    if let Some((_, path)) = PRELUDE.iter().find(|(name, _)| *name == text) {
        return linker.known(Val::External(linker.library.path(Language::Rust, path)));
    }
    linker.known(modules::named_crate(linker, scope.file, text))
}

/// Returns the impl block, trait or type that encloses a body, or whose own body it is.
pub(crate) fn enclosing_class(linker: &Linker<'_>, file: FileId, body: BodyId) -> Option<ClassRef> {
    linker.class_around(file.body_ref(body)).or_else(|| class_of_body(linker, file, body))
}

/// Returns the impl block, trait or type whose own body this is.
fn class_of_body(linker: &Linker<'_>, file: FileId, body: BodyId) -> Option<ClassRef> {
    let facts = linker.program.facts(file);
    facts.classes.iter().position(|class| class.body == body).map(|index| file.class_ref(ClassId(index as u32)))
}

/// Returns the subject of an impl block: the type that it implements methods for. A type is its own subject.
pub fn subject(linker: &Linker<'_>, class: ClassRef) -> Option<ClassRef> {
    let class_facts = linker.program.class(class);
    if class_facts.kind != ClassKind::Impl {
        return Some(class);
    }
    match linker.values.members(linker.annotation(head_scope(linker, class), class_facts.subject).value)[..] {
        [Val::Instance { class, .. }] => Some(class),
        _ => None,
    }
}

/// Returns the value of `self` in a method of a class, trait or impl block.
pub(crate) fn receiver(linker: &Linker<'_>, class: ClassRef) -> Typed {
    let class_facts = linker.program.class(class);
    if class_facts.kind == ClassKind::Impl {
        return linker.annotation(head_scope(linker, class), class_facts.subject);
    }
    linker.known(Val::Instance { class, exact: false, args: linker.own_params(class) })
}

/// Returns the scope of the head of an impl block, trait or type, in which its type parameters are bound.
pub(crate) fn head_scope(linker: &Linker<'_>, class: ClassRef) -> Scope {
    let facts = linker.program.facts(class.file);
    let at = At { region: facts.body(linker.program.class(class).body).region, position: u32::MAX };
    Scope { file: class.file, at, env: EnvId::NONE }
}

/// Returns the member that a path segment after a value refers to: `load` in `Store::load`.
pub(crate) fn path_member(linker: &Linker<'_>, member: Val, name: Name) -> Typed {
    match (member, linker.program.text(name)) {
        (Val::Module(_), "super") => return linker.known(modules::parent_module(linker, member)),
        (Val::Module(_), "self") => return linker.known(member),
        _ => {}
    }
    match member {
        Val::Module(_) => modules::module_item(linker, member, name).unwrap_or_else(|| linker.unknown(Why::Unbound)),
        Val::Class(class) => {
            if linker.program.class(class).kind == ClassKind::Module {
                if linker.program.text(name) == "super" {
                    return linker.known(modules::parent_module(linker, member));
                }
                return modules::module_item(linker, member, name).unwrap_or_else(|| linker.unknown(Why::Unbound));
            }
            // `type Shared = Arc<Store>; Shared::new(…)`.
            if linker.program.class(class).kind == ClassKind::Alias {
                let scope = Scope { file: class.file, at: At::default(), env: EnvId::NONE };
                let target = linker.instance_of_class(scope, class);
                return linker.map(target, |val| match val {
                    Val::Instance { class: target, .. } if target != class => {
                        path_member(linker, Val::Class(target), name)
                    }
                    Val::Library { ty, .. } => path_member(linker, Val::External(ty), name),
                    _ => linker.unknown(Why::Attribute),
                });
            }
            linker.attr(member, name)
        }
        // The first segment of `::std::fs::read` is a crate.
        Val::External(path) if linker.library.text(path).is_empty() => {
            linker.known(Val::External(linker.library.path(Language::Rust, linker.program.text(name))))
        }
        Val::External(path) => {
            linker.known(Val::External(linker.library.member_or_reexported_crate(path, linker.program.text(name))))
        }
        Val::Library { ty, .. } => linker.known(Val::External(linker.library.member(ty, linker.program.text(name)))),
        Val::Instance { class, .. } => path_member(linker, Val::Class(class), name),
        Val::Param { .. } => linker.map(linker.bound_of(member), |bound| match bound {
            Val::Instance { class, .. } => linker.attr(Val::Class(class), name),
            Val::Library { ty, .. } => path_member(linker, Val::External(ty), name),
            _ => linker.unknown(Why::Attribute),
        }),
        Val::Unknown(why) => linker.unknown(why),
        _ => linker.unknown(Why::Attribute),
    }
}

/// Returns the value that a `use` or `mod` binds.
pub(crate) fn import(linker: &Linker<'_>, file: FileId, row: &Import) -> Typed {
    modules::import(linker, file, row)
}

/// The number of nested pointers that are followed to a method.
const POINTERS: u32 = 4;

/// Returns the callee of a call.
pub(crate) fn callee(linker: &Linker<'_>, scope: Scope, site: SiteRef) -> Typed {
    let facts = linker.program.facts(site.file);
    let form = linker.program.site(site).callee;
    if linker.program.site(site).kind == SiteKind::Macro {
        // A macro of the same file is a variable.
        if !matches!(facts.form(form), Form::Var(_))
            && let Some(found) = linker.macro_of_project(site)
        {
            return found;
        }
        return linker.map(linker.eval(scope, form), |val| match val {
            Val::External(path) => linker.known(Val::External(linker.library.macro_path(path))),
            other => linker.known(other),
        });
    }
    // `conn.get::<_, String>("a")`
    let method = match facts.form(form) {
        Form::Subscript(inner, _) if matches!(facts.form(inner), Form::Attr(..)) => inner,
        _ => form,
    };
    // A field may have the name of a method.
    if let Form::Attr(base, sym) = facts.form(method)
        && let Some(name) = linker.program.global(site.file, sym)
    {
        if let Some(conversion) = linker.conversion_callee(scope, site, base, name) {
            return conversion;
        }
        let base = linker.without_none(linker.eval(scope, base));
        let found = linker.map(base, |member| match member {
            // `Store.load()`: a call on the instance of a unit struct.
            Val::Class(class) => {
                let class_member = linker.attr_or_trait_method(site, member, name);
                if !linker.values.is_unknown(class_member.value) {
                    return class_member;
                }
                linker.attr_or_trait_method(site, Val::Instance { class, exact: true, args: ArgsId::NONE }, name)
            }
            Val::Instance { .. } | Val::Library { .. } => {
                match linker.method_through_pointers(member, name, POINTERS) {
                    Some(method) => method,
                    None if matches!(member, Val::Library { .. }) => linker.map(linker.attr(member, name), |val| {
                        linker.known(linker.or_imported_trait_method(site, val, name))
                    }),
                    None => linker.attr_or_trait_method(site, member, name),
                }
            }
            // Tuples and futures of the project only have methods of imported traits.
            Val::Tuple(_) | Val::Coroutine { .. } | Val::Awaitable(_) => match linker.imported_trait_method(site, name)
            {
                Some(path) => linker.known(Val::Method { path, receiver: linker.values.bound(member) }),
                None => linker.attr(member, name),
            },
            _ => linker.attr_or_trait_method(site, member, name),
        });
        // `(self.jobs["a"])()` has the same form as a method with type arguments.
        let may_be_called = |val: &Val| matches!(*val, Val::Unknown(_)) || linker.is_callable(*val);
        if method == form || linker.values.members(found.value).iter().any(may_be_called) {
            return linker.callee_of_fitting_impls(scope, site, found);
        }
    }
    linker.callee_of_fitting_impls(scope, site, linker.eval(scope, form))
}

/// True if a path refers to `Result` or `Option`: `?` and `unwrap` return its first type argument.
pub fn is_fallible(path: &str) -> bool {
    matches!(path.rsplit("::").next(), Some("Result" | "Option"))
}

/// Returns the path of `std::result::Result` for a library's alias of it: `anyhow::Result<T>`.
pub(crate) fn aliased_result(path: &str) -> Option<&'static str> {
    const STD_RESULT: &str = "std::result::Result";
    (path != STD_RESULT && path.ends_with("::Result")).then_some(STD_RESULT)
}

/// Returns the path of a file's module below its crate's source folder.
pub(crate) fn module_name(linker: &Linker<'_>, file: FileId) -> String {
    let relative = &linker.program.files[file.index()].relative;
    let inside = relative.rsplit_once("src/").map_or(relative.as_str(), |(_, inside)| inside);
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    if matches!(inside, "lib" | "main" | "mod") { String::new() } else { inside.replace('/', "::") }
}

/// True if a path refers to a closure trait, or of function pointers.
pub(crate) fn is_callable(path: &str) -> bool {
    matches!(path, "std::ops::Fn" | "std::ops::FnMut" | "std::ops::FnOnce" | "fn")
}

/// True if a path refers to a trait of readers or writers. The callers decide if the value is a file.
pub(crate) fn is_reader(path: &str) -> bool {
    crate::lang::rust::words::READERS.contains(&path)
}

/// Methods of iterators that consume the iterator.
pub const ITERATOR_CONSUMERS: &[&str] = &[
    "next", "collect", "for_each", "fold", "count", "last", "any", "all", "find", "find_map", "nth", "sum", "max",
    "min",
];

/// Methods of the language's own traits that return their receiver, or a view of it.
const RECEIVER_RETURNING: &[&str] = &[
    "clone",
    "to_owned",
    "as_ref",
    "as_mut",
    "borrow",
    "borrow_mut",
    "by_ref",
    "deref",
    "deref_mut",
    "as_deref",
    "as_deref_mut",
    "get_mut",
    "get_ref",
    "as_pin_mut",
    "into_inner",
];

/// True if a method of this name, unless the type defines it, returns its receiver or a view of it.
pub(crate) fn keeps_receiver(method: &str) -> bool {
    RECEIVER_RETURNING.contains(&method)
}

/// True if a method of a `Result` or `Option` returns a value that is absent where its receiver is: `ok`, `as_ref`.
pub fn keeps_absence(method: &str) -> bool {
    method == "ok" || keeps_receiver(method)
}
