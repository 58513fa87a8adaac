//! Python: modules, imports, star imports, builtins, and the names that change what code means.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{At, BodyId, Form, FormId, Import, ImportId, ImportKind, Sym};

use crate::linker::{Linker, Typed};
use crate::program::ids::{FileId, Name, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val, ValueId, Why};

/// Returns a name that the file does not bind: from a star import, else a builtin.
pub(crate) fn free_name(linker: &Linker<'_>, file: FileId, sym: Sym) -> Typed {
    let Some(name) = linker.program.global(file, sym) else { return linker.unknown(Why::Unbound) };
    if let Some(typed) = from_stars(linker, file, name) {
        return typed;
    }
    let text = linker.program.text(name);
    if text.starts_with("__") && text.ends_with("__") {
        return linker.unknown(Why::Unbound);
    }
    // A name that a star import of a library may bind belongs to that library if a model describes it.
    for &import in stars(linker, file).iter() {
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
fn stars(linker: &Linker<'_>, file: FileId) -> Rc<[Val]> {
    linker.query(&linker.tables.python.stars, file, Rc::default, || {
        let facts = linker.program.facts(file);
        let stars = facts.imports.iter().filter(|import| import.kind == ImportKind::Star);
        stars.map(|import| module_of(linker, file, &import)).collect()
    })
}

/// Returns a name that a star import of a project module binds.
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

/// Returns a public name of a module, through its own star imports.
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

/// True if a star import takes a name. `__all__` decides where it is a plain list, else the leading underscore.
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

/// Returns the value that an import binds.
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

/// Returns the module that an import names, for aliases of types.
pub fn module_named(linker: &Linker<'_>, file: FileId, row: &Import) -> Val {
    module_of(linker, file, row)
}

/// Returns the module that an import names.
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

/// Returns an absolute import: in the file's own import root, then in the nearest other; else a library.
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

/// Returns the import root that a file itself lies under: the parent of its topmost package, or its own folder. A
/// folder without a file of its own inside a package is part of it.
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

/// Returns the module at a dotted path below a folder.
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

/// Returns the project's file that an import's module is, and the folder in which names imported from it may be
/// modules.
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

/// Returns the module of this name in a folder.
pub fn file_below(linker: &Linker<'_>, folder: &str, name: Name) -> Option<FileId> {
    match below(linker, folder, linker.program.text(name)) {
        Some(Val::Module(of)) => Some(of),
        _ => None,
    }
}

/// Returns a member of a project module.
pub(crate) fn module_member(linker: &Linker<'_>, file: FileId, name: Name) -> Typed {
    if let Some(var) = linker.program.scope_var(file, BodyId(0), name) {
        let scope = Scope { file, at: At::default(), env: EnvId::NONE };
        let typed = linker.var(scope, var);
        // Inside of its own package it is the module: `from . import utils` in `__init__.py`.
        if !linker.values.is_unknown(typed.value) && typed.value != ValueId::NEVER {
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
            if linker.library.is_described(path) {
                return linker.known(Val::External(path));
            }
        }
    }
    linker.module_attribute_from_others(file, name).unwrap_or_else(|| linker.unknown(Why::Attribute))
}

/// Returns a module of a package that has a file.
fn submodule(linker: &Linker<'_>, file: FileId, name: Name) -> Option<Typed> {
    let folder = linker.program.files[file.index()].relative.strip_suffix("/__init__.py")?;
    let found = below(linker, folder, linker.program.text(name))?;
    Some(linker.known(found))
}

/// Returns a module of a folder without a file of its own.
pub(crate) fn folder_member(linker: &Linker<'_>, folder: &str, name: Name) -> Typed {
    match below(linker, folder, linker.program.text(name)) {
        Some(found) => linker.known(found),
        None => linker.unknown(Why::Attribute),
    }
}

/// Returns the qualified name of a Python module: its dotted path below its import root.
pub(crate) fn module_name(linker: &Linker<'_>, file: FileId) -> String {
    let relative = &linker.program.files[file.index()].relative;
    let root = own_root(linker, relative);
    let inside = relative.strip_prefix(root).unwrap_or(relative).trim_start_matches('/');
    let inside = inside.strip_suffix(".py").or_else(|| inside.strip_suffix(".ipynb")).unwrap_or(inside);
    inside.strip_suffix("/__init__").unwrap_or(inside).replace('/', ".")
}

/// Returns the right side of a variable that is an alias of a type: assigned once, with what can be read as a type.
pub(crate) fn alias_target(linker: &Linker<'_>, at: VarRef) -> Option<FormId> {
    let facts = linker.program.facts(at.file);
    let row = linker.program.only_value_of(at)?;
    matches!(facts.form(row.value), Form::Subscript(..) | Form::Join(_) | Form::Attr(..) | Form::Var(_) | Form::Name(_))
        .then_some(row.value)
}
