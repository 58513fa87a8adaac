//! Python: name lookup: modules, import roots, imports, star imports, builtins.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{At, BodyId, Form, FormId, Import, ImportId, ImportKind, Sym};

use crate::linker::{Linker, Typed};
use crate::program::ids::{FileId, Name, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val, ValueId, Why};

/// The number of nested star imports that are followed.
const MOST_STAR_IMPORTS: u32 = 8;

/// Returns the value of a name that the file does not bind: of a star import, else a builtin.
pub(crate) fn free_name(linker: &Linker<'_>, file: FileId, sym: Sym) -> Typed {
    let Some(name) = linker.program.global(file, sym) else { return linker.unknown(Why::Unbound) };
    if let Some(typed) = star_import_value(linker, file, name) {
        return typed;
    }
    let text = linker.program.text(name);
    if text.starts_with("__") && text.ends_with("__") {
        return linker.unknown(Why::Unbound);
    }
    // A star import of a library binds the name if a model describes the library's name.
    for &import in star_modules(linker, file).iter() {
        if let Val::External(module) = import {
            let path = linker.library.member(module, text);
            if linker.library.is_described(path) {
                return linker.known(Val::External(path));
            }
        }
    }
    let path = linker.library.path(Language::Python, &format!("builtins.{text}"));
    linker.known(Val::External(path))
}

/// Returns the modules whose names a file imports with `*`.
fn star_modules(linker: &Linker<'_>, file: FileId) -> Rc<[Val]> {
    linker.query(&linker.tables.python.star_modules, file, Rc::default, || {
        let facts = linker.program.facts(file);
        let star_modules = facts.imports.iter().filter(|import| import.kind == ImportKind::Star);
        star_modules.map(|import| module_of(linker, file, &import)).collect()
    })
}

/// Returns the value of a name that a star import of a project's module binds.
fn star_import_value(linker: &Linker<'_>, file: FileId, name: Name) -> Option<Typed> {
    for &module in star_modules(linker, file).iter() {
        if let Val::Module(other) = module
            && other != file
            && let Some(typed) = public_name_value(linker, other, name, MOST_STAR_IMPORTS)
        {
            return Some(typed);
        }
    }
    None
}

/// Returns the value of a public name of a module, also of a name that its own star imports bind.
fn public_name_value(linker: &Linker<'_>, file: FileId, name: Name, depth: u32) -> Option<Typed> {
    let depth = depth.checked_sub(1)?;
    if !is_public(linker, file, name) {
        return None;
    }
    if let Some(var) = linker.program.scope_var(file, BodyId(0), name) {
        let scope = Scope { file, at: At::default(), env: EnvId::NONE };
        return Some(linker.var(scope, var));
    }
    for &module in star_modules(linker, file).iter() {
        if let Val::Module(other) = module
            && other != file
            && let Some(typed) = public_name_value(linker, other, name, depth)
        {
            return Some(typed);
        }
    }
    None
}

/// True if a star import binds a name of a module. A literal `__all__` decides, else the leading underscore.
fn is_public(linker: &Linker<'_>, file: FileId, name: Name) -> bool {
    let facts = linker.program.facts(file);
    let text = linker.program.text(name);
    let exported_names = linker
        .program
        .name("__all__")
        .and_then(|exported_names| linker.program.scope_var(file, BodyId(0), exported_names));
    let listed = exported_names.and_then(|var| {
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

/// Returns the value that an import binds.
pub(crate) fn import(linker: &Linker<'_>, file: FileId, id: ImportId) -> Typed {
    linker.query_value(&linker.tables.values.imports, (file, id), || {
        let facts = linker.program.facts(file);
        let row = facts.import(id);
        let module = module_of(linker, file, &row);
        match row.kind {
            ImportKind::Head => {
                let head = facts.text(row.module).split('.').next().unwrap_or("");
                linker.known(absolute_import(linker, file, head))
            }
            ImportKind::Name => match linker.program.global(file, row.name) {
                Some(name) => linker.attr(module, name),
                None => linker.unknown(Why::Unbound),
            },
            _ => linker.known(module),
        }
    })
}

/// Returns the module that an import refers to, for aliases of types.
pub fn module_named(linker: &Linker<'_>, file: FileId, import: &Import) -> Val {
    module_of(linker, file, import)
}

/// Returns the module that an import refers to.
fn module_of(linker: &Linker<'_>, file: FileId, row: &Import) -> Val {
    let facts = linker.program.facts(file);
    let dotted = facts.text(row.module);
    if row.level == 0 {
        return absolute_import(linker, file, dotted);
    }
    let mut folder = parent(&linker.program.files[file.index()].relative);
    for _ in 1..row.level {
        if folder.is_empty() {
            return Val::Unknown(Why::Unbound);
        }
        folder = parent(folder);
    }
    module_below(linker, folder, dotted).unwrap_or(Val::Unknown(Why::Unbound))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the module of an absolute import: in the file's own import root, then in the nearest other root, else a
/// library's.
fn absolute_import(linker: &Linker<'_>, file: FileId, dotted: &str) -> Val {
    let relative = linker.program.files[file.index()].relative.as_str();
    let root = import_root(linker, relative);
    let head = dotted.split('.').next().unwrap_or("");
    // A script inside a package can import the modules of its own folder.
    let or_in_own_folder = |val| match val {
        Val::External(_) if root != parent(relative) && !linker.library.knows_root(Language::Python, head) => {
            module_below(linker, parent(relative), dotted)
                .filter(|module| matches!(module, Val::Module(_)))
                .unwrap_or(val)
        }
        _ => val,
    };
    // The answer is shared by all files of one import root.
    let find = || match module_below(linker, root, dotted) {
        Some(module @ Val::Module(_)) => module,
        in_own => {
            let mut roots: Vec<&str> = linker.program.layout.import_roots.iter().map(String::as_str).collect();
            roots.sort_by_key(|root| (std::cmp::Reverse(common_depth(root, relative)), *root));
            let elsewhere = || roots.iter().find_map(|root| module_below(linker, root, dotted));
            let mut module = in_own.or_else(elsewhere).filter(|_| !dotted.is_empty());
            // A folder without modules of its own must not hide a library of that name.
            if let Some(Val::Folder(_)) = module
                && linker.library.knows_root(Language::Python, head)
            {
                module = None;
            }
            module.unwrap_or_else(|| {
                match module_below(linker, root, head)
                    .or_else(|| roots.iter().find_map(|root| module_below(linker, root, head)))
                {
                    // The project has the package but not the module: the module is generated, or made at run time.
                    Some(Val::Module(_)) if dotted != head => Val::Unknown(Why::Unbound),
                    _ => Val::External(linker.library.path(Language::Python, dotted)),
                }
            })
        }
    };
    let key = (root, dotted.to_owned());
    or_in_own_folder(linker.query_or_cut(
        &linker.tables.python.import_modules,
        key,
        |cut| Val::Unknown(cut.into()),
        find,
    ))
}

/// Returns the import root of a file: the parent of its topmost package, or the file's own folder. A folder without
/// `__init__.py` inside a package is part of the package.
pub(crate) fn import_root<'a>(linker: &Linker<'a>, relative: &'a str) -> &'a str {
    let own = parent(relative);
    linker.query(&linker.tables.python.import_roots, own, || own, || find_import_root(linker, own))
}

fn find_import_root<'p>(linker: &Linker<'_>, own: &'p str) -> &'p str {
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

/// Returns the module or folder at a dotted path below a folder.
fn module_below(linker: &Linker<'_>, folder: &str, dotted: &str) -> Option<Val> {
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

/// Returns the project's file of an import's module, and the folder whose modules the import's names may refer to:
/// `from package import module`.
pub fn imported_module(linker: &Linker<'_>, file: FileId, row: &Import) -> (Option<FileId>, Option<String>) {
    match module_of(linker, file, row) {
        Val::Module(module) => {
            let relative = &linker.program.files[module.index()].relative;
            (Some(module), relative.ends_with("__init__.py").then(|| parent(relative).to_owned()))
        }
        Val::Folder(path) => (None, Some(linker.library.text(path).to_string())),
        _ => (None, None),
    }
}

/// Returns the module of this name in a folder.
pub fn module_file_in(linker: &Linker<'_>, folder: &str, name: Name) -> Option<FileId> {
    match module_below(linker, folder, linker.program.text(name)) {
        Some(Val::Module(module)) => Some(module),
        _ => None,
    }
}

/// Returns the value of a member of a project's module.
pub(crate) fn module_member(linker: &Linker<'_>, file: FileId, name: Name) -> Typed {
    if let Some(var) = linker.program.scope_var(file, BodyId(0), name) {
        let scope = Scope { file, at: At::default(), env: EnvId::NONE };
        let typed = linker.var(scope, var);
        // A name that `__init__.py` imports from its own package is a module: `from . import utils`.
        if !linker.values.is_unknown(typed.value) && typed.value != ValueId::NEVER {
            return typed;
        }
        return submodule(linker, file, name).unwrap_or(typed);
    }
    if let Some(typed) = submodule(linker, file, name) {
        return typed;
    }
    if let Some(typed) = star_import_value(linker, file, name) {
        return typed;
    }
    let text = linker.program.text(name);
    for &module in star_modules(linker, file).iter() {
        if let Val::External(module) = module {
            let path = linker.library.member(module, text);
            if linker.library.is_described(path) {
                return linker.known(Val::External(path));
            }
        }
    }
    linker.module_attribute_from_others(file, name).unwrap_or_else(|| linker.unknown(Why::Attribute))
}

/// Returns a module of a package that has an `__init__.py`.
fn submodule(linker: &Linker<'_>, file: FileId, name: Name) -> Option<Typed> {
    let folder = linker.program.files[file.index()].relative.strip_suffix("/__init__.py")?;
    let module = module_below(linker, folder, linker.program.text(name))?;
    Some(linker.known(module))
}

/// Returns a module of a folder without an `__init__.py`.
pub(crate) fn folder_member(linker: &Linker<'_>, folder: &str, name: Name) -> Typed {
    match module_below(linker, folder, linker.program.text(name)) {
        Some(found) => linker.known(found),
        None => linker.unknown(Why::Attribute),
    }
}

/// Returns the qualified name of a Python module: its dotted path below its import root.
pub(crate) fn module_name(linker: &Linker<'_>, file: FileId) -> String {
    let relative = &linker.program.files[file.index()].relative;
    let root = import_root(linker, relative);
    let inside = relative.strip_prefix(root).unwrap_or(relative).trim_start_matches('/');
    let inside = inside.strip_suffix(".py").or_else(|| inside.strip_suffix(".ipynb")).unwrap_or(inside);
    inside.strip_suffix("/__init__").unwrap_or(inside).replace('/', ".")
}

/// Returns the value of a variable that is an alias of a type: assigned once, with a form that can be a type
/// (`Stores = List[Store]`).
pub(crate) fn alias_target(linker: &Linker<'_>, var: VarRef) -> Option<FormId> {
    let facts = linker.program.facts(var.file);
    let row = linker.program.only_value_of(var)?;
    matches!(facts.form(row.value), Form::Subscript(..) | Form::Join(_) | Form::Attr(..) | Form::Var(_) | Form::Name(_))
        .then_some(row.value)
}
