//! Rust: paths, modules, impl blocks.

use blocklint_core::Language;
use blocklint_facts::{At, BodyId, ClassKind, FileFacts, Form, Import, ImportId, ImportKind, Sym};

use crate::eval::Scope;
use crate::ids::{ClassRef, FileId, Name, SiteRef};
use crate::link::{Link, Task, Typed};
use crate::value::{ArgsId, EnvId, Val, Why};

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
    ("drop", "std::mem::drop"),
];

/// A name that the file does not bind: `Self`, a name of a glob import, of the prelude, or an external crate.
pub(crate) fn free_name(link: &Link<'_>, scope: Scope, sym: Sym) -> Typed {
    let facts = link.program.facts(scope.file);
    let text = facts.text(sym);
    let body = facts.regions.get(scope.at.region.index()).map_or(BodyId(0), |region| region.body);
    match text {
        "Self" => {
            return match link.class_around(scope.file, body).or_else(|| block_of(link, scope.file, body)) {
                Some(class) => link.known(Val::Class(subject(link, class).unwrap_or(class))),
                None => link.unknown(Why::Unbound),
            };
        }
        "crate" => return link.known(crate_root(link, scope.file)),
        "self" => return link.known(Val::Module(scope.file)),
        "super" => return link.known(parent_module(link, scope.file)),
        _ => {}
    }
    if let Some(name) = link.program.global(scope.file, sym) {
        for glob in globs(facts) {
            if let Val::Module(file) = glob_base(link, scope.file, glob)
                && file != scope.file
                && let Some(var) = link.program.scope_var(file, BodyId(0), name)
            {
                return link.var(Scope { file, at: At::default(), env: EnvId::NONE }, var);
            }
        }
    }
    for glob in globs(facts) {
        if let Val::External(module) = glob_base(link, scope.file, glob) {
            let path = link.library.member(module, text);
            if link.library.speaks(path) {
                return link.known(Val::External(path));
            }
        }
    }
    if let Some((_, path)) = PRELUDE.iter().find(|(name, _)| *name == text) {
        return link.known(Val::External(link.library.path(Language::Rust, path)));
    }
    link.known(named_crate(link, text))
}

/// A crate of the workspace by the name that paths have, else an external one.
fn named_crate(link: &Link<'_>, name: &str) -> Val {
    for package in &link.program.layout.crates {
        if package.name == name
            && let Some(root) = package.roots.iter().find(|root| root.ends_with("lib.rs")).or(package.roots.first())
            && let Some(file) = link.program.file_at(root)
        {
            return Val::Module(file);
        }
    }
    Val::External(link.library.path(Language::Rust, name))
}

/// The impl block or trait around a body, where the body is the block's own.
fn block_of(link: &Link<'_>, file: FileId, body: BodyId) -> Option<ClassRef> {
    let facts = link.program.facts(file);
    facts
        .classes
        .iter()
        .position(|class| class.body == body)
        .map(|at| ClassRef { file, class: blocklint_facts::ClassId(at as u32) })
}

/// The type an impl block is for.
pub(crate) fn subject(link: &Link<'_>, class: ClassRef) -> Option<ClassRef> {
    let facts = link.program.facts(class.file);
    let row = facts.class(class.class);
    if row.kind != ClassKind::Impl {
        return Some(class);
    }
    let at = At { region: facts.body(row.parent).region, position: u32::MAX };
    let scope = Scope { file: class.file, at, env: EnvId::NONE };
    match link.values.members(link.annotation(scope, row.subject).value)[..] {
        [Val::Instance { class, .. }] => Some(class),
        _ => None,
    }
}

/// The value of `self` in a method of a class, trait or impl block.
pub(crate) fn receiver(link: &Link<'_>, class: ClassRef) -> Typed {
    let facts = link.program.facts(class.file);
    let row = facts.class(class.class);
    if row.kind == ClassKind::Impl {
        let at = At { region: facts.body(row.parent).region, position: u32::MAX };
        let scope = Scope { file: class.file, at, env: EnvId::NONE };
        return link.annotation(scope, row.subject);
    }
    link.known(Val::Instance { class, exact: false, args: ArgsId::NONE })
}

/// A path segment behind a value.
pub(crate) fn path_member(link: &Link<'_>, member: Val, name: Name) -> Typed {
    match member {
        Val::Module(file) => module_member(link, file, name),
        Val::Class(class) => {
            let facts = link.program.facts(class.file);
            let row = facts.class(class.class);
            if row.kind == ClassKind::Module {
                return match link.program.scope_var(class.file, row.body, name) {
                    Some(var) => link.var(Scope { file: class.file, at: At::default(), env: EnvId::NONE }, var),
                    None => link.unknown(Why::Unbound),
                };
            }
            link.attr(member, name)
        }
        Val::External(path) => link.known(Val::External(link.library.member(path, link.program.text(name)))),
        Val::Library { ty, .. } => link.known(Val::External(link.library.member(ty, link.program.text(name)))),
        Val::Unknown(why) => link.unknown(why),
        _ => link.unknown(Why::Attribute),
    }
}

/// An item of a module file, through its glob imports.
fn module_member(link: &Link<'_>, file: FileId, name: Name) -> Typed {
    if let Some(var) = link.program.scope_var(file, BodyId(0), name) {
        return link.var(Scope { file, at: At::default(), env: EnvId::NONE }, var);
    }
    let facts = link.program.facts(file);
    for glob in globs(facts) {
        match glob_base(link, file, glob) {
            Val::Module(other) if other != file => {
                if let Some(var) = link.program.scope_var(other, BodyId(0), name) {
                    return link.var(Scope { file: other, at: At::default(), env: EnvId::NONE }, var);
                }
            }
            _ => {}
        }
    }
    link.unknown(Why::Unbound)
}

/// What a `use` or `mod` binds.
pub(crate) fn import(link: &Link<'_>, file: FileId, row: &Import) -> Typed {
    let facts = link.program.facts(file);
    match row.kind {
        ImportKind::File => {
            let bound = facts
                .assigns
                .iter()
                .find(|assign| matches!(facts.form(assign.value), Form::Import(id) if facts.import(id) == *row))
                .and_then(|assign| match facts.form(assign.target) {
                    Form::Var(var) => Some(facts.text(facts.var(var).name)),
                    _ => None,
                });
            match bound.and_then(|name| module_file(link, file, name, facts.text(row.module))) {
                Some(found) => link.known(Val::Module(found)),
                None => link.unknown(Why::Unbound),
            }
        }
        _ => {
            let path = facts.text(row.module).to_owned();
            let mut value = link.known(import_head(link, file, row, &path));
            for segment in rest_of(&path) {
                value = match link.program.name(segment) {
                    Some(name) => link.map(value, |val| link.path_member(val, name, Language::Rust)),
                    None => link.map(value, |val| match val {
                        Val::External(path) => link.known(Val::External(link.library.member(path, segment))),
                        _ => link.unknown(Why::Unbound),
                    }),
                };
            }
            if let Some(sym) = row.name.get()
                && let Some(name) = link.program.global(file, sym)
            {
                value = link.map(value, |val| link.path_member(val, name, Language::Rust));
            }
            value
        }
    }
}

/// The glob imports of a file.
fn globs(facts: &FileFacts) -> impl Iterator<Item = ImportId> + '_ {
    let rows = facts.imports.iter().enumerate();
    rows.filter(|(_, import)| import.kind == ImportKind::Star).map(|(at, _)| ImportId(at as u32))
}

/// The module whose names a glob import brings. Modules may bring each other's, so the way there is remembered and
/// meets itself.
fn glob_base(link: &Link<'_>, file: FileId, glob: ImportId) -> Val {
    let typed = link.remember(Task::Import(file, glob), || {
        let row = link.program.facts(file).import(glob);
        import(link, file, &Import { name: Sym::NONE, ..row })
    });
    link.values.members(typed.value).first().copied().unwrap_or(Val::Unknown(Why::Unbound))
}

/// The segments of a `use` path behind its head.
fn rest_of(path: &str) -> impl Iterator<Item = &str> {
    path.split("::").filter(|part| !part.is_empty()).skip(1)
}

/// What the first segment of a `use` path means: `crate`, `self`, an item of this module, a crate.
fn import_head(link: &Link<'_>, file: FileId, row: &Import, path: &str) -> Val {
    let head = path.split("::").find(|part| !part.is_empty()).unwrap_or("");
    if row.level > 0 {
        let mut module = Val::Module(file);
        for _ in 0..row.level {
            module = match module {
                Val::Module(file) => parent_module(link, file),
                other => other,
            };
        }
        return match (link.program.name(head), head) {
            (_, "") => module,
            (Some(name), _) => {
                let typed = path_member(link, module, name);
                link.values.members(typed.value).first().copied().unwrap_or(Val::Unknown(Why::Unbound))
            }
            (None, _) => Val::Unknown(Why::Unbound),
        };
    }
    match head {
        "crate" => return crate_root(link, file),
        "self" => return Val::Module(file),
        "super" => return parent_module(link, file),
        _ => {}
    }
    let facts = link.program.facts(file);
    if let Some(name) = link.program.name(head)
        && let Some(var) = link.program.scope_var(file, BodyId(0), name)
    {
        // `use store::Store` beside `mod store`: the item, unless it is this import itself.
        let own = facts.assigns_of(var).all(|assign| match facts.form(assign.value) {
            Form::Import(id) => facts.import(id).kind == ImportKind::File,
            _ => true,
        });
        if own {
            let typed = link.var(Scope { file, at: At::default(), env: EnvId::NONE }, var);
            if let Some(&val) = link.values.members(typed.value).first()
                && !matches!(val, Val::Unknown(_))
            {
                return val;
            }
        }
    }
    named_crate(link, head)
}

/// The file of `mod name;` in a file.
fn module_file(link: &Link<'_>, file: FileId, name: &str, path: &str) -> Option<FileId> {
    let relative = &link.program.files[file.index()].relative;
    let (folder, own) = relative.rsplit_once('/').unwrap_or(("", relative));
    let below = |folder: &str, rest: &str| {
        link.program.file_at(&if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") })
    };
    if !path.is_empty() {
        return below(folder, path.trim_start_matches("./"));
    }
    let stem = own.strip_suffix(".rs").unwrap_or(own);
    let is_root = stem == "mod" || is_crate_root(link, relative);
    let inside = if is_root {
        folder.to_owned()
    } else if folder.is_empty() {
        stem.to_owned()
    } else {
        format!("{folder}/{stem}")
    };
    below(&inside, &format!("{name}.rs")).or_else(|| below(&inside, &format!("{name}/mod.rs")))
}

fn is_crate_root(link: &Link<'_>, relative: &str) -> bool {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    matches!(name, "lib.rs" | "main.rs")
        || link.program.layout.crates.iter().any(|package| package.roots.iter().any(|root| root == relative))
}

/// The root file of the crate a file is in: the nearest above it.
fn crate_root(link: &Link<'_>, file: FileId) -> Val {
    let relative = &link.program.files[file.index()].relative;
    if is_crate_root(link, relative) {
        return Val::Module(file);
    }
    let mut folder = relative.rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        for name in ["lib.rs", "main.rs"] {
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            if let Some(found) = link.program.file_at(&path) {
                return Val::Module(found);
            }
        }
        match folder.rsplit_once('/') {
            Some((parent, _)) => folder = parent,
            None if folder.is_empty() => return Val::Unknown(Why::Unbound),
            None => folder = "",
        }
    }
}

/// The module around a file.
fn parent_module(link: &Link<'_>, file: FileId) -> Val {
    let relative = &link.program.files[file.index()].relative;
    let (folder, own) = relative.rsplit_once('/').unwrap_or(("", relative));
    let folder = if own == "mod.rs" { folder.rsplit_once('/').map_or("", |(parent, _)| parent) } else { folder };
    let join = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    for path in [join("mod.rs"), join("lib.rs"), join("main.rs"), format!("{folder}.rs")] {
        if let Some(found) = link.program.file_at(&path)
            && found != file
        {
            return Val::Module(found);
        }
    }
    Val::Unknown(Why::Unbound)
}

/// The callee of a call.
pub(crate) fn callee(link: &Link<'_>, scope: Scope, site: SiteRef) -> Typed {
    link.eval(scope, link.program.facts(site.file).site(site.site).callee)
}

/// Whether `?` and `unwrap` take the first argument of this type.
pub(crate) fn is_fallible(path: &str) -> bool {
    matches!(path.rsplit("::").next(), Some("Result" | "Option"))
}

/// The path of a file's module below its crate's source folder.
pub(crate) fn module_name(link: &Link<'_>, file: FileId) -> String {
    let relative = &link.program.files[file.index()].relative;
    let inside = relative.rsplit_once("src/").map_or(relative.as_str(), |(_, inside)| inside);
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    if matches!(inside, "lib" | "main" | "mod") { String::new() } else { inside.replace('/', "::") }
}
