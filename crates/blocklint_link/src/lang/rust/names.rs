//! Rust: paths, modules, impl blocks.

use blocklint_core::Language;
use blocklint_facts::{At, BodyId, ClassKind, Form, Import, SiteKind, Sym};

use crate::lang::rust::modules;
use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, Name, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, Why};

/// Packages that run on tokio, beside those called so: who depends on one has it.
pub(crate) const ON_TOKIO: &[&str] = &[
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

/// Packages that bring a runtime of their own, on which what needs tokio's does not work.
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

/// Returns a name that the file does not bind: `Self`, a type parameter, a name of a glob import, of the prelude, or an
/// external crate.
pub(crate) fn free_name(linker: &Linker<'_>, scope: Scope, sym: Sym) -> Typed {
    let facts = linker.program.facts(scope.file);
    let text = facts.text(sym);
    let body = facts.regions.get(scope.at.region.index()).map_or(BodyId(0), |region| region.body);
    match text {
        "Self" => {
            return match around(linker, scope.file, body) {
                Some(class) => linker.known(Val::Class(subject(linker, class).unwrap_or(class))),
                None => linker.unknown(Why::Unbound),
            };
        }
        // To be inferred.
        "_" => return linker.unknown(Why::Expression),
        "crate" => return linker.known(modules::crate_root(linker, scope.file)),
        "self" => return linker.known(modules::module_at(linker, scope.file, body)),
        "super" => return linker.known(modules::parent(linker, modules::module_at(linker, scope.file, body))),
        _ => {}
    }
    if let Some(param) = linker.type_param(scope.file, body, sym) {
        return linker.known(param);
    }
    if let Some(name) = linker.program.global(scope.file, sym)
        && let Some(typed) = modules::through_globs(linker, scope.file, body, name)
    {
        return typed;
    }
    if let Some((_, path)) = PRELUDE.iter().find(|(name, _)| *name == text) {
        return linker.known(Val::External(linker.library.path(Language::Rust, path)));
    }
    linker.known(modules::named_crate(linker, scope.file, text))
}

/// Returns the impl block, trait or type around a body, also where the body is its own.
pub(crate) fn around(linker: &Linker<'_>, file: FileId, body: BodyId) -> Option<ClassRef> {
    linker.class_around(file.body_ref(body)).or_else(|| block_of(linker, file, body))
}

/// Returns the impl block or trait around a body, where the body is the block's own.
fn block_of(linker: &Linker<'_>, file: FileId, body: BodyId) -> Option<ClassRef> {
    let facts = linker.program.facts(file);
    facts
        .classes
        .iter()
        .position(|class| class.body == body)
        .map(|at| file.class_ref(blocklint_facts::ClassId(at as u32)))
}

/// Returns the type that an impl block is for.
pub fn subject(linker: &Linker<'_>, class: ClassRef) -> Option<ClassRef> {
    let row = linker.program.class(class);
    if row.kind != ClassKind::Impl {
        return Some(class);
    }
    match linker.values.members(linker.annotation(head_scope(linker, class), row.subject).value)[..] {
        [Val::Instance { class, .. }] => Some(class),
        _ => None,
    }
}

/// Returns the value of `self` in a method of a class, trait or impl block.
pub(crate) fn receiver(linker: &Linker<'_>, class: ClassRef) -> Typed {
    let row = linker.program.class(class);
    if row.kind == ClassKind::Impl {
        return linker.annotation(head_scope(linker, class), row.subject);
    }
    linker.known(Val::Instance { class, exact: false, args: linker.own_params(class) })
}

/// Returns the scope in which the head of an impl block is read: its type parameters are known there.
pub(crate) fn head_scope(linker: &Linker<'_>, class: ClassRef) -> Scope {
    let facts = linker.program.facts(class.file);
    let at = At { region: facts.body(linker.program.class(class).body).region, position: u32::MAX };
    Scope { file: class.file, at, env: EnvId::NONE }
}

/// Returns a path segment behind a value.
pub(crate) fn path_member(linker: &Linker<'_>, member: Val, name: Name) -> Typed {
    match (member, linker.program.text(name)) {
        (Val::Module(_), "super") => return linker.known(modules::parent(linker, member)),
        (Val::Module(_), "self") => return linker.known(member),
        _ => {}
    }
    match member {
        Val::Module(_) => modules::member(linker, member, name).unwrap_or_else(|| linker.unknown(Why::Unbound)),
        Val::Class(class) => {
            if linker.program.class(class).kind == ClassKind::Module {
                if linker.program.text(name) == "super" {
                    return linker.known(modules::parent(linker, member));
                }
                return modules::member(linker, member, name).unwrap_or_else(|| linker.unknown(Why::Unbound));
            }
            // `type Shared = Arc<Store>; Shared::new(…)`.
            if linker.program.class(class).kind == ClassKind::Alias {
                let scope = Scope { file: class.file, at: At::default(), env: EnvId::NONE };
                let meant = linker.instance_of_class(scope, class);
                return linker.map(meant, |val| match val {
                    Val::Instance { class: of, .. } if of != class => path_member(linker, Val::Class(of), name),
                    Val::Library { ty, .. } => path_member(linker, Val::External(ty), name),
                    _ => linker.unknown(Why::Attribute),
                });
            }
            linker.attr(member, name)
        }
        // `::std::fs::read` begins at the crates.
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

/// Pointers in each other that are looked through for a method.
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
    // A field may bear the name of a method.
    if let Form::Attr(base, sym) = facts.form(method)
        && let Some(name) = linker.program.global(site.file, sym)
    {
        if let Some(conversion) = linker.conversion(scope, site, base, name) {
            return conversion;
        }
        let base = linker.without_none(linker.eval(scope, base));
        let found = linker.map(base, |member| match member {
            // `Store.load()`: the one value of a struct without fields.
            Val::Class(class) => {
                let own = linker.attr_or_by_argument(site, member, name);
                let only = Val::Instance { class, exact: true, args: ArgsId::NONE };
                if linker.values.is_unknown(own.value) { linker.attr_or_by_argument(site, only, name) } else { own }
            }
            Val::Instance { .. } | Val::Library { .. } => match linker.method_behind(member, name, POINTERS) {
                Some(method) => method,
                None if matches!(member, Val::Library { .. }) => {
                    linker.map(linker.attr(member, name), |val| linker.known(linker.of_imported_trait(site, val, name)))
                }
                None => linker.attr_or_by_argument(site, member, name),
            },
            // A future of the project has the methods of those traits alone.
            Val::Tuple(_) | Val::Coroutine { .. } | Val::Awaitable(_) => match linker.imported_trait_method(site, name)
            {
                Some(path) => linker.known(Val::Method { path, receiver: linker.values.bound(member) }),
                None => linker.attr(member, name),
            },
            _ => linker.attr_or_by_argument(site, member, name),
        });
        // `(self.jobs["a"])()` is no method with type arguments.
        let is_called = |val: &Val| matches!(*val, Val::Unknown(_)) || linker.is_callable(*val);
        if method == form || linker.values.members(found.value).iter().any(is_called) {
            return linker.of_fitting_impls(scope, site, found);
        }
    }
    linker.of_fitting_impls(scope, site, linker.eval(scope, form))
}

/// True if `?` and `unwrap` take the first argument of this type.
pub fn is_fallible(path: &str) -> bool {
    matches!(path.rsplit("::").next(), Some("Result" | "Option"))
}

/// Returns the language's own type behind a library's name for it: `anyhow::Result<T>`.
pub(crate) fn result_behind(path: &str) -> Option<&'static str> {
    const OWN: &str = "std::result::Result";
    (path != OWN && path.ends_with("::Result")).then_some(OWN)
}

/// Returns the path of a file's module below its crate's source folder.
pub(crate) fn module_name(linker: &Linker<'_>, file: FileId) -> String {
    let relative = &linker.program.files[file.index()].relative;
    let inside = relative.rsplit_once("src/").map_or(relative.as_str(), |(_, inside)| inside);
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    if matches!(inside, "lib" | "main" | "mod") { String::new() } else { inside.replace('/', "::") }
}

/// True if a path is that of a trait of closures, or of functions.
pub(crate) fn is_callable(path: &str) -> bool {
    matches!(path, "std::ops::Fn" | "std::ops::FnMut" | "std::ops::FnOnce" | "fn")
}

/// True if a path is that of a trait of readers or writers. The callers show whether the value that they pass is a
/// file.
pub(crate) fn is_reader(path: &str) -> bool {
    crate::lang::rust::words::READERS.contains(&path)
}

/// Methods of iterators that run them.
pub const CONSUMERS: &[&str] = &[
    "next", "collect", "for_each", "fold", "count", "last", "any", "all", "find", "find_map", "nth", "sum", "max",
    "min",
];

/// Methods of the language's own traits that return their receiver, or a view of it.
const KEEP: &[&str] = &[
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

/// True if a method that a type does not define returns the receiver.
pub(crate) fn keeps_receiver(method: &str) -> bool {
    KEEP.contains(&method)
}
