//! Rust: the module tree (`mod x;`), crates of the workspace, `use` paths and glob imports.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{
    Assign, At, BodyId, BodyKind, ClassId, ClassKind, Form, Import, ImportId, ImportKind, SiteKind, Sym, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::linker::query::{InCycle, Keep, Policy};
use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, Name, PathId};
use crate::program::{CrateLayout, Layout};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val, Why};

/// For each file the module that declares it (`mod x;`).
#[derive(Debug, Default)]
pub(crate) struct Parents {
    parent_of: FxHashMap<FileId, Val>,
    /// The files that are declared for tests only: `#[cfg(test)] mod helpers;`.
    tests: FxHashSet<FileId>,
}

impl Parents {
    /// Returns the module that declares a file.
    fn declaring_module(&self, file: FileId) -> Option<Val> {
        self.parent_of.get(&file).copied()
    }

    /// True if a file is not compiled: it is no crate root, and no module declares it, although the parent module
    /// declares others (`//mod large_import;`).
    fn is_undeclared(&self, linker: &Linker<'_>, file: FileId) -> bool {
        let relative = &linker.program.files[file.index()].relative;
        let roots = linker.crate_of(file).map_or(&[][..], |own| &own.roots);
        if self.parent_of.contains_key(&file) || roots.is_empty() || roots.contains(relative) {
            return false;
        }
        match parent_by_folder(linker, file) {
            Val::Module(above) if above != file => {
                self.is_undeclared(linker, above)
                    || self.parent_of.values().any(|parent| *parent == Val::Module(above))
                        && !may_declare_by_macro(linker, above)
            }
            _ => false,
        }
    }

    /// True if a file, or a module above it, is declared for tests only.
    pub(crate) fn is_test(&self, file: FileId) -> bool {
        let mut current = file;
        for _ in 0..32 {
            if self.tests.contains(&current) {
                return true;
            }
            current = match self.parent_of.get(&current) {
                Some(Val::Module(above)) => *above,
                Some(Val::Class(class)) => class.file,
                _ => return false,
            };
        }
        false
    }
}

/// True if a module calls a macro at its top level, which may declare modules.
fn may_declare_by_macro(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    facts.sites.iter().any(|site_facts| site_facts.kind == SiteKind::Macro && facts.body_of(site_facts.at) == BodyId(0))
}

impl Linker<'_> {
    /// True if a file is not part of any crate, so that the compiler never reads it.
    pub fn is_never_built(&self, file: FileId) -> bool {
        self.program.language(file) == Language::Rust && self.rust_parents().is_undeclared(self, file)
    }
}

/// Returns the parent modules of all files, by one pass over all `mod x;`.
pub(crate) fn parents(linker: &Linker<'_>) -> Parents {
    let mut parents = Parents::default();
    for (slot, source) in linker.program.files.iter().enumerate() {
        let facts = &source.facts;
        if facts.language != Language::Rust {
            continue;
        }
        let file = FileId(slot as u32);
        for row in facts.imports.iter().filter(|row| row.kind == ImportKind::File) {
            if let Some(child) = declared_file(linker, file, &row)
                && child != file
            {
                parents.parent_of.entry(child).or_insert_with(|| module_at(linker, file, facts.body_of(row.at)));
                if row.level > 0 {
                    parents.tests.insert(child);
                }
            }
        }
    }
    let folders: Vec<&str> = test_crates(linker.program.layout).map(|package| package.folder.as_str()).collect();
    for (slot, source) in linker.program.files.iter().enumerate() {
        let file = FileId(slot as u32);
        let below = |folder: &&str| source.relative.strip_prefix(*folder).is_some_and(|rest| rest.starts_with('/'));
        if folders.iter().any(below) && linker.crate_of(file).is_some_and(|own| folders.contains(&own.folder.as_str()))
        {
            parents.tests.insert(file);
        }
    }
    parents
}

/// Returns the crates of the workspace that are for tests only: by their names, or because only tests depend on them.
fn test_crates(layout: &Layout) -> impl Iterator<Item = &CrateLayout> {
    layout.crates.iter().filter(|package| {
        let has_test_name = package.package.split(['-', '_']).any(|word| TEST_WORDS.contains(&word));
        let mut dependents = layout.crates.iter().filter(|other| {
            let dependencies = other.dependencies.iter().flatten();
            other.package != package.package && dependencies.clone().any(|(_, name, _)| *name == package.package)
        });
        let only_tests_depend = |dependent: &CrateLayout| dependent.aside.binary_search(&package.package).is_ok();
        let is_built = |root: &String| {
            let inside = root.strip_prefix(package.folder.as_str()).unwrap_or(root).trim_start_matches('/');
            let aside = ["tests/", "benches/", "examples/"].iter().any(|folder| inside.starts_with(folder));
            !aside && inside != "build.rs"
        };
        let is_library = package.roots.iter().filter(|root| is_built(root)).all(|root| root.ends_with("lib.rs"));
        let mut has_only_test_dependents =
            || dependents.next().is_some_and(only_tests_depend) && dependents.all(only_tests_depend);
        !package.folder.is_empty() && (has_test_name || is_library && has_only_test_dependents())
    })
}

/// Words in the names of crates for tests.
const TEST_WORDS: &[&str] =
    &["test", "tests", "testing", "testutil", "testutils", "fuzz", "fuzzers", "bench", "benches", "benchmarks", "e2e"];

/// Returns the module that contains a body: an inline module, or the file.
pub(crate) fn module_at(linker: &Linker<'_>, file: FileId, body: BodyId) -> Val {
    let facts = linker.program.facts(file);
    let mut enclosing = body;
    while let Some(id) = enclosing.get() {
        let body_facts = facts.body(id);
        if body_facts.kind == BodyKind::Module {
            if body_facts.parent.is_none() {
                break;
            }
            if let Some(class) = facts.classes.iter().position(|class| class.body == id) {
                return Val::Class(file.class_ref(ClassId(class as u32)));
            }
        }
        enclosing = body_facts.parent;
    }
    Val::Module(file)
}

/// Returns the parent of a module.
pub(crate) fn parent_module(linker: &Linker<'_>, module: Val) -> Val {
    match module {
        Val::Class(class) => module_at(linker, class.file, linker.program.class(class).parent),
        Val::Module(file) => {
            linker.rust_parents().declaring_module(file).unwrap_or_else(|| parent_by_folder(linker, file))
        }
        other => other,
    }
}

/// Returns the parent module of a file that no `mod` declares, by the file's folder.
fn parent_by_folder(linker: &Linker<'_>, file: FileId) -> Val {
    let relative = &linker.program.files[file.index()].relative;
    let (folder, own) = relative.rsplit_once('/').unwrap_or(("", relative));
    let folder = if own == "mod.rs" { folder.rsplit_once('/').map_or("", |(parent, _)| parent) } else { folder };
    let join = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    for path in [join("mod.rs"), join("lib.rs"), join("main.rs"), format!("{folder}.rs")] {
        if let Some(parent_file) = linker.program.file_at(&path)
            && parent_file != file
        {
            return Val::Module(parent_file);
        }
    }
    Val::Unknown(Why::Unbound)
}

/// Returns the root file of a file's crate.
pub(crate) fn crate_root(linker: &Linker<'_>, file: FileId) -> Val {
    let parents = linker.rust_parents();
    let mut root = file;
    for _ in 0..64 {
        match parents.declaring_module(root) {
            Some(Val::Module(above)) => root = above,
            Some(Val::Class(class)) => root = class.file,
            _ => break,
        }
    }
    let relative = &linker.program.files[root.index()].relative;
    if root != file || is_crate_root(linker, relative) {
        return Val::Module(root);
    }
    let mut folder = relative.rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        for name in ["lib.rs", "main.rs"] {
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            if let Some(root_file) = linker.program.file_at(&path) {
                return Val::Module(root_file);
            }
        }
        match folder.rsplit_once('/') {
            Some((parent, _)) => folder = parent,
            None if folder.is_empty() => return Val::Unknown(Why::Unbound),
            None => folder = "",
        }
    }
}

/// True if a file is the root of a crate.
pub fn is_crate_root(linker: &Linker<'_>, relative: &str) -> bool {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    matches!(name, "lib.rs" | "main.rs")
        || linker.program.layout.crates.iter().any(|package| package.roots.iter().any(|root| root == relative))
}

/// Returns the crate that a name in a path of a file refers to: a crate of the workspace, else an external crate.
pub(crate) fn named_crate(linker: &Linker<'_>, file: FileId, name: &str) -> Val {
    let crates = &linker.program.layout.crates;
    let own_crate = linker.crate_of(file);
    let renamed = own_crate.and_then(|own_crate| own_crate.renamed.iter().find(|(local, _)| local == name));
    let workspace_crate = match renamed {
        Some((_, package)) => crates.iter().find(|workspace_crate| workspace_crate.package == *package),
        None => crates.iter().find(|workspace_crate| workspace_crate.name == name),
    };
    if let Some(root) = workspace_crate.and_then(|workspace_crate| workspace_crate.roots.first())
        && let Some(file) = linker.program.file_at(root)
    {
        return Val::Module(file);
    }
    let name = renamed.map_or_else(|| name.to_owned(), |(_, package)| package.replace('-', "_"));
    Val::External(linker.library.path(Language::Rust, &name))
}

/// Returns an item of a module, of an enum or of an external path, or an item that the module's own glob imports bind.
pub(crate) fn module_item(linker: &Linker<'_>, module: Val, name: Name) -> Option<Typed> {
    match find_item(linker, module, name) {
        ItemPlace::ModuleItem(item) => Some(item.value(linker)),
        ItemPlace::GlobImports(file, body) => glob_import_value(linker, file, body, name),
        ItemPlace::Nowhere => None,
    }
}

/// The items that glob imports bind to a name in a body.
#[derive(Clone)]
pub(crate) struct GlobItems {
    items: Rc<[ModuleItem]>,
    /// True if all modules of the glob imports are resolved by now.
    is_complete: bool,
}

/// The memo policy for the items of glob imports: they are final once all modules of the glob imports are resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeGlobs;

impl Policy<GlobItems> for WholeGlobs {
    const KEEP: Keep = Keep::IfComplete;
    const IN_CYCLE: InCycle = InCycle::Recurs;
    const SPENDS: bool = false;

    fn are_equal(_one: &GlobItems, _other: &GlobItems) -> bool {
        true
    }

    fn is_final(answer: &GlobItems) -> bool {
        answer.is_complete
    }
}

/// The item that a name of a module refers to, before its value is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ModuleItem {
    /// A variable of a module's scope.
    Var(FileId, VarId),
    /// A variant of an enum.
    Variant(ClassRef, VarId),
    /// An item of a library.
    External(PathId),
}

impl ModuleItem {
    /// Returns the value of the item.
    fn value(self, linker: &Linker<'_>) -> Typed {
        match self {
            ModuleItem::Var(file, var) => linker.var(Scope { file, at: At::default(), env: EnvId::NONE }, var),
            ModuleItem::Variant(class, var) => linker.variant(class, var),
            ModuleItem::External(path) => linker.known(Val::External(path)),
        }
    }
}

/// The result of a search for a name in a module.
enum ItemPlace {
    ModuleItem(ModuleItem),
    /// The module has no item of this name, but its glob imports may bind it.
    GlobImports(FileId, BodyId),
    Nowhere,
}

/// Returns the item of this name in a module, an enum or an external path, without glob imports.
fn find_item(linker: &Linker<'_>, module: Val, name: Name) -> ItemPlace {
    let (file, body) = match module {
        Val::Module(file) => (file, BodyId(0)),
        Val::Class(class) => {
            let class_facts = linker.program.class(class);
            if class_facts.kind != ClassKind::Module {
                // The variants of an enum.
                return match linker.own_member(class, name) {
                    Some((owner, var)) if owner == class && class_facts.kind == ClassKind::Enum => {
                        ItemPlace::ModuleItem(ModuleItem::Variant(class, var))
                    }
                    _ => ItemPlace::Nowhere,
                };
            }
            (class.file, class_facts.body)
        }
        Val::External(path) => {
            let path = linker.library.member(path, linker.program.text(name));
            return if linker.library.is_described(path) {
                ItemPlace::ModuleItem(ModuleItem::External(path))
            } else {
                ItemPlace::Nowhere
            };
        }
        _ => return ItemPlace::Nowhere,
    };
    match linker.program.scope_var(file, body, name) {
        Some(var) => ItemPlace::ModuleItem(ModuleItem::Var(file, var)),
        None => ItemPlace::GlobImports(file, body),
    }
}

/// Returns the value of a name that a glob import binds in a body, or in an enclosing body up to its module.
pub(crate) fn glob_import_value(linker: &Linker<'_>, file: FileId, body: BodyId, name: Name) -> Option<Typed> {
    let nothing = || GlobItems { items: Rc::default(), is_complete: false };
    let answer = linker.query(&linker.tables.rust.glob_items, (file, body, name), nothing, || {
        let mut items = Vec::new();
        let is_complete = add_glob_items(linker, file, body, name, &mut Vec::new(), &mut items);
        GlobItems { items: Rc::from(items), is_complete }
    });
    answer.items.iter().map(|item| item.value(linker)).find(|typed| !linker.values.is_unknown(typed.value))
}

/// The number of modules that glob imports lead to from one body.
const MOST_GLOBS: usize = 256;

/// Adds the items that glob imports bind to a name, and returns true if all modules of the glob imports are resolved.
/// Each module is searched once.
fn add_glob_items(
    linker: &Linker<'_>,
    file: FileId,
    body: BodyId,
    name: Name,
    visited: &mut Vec<(FileId, BodyId)>,
    items: &mut Vec<ModuleItem>,
) -> bool {
    if visited.contains(&(file, body)) || visited.len() > MOST_GLOBS {
        return true;
    }
    visited.push((file, body));
    let facts = linker.program.facts(file);
    let mut enclosing_bodies: smallvec::SmallVec<[BodyId; 8]> = smallvec::SmallVec::new();
    let mut enclosing = body;
    while let Some(id) = enclosing.get() {
        enclosing_bodies.push(id);
        let body_facts = facts.body(id);
        if body_facts.kind == BodyKind::Module {
            break;
        }
        enclosing = body_facts.parent;
    }
    let stars = facts.imports.iter().enumerate().filter(|(_, row)| row.kind == ImportKind::Star);
    let mut is_complete = true;
    for (number, row) in stars {
        let import_body = facts.body_of(row.at);
        if !enclosing_bodies.contains(&import_body) {
            continue;
        }
        let base = glob_base(linker, file, ImportId(number as u32));
        if base == module_at(linker, file, import_body) {
            continue;
        }
        if matches!(base, Val::Unknown(_)) {
            is_complete = false;
            continue;
        }
        match find_item(linker, base, name) {
            ItemPlace::ModuleItem(item) => items.push(item),
            ItemPlace::GlobImports(file, body) => {
                is_complete &= add_glob_items(linker, file, body, name, visited, items)
            }
            ItemPlace::Nowhere => {}
        }
    }
    is_complete
}

/// Returns the module of a glob import. Two modules may glob-import each other, so this is a query, which detects
/// cycles.
fn glob_base(linker: &Linker<'_>, file: FileId, glob: ImportId) -> Val {
    let typed = linker.query_value(&linker.tables.values.imports, (file, glob), || {
        let row = linker.program.facts(file).import(glob);
        import(linker, file, &Import { name: Sym::NONE, ..row })
    });
    linker.values.members(typed.value).first().copied().unwrap_or(Val::Unknown(Why::Unbound))
}

/// Returns the value that a `use` or `mod` binds.
pub(crate) fn import(linker: &Linker<'_>, file: FileId, row: &Import) -> Typed {
    let facts = linker.program.facts(file);
    if row.kind == ImportKind::File {
        return match declared_file(linker, file, row) {
            Some(found) => linker.known(Val::Module(found)),
            None => linker.unknown(Why::Unbound),
        };
    }
    let path = facts.text(row.module).to_owned();
    let mut value = linker.known(import_head(linker, file, row, &path));
    for segment in path.split("::").filter(|part| !part.is_empty()).skip(1) {
        value = match linker.program.name(segment) {
            Some(name) => linker.map(value, |val| crate::lang::rust::names::path_member(linker, val, name)),
            None => linker.map(value, |val| match val {
                Val::External(path) => {
                    linker.known(Val::External(linker.library.member_or_reexported_crate(path, segment)))
                }
                _ => linker.unknown(Why::Unbound),
            }),
        };
    }
    if row.kind != ImportKind::Star
        && let Some(sym) = row.name.get()
        && let Some(name) = linker.program.global(file, sym)
    {
        value = linker.map(value, |val| crate::lang::rust::names::path_member(linker, val, name));
    }
    value
}

/// Returns the value of the first segment of a `use` path: `crate`, `self`, an item of this module, a crate.
fn import_head(linker: &Linker<'_>, file: FileId, row: &Import, path: &str) -> Val {
    let facts = linker.program.facts(file);
    let head = path.split("::").find(|part| !part.is_empty()).unwrap_or("");
    let module_of_import = module_at(linker, file, facts.body_of(row.at));
    if row.level > 0 {
        let module = (0..row.level).fold(module_of_import, |module, _| parent_module(linker, module));
        return match (linker.program.name(head), head) {
            (_, "") => module,
            (Some(name), _) => {
                let typed = crate::lang::rust::names::path_member(linker, module, name);
                linker.values.members(typed.value).first().copied().unwrap_or(Val::Unknown(Why::Unbound))
            }
            (None, _) => Val::Unknown(Why::Unbound),
        };
    }
    match head {
        "crate" => return crate_root(linker, file),
        "self" => return module_of_import,
        _ => {}
    }
    if path.starts_with("::") {
        return named_crate(linker, file, head);
    }
    if let Some(name) = linker.program.name(head)
        && let Some(val) = item_for_head(linker, file, facts.body_of(row.at), module_of_import, row, name)
    {
        return val;
    }
    named_crate(linker, file, head)
}

/// Returns the item of this module that the first segment of a `use` path refers to, other than the import itself:
/// `mod store; use store::Store;`.
fn item_for_head(linker: &Linker<'_>, file: FileId, body: BodyId, own: Val, row: &Import, name: Name) -> Option<Val> {
    let facts = linker.program.facts(file);
    let module = match own {
        Val::Class(class) => linker.program.class(class).body,
        _ => BodyId(0),
    };
    let mut bodies = vec![body];
    if body != module {
        bodies.push(module);
    }
    for body in bodies {
        let Some(var) = linker.program.scope_var(file, body, name) else { continue };
        let is_other = |assign: &Assign| match facts.form(assign.value) {
            Form::Import(id) => {
                let import = facts.import(id);
                import.kind == ImportKind::File || import.span != row.span
            }
            _ => true,
        };
        let scope = Scope { file, at: At::default(), env: EnvId::NONE };
        let typed = if facts.assigns_of(var).all(|assign| is_other(&assign)) {
            linker.var(scope, var)
        } else {
            // `mod store; pub use store::{store};`: a module and a function may have the same name.
            let others = facts.assign_ids_of(var).filter(|&assign| is_other(&facts.assign(assign)));
            let others: Vec<Typed> = others.map(|assign| linker.assigned_value(scope, assign)).collect();
            linker.join(&others)
        };
        if let Some(&val) = linker.values.members(typed.value).first()
            && !matches!(val, Val::Unknown(_))
        {
            return Some(val);
        }
    }
    None
}

/// Returns the file of `mod name;`.
fn declared_file(linker: &Linker<'_>, file: FileId, row: &Import) -> Option<FileId> {
    let facts = linker.program.facts(file);
    let relative = &linker.program.files[file.index()].relative;
    let (folder, file_name) = relative.rsplit_once('/').unwrap_or(("", relative));
    let join = |folder: &str, rest: &str| {
        if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") }
    };
    // Each enclosing inline module is a folder in the path.
    let mut inline = Vec::new();
    let mut enclosing = module_at(linker, file, facts.body_of(row.at));
    while let Val::Class(class) = enclosing {
        let class = linker.program.class(class);
        inline.push(facts.text(class.name));
        enclosing = module_at(linker, file, class.parent);
    }
    let stem = file_name.strip_suffix(".rs").unwrap_or(file_name);
    let is_root = stem == "mod" || is_crate_root(linker, relative);
    let path = facts.text(row.module);
    let mut inside =
        if is_root || !path.is_empty() && inline.is_empty() { folder.to_owned() } else { join(folder, stem) };
    for name in inline.iter().rev() {
        inside = join(&inside, name);
    }
    if !path.is_empty() {
        return linker.program.file_at(&normalized(&join(&inside, path)));
    }
    let name = facts.text(row.name);
    linker
        .program
        .file_at(&join(&inside, &format!("{name}.rs")))
        .or_else(|| linker.program.file_at(&join(&inside, &format!("{name}/mod.rs"))))
}

/// Returns a path without `.` and `..`.
fn normalized(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

impl Linker<'_> {
    /// Returns the crate whose folder contains a file, the innermost one.
    pub fn crate_of(&self, file: FileId) -> Option<&CrateLayout> {
        let relative = self.program.files[file.index()].relative.as_str();
        let inside =
            |folder: &str| folder.is_empty() || relative.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let enclosing = self.program.layout.crates.iter().filter(|package| inside(&package.folder));
        enclosing.max_by_key(|package| package.folder.len())
    }
}
