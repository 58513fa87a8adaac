//! Rust: the module tree, crates, `use` paths and glob imports.

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

/// The module that declares each file (`mod x;`).
#[derive(Debug, Default)]
pub(crate) struct Parents {
    of: FxHashMap<FileId, Val>,
    /// Files that are built only for tests, by the module that declares them.
    tests: FxHashSet<FileId>,
}

impl Parents {
    fn get(&self, file: FileId) -> Option<Val> {
        self.of.get(&file).copied()
    }

    /// True if the compiler never sees a file: it is no root of a crate, and no module declares it, although the module
    /// around it declares others. `//mod large_import;`
    fn is_left_out(&self, linker: &Linker<'_>, file: FileId) -> bool {
        let relative = &linker.program.files[file.index()].relative;
        let roots = linker.crate_of(file).map_or(&[][..], |own| &own.roots);
        if self.of.contains_key(&file) || roots.is_empty() || roots.contains(relative) {
            return false;
        }
        match parent_by_folder(linker, file) {
            Val::Module(above) if above != file => {
                self.is_left_out(linker, above)
                    || self.of.values().any(|of| *of == Val::Module(above)) && !declares_by_macro(linker, above)
            }
            _ => false,
        }
    }

    /// True if a file, or one that declares it, is declared for tests only.
    pub(crate) fn is_test(&self, file: FileId) -> bool {
        let mut at = file;
        for _ in 0..32 {
            if self.tests.contains(&at) {
                return true;
            }
            at = match self.of.get(&at) {
                Some(Val::Module(above)) => *above,
                Some(Val::Class(class)) => class.file,
                _ => return false,
            };
        }
        false
    }
}

/// True if a module calls macros at its top level, which may declare modules.
fn declares_by_macro(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    facts.sites.iter().any(|row| row.kind == SiteKind::Macro && facts.body_of(row.at) == BodyId(0))
}

impl Linker<'_> {
    /// True if the compiler never sees a file.
    pub fn is_never_built(&self, file: FileId) -> bool {
        self.program.language(file) == Language::Rust && self.rust_parents().is_left_out(self, file)
    }
}

/// Reads all `mod x;` once.
pub(crate) fn parents(linker: &Linker<'_>) -> Parents {
    let mut parents = Parents::default();
    for (slot, source) in linker.program.files.iter().enumerate() {
        let facts = &source.facts;
        if facts.language != Language::Rust {
            continue;
        }
        let file = FileId(slot as u32);
        for row in facts.imports.iter().filter(|row| row.kind == ImportKind::File) {
            if let Some(found) = declared_file(linker, file, &row)
                && found != file
            {
                parents.of.entry(found).or_insert_with(|| module_at(linker, file, facts.body_of(row.at)));
                if row.level > 0 {
                    parents.tests.insert(found);
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

/// Crates of the workspace that are there for its tests: they are called so, or nothing but tests depends on them.
fn test_crates(layout: &Layout) -> impl Iterator<Item = &CrateLayout> {
    layout.crates.iter().filter(|package| {
        let is_called_so = package.package.split(['-', '_']).any(|word| TEST_WORDS.contains(&word));
        let mut dependents = layout.crates.iter().filter(|other| {
            let of = other.dependencies.iter().flatten();
            other.package != package.package && of.clone().any(|(_, of, _)| *of == package.package)
        });
        let aside = |other: &CrateLayout| other.aside.binary_search(&package.package).is_ok();
        let is_built = |root: &String| {
            let inside = root.strip_prefix(package.folder.as_str()).unwrap_or(root).trim_start_matches('/');
            let aside = ["tests/", "benches/", "examples/"].iter().any(|folder| inside.starts_with(folder));
            !aside && inside != "build.rs"
        };
        let is_library = package.roots.iter().filter(|root| is_built(root)).all(|root| root.ends_with("lib.rs"));
        let mut only_aside = || dependents.next().is_some_and(aside) && dependents.all(aside);
        !package.folder.is_empty() && (is_called_so || is_library && only_aside())
    })
}

/// Words by which crates for tests are called.
const TEST_WORDS: &[&str] =
    &["test", "tests", "testing", "testutil", "testutils", "fuzz", "fuzzers", "bench", "benches", "benchmarks", "e2e"];

/// Returns the module that a body stands in: an inline one or its file.
pub(crate) fn module_at(linker: &Linker<'_>, file: FileId, body: BodyId) -> Val {
    let facts = linker.program.facts(file);
    let mut at = body;
    while let Some(id) = at.get() {
        let row = facts.body(id);
        if row.kind == BodyKind::Module {
            if row.parent.is_none() {
                break;
            }
            if let Some(class) = facts.classes.iter().position(|class| class.body == id) {
                return Val::Class(file.class_ref(ClassId(class as u32)));
            }
        }
        at = row.parent;
    }
    Val::Module(file)
}

/// Returns the module around a module.
pub(crate) fn parent(linker: &Linker<'_>, module: Val) -> Val {
    match module {
        Val::Class(class) => module_at(linker, class.file, linker.program.class(class).parent),
        Val::Module(file) => linker.rust_parents().get(file).unwrap_or_else(|| parent_by_folder(linker, file)),
        other => other,
    }
}

/// Returns the module around a file that no `mod` declares, by the file's folder.
fn parent_by_folder(linker: &Linker<'_>, file: FileId) -> Val {
    let relative = &linker.program.files[file.index()].relative;
    let (folder, own) = relative.rsplit_once('/').unwrap_or(("", relative));
    let folder = if own == "mod.rs" { folder.rsplit_once('/').map_or("", |(parent, _)| parent) } else { folder };
    let join = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    for path in [join("mod.rs"), join("lib.rs"), join("main.rs"), format!("{folder}.rs")] {
        if let Some(found) = linker.program.file_at(&path)
            && found != file
        {
            return Val::Module(found);
        }
    }
    Val::Unknown(Why::Unbound)
}

/// Returns the root file of a file's crate.
pub(crate) fn crate_root(linker: &Linker<'_>, file: FileId) -> Val {
    let parents = linker.rust_parents();
    let mut at = file;
    for _ in 0..64 {
        match parents.get(at) {
            Some(Val::Module(above)) => at = above,
            Some(Val::Class(class)) => at = class.file,
            _ => break,
        }
    }
    let relative = &linker.program.files[at.index()].relative;
    if at != file || is_crate_root(linker, relative) {
        return Val::Module(at);
    }
    let mut folder = relative.rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        for name in ["lib.rs", "main.rs"] {
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            if let Some(found) = linker.program.file_at(&path) {
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

/// True if a module tree begins in a file.
pub fn is_crate_root(linker: &Linker<'_>, relative: &str) -> bool {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    matches!(name, "lib.rs" | "main.rs")
        || linker.program.layout.crates.iter().any(|package| package.roots.iter().any(|root| root == relative))
}

/// Returns a crate of the workspace by the name that the paths of a file have for it, else an external one.
pub(crate) fn named_crate(linker: &Linker<'_>, file: FileId, name: &str) -> Val {
    let crates = &linker.program.layout.crates;
    let own = linker.crate_of(file);
    let renamed = own.and_then(|own| own.renamed.iter().find(|(local, _)| local == name));
    let found = match renamed {
        Some((_, package)) => crates.iter().find(|found| found.package == *package),
        None => crates.iter().find(|found| found.name == name),
    };
    if let Some(root) = found.and_then(|found| found.roots.first())
        && let Some(file) = linker.program.file_at(root)
    {
        return Val::Module(file);
    }
    let name = renamed.map_or_else(|| name.to_owned(), |(_, package)| package.replace('-', "_"));
    Val::External(linker.library.path(Language::Rust, &name))
}

/// Returns an item of a module (a file, an inline one) or of what a glob import can name, through that module's own
/// glob imports.
pub(crate) fn member(linker: &Linker<'_>, module: Val, name: Name) -> Option<Typed> {
    match place(linker, module, name) {
        ItemPlace::ModuleItem(found) => Some(found.typed(linker)),
        ItemPlace::Inside(file, body) => through_globs(linker, file, body, name),
        ItemPlace::Nowhere => None,
    }
}

/// The items that glob imports bring to a body under a name.
#[derive(Clone)]
pub(crate) struct Brought {
    found: Rc<[ModuleItem]>,
    /// True if all modules on the way are known by now.
    is_complete: bool,
}

/// The rule for keeping the items of glob imports: they are final once all modules on the way are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeGlobs;

impl Policy<Brought> for WholeGlobs {
    const KEEP: Keep = Keep::IfComplete;
    const IN_CYCLE: InCycle = InCycle::Recurs;
    const SPENDS: bool = false;

    fn are_equal(_one: &Brought, _other: &Brought) -> bool {
        true
    }

    fn is_final(answer: &Brought) -> bool {
        answer.is_complete
    }
}

/// The item that a name of a module means, before it has a type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ModuleItem {
    /// A variable of a module's scope.
    Var(FileId, VarId),
    /// A variant of an enum.
    Variant(ClassRef, VarId),
    /// Something of a library.
    External(PathId),
}

impl ModuleItem {
    fn typed(self, linker: &Linker<'_>) -> Typed {
        match self {
            ModuleItem::Var(file, var) => linker.var(Scope { file, at: At::default(), env: EnvId::NONE }, var),
            ModuleItem::Variant(class, var) => linker.variant(class, var),
            ModuleItem::External(path) => linker.known(Val::External(path)),
        }
    }
}

/// Where a name of a module is looked for.
enum ItemPlace {
    ModuleItem(ModuleItem),
    /// In the glob imports of a module that has no such item.
    Inside(FileId, BodyId),
    Nowhere,
}

fn place(linker: &Linker<'_>, module: Val, name: Name) -> ItemPlace {
    let (file, body) = match module {
        Val::Module(file) => (file, BodyId(0)),
        Val::Class(class) => {
            let row = linker.program.class(class);
            if row.kind != ClassKind::Module {
                // The variants of an enum.
                return match linker.own_member(class, name) {
                    Some((owner, var)) if owner == class && row.kind == ClassKind::Enum => {
                        ItemPlace::ModuleItem(ModuleItem::Variant(class, var))
                    }
                    _ => ItemPlace::Nowhere,
                };
            }
            (class.file, row.body)
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
        None => ItemPlace::Inside(file, body),
    }
}

/// Returns a name that a glob import brings to a body, or to one of those around it up to its module.
pub(crate) fn through_globs(linker: &Linker<'_>, file: FileId, body: BodyId, name: Name) -> Option<Typed> {
    let nothing = || Brought { found: Rc::default(), is_complete: false };
    let brought = linker.query(&linker.tables.rust.globs, (file, body, name), nothing, || {
        let mut found = Vec::new();
        let is_complete = add_brought(linker, file, body, name, &mut Vec::new(), &mut found);
        Brought { found: Rc::from(found), is_complete }
    });
    brought.found.iter().map(|found| found.typed(linker)).find(|typed| !linker.values.is_unknown(typed.value))
}

/// Modules that glob imports lead to from one place.
const MOST_GLOBS: usize = 256;

/// Adds the items that glob imports bring under a name, each module once; whether all of them are known by now.
fn add_brought(
    linker: &Linker<'_>,
    file: FileId,
    body: BodyId,
    name: Name,
    seen: &mut Vec<(FileId, BodyId)>,
    found: &mut Vec<ModuleItem>,
) -> bool {
    if seen.contains(&(file, body)) || seen.len() > MOST_GLOBS {
        return true;
    }
    seen.push((file, body));
    let facts = linker.program.facts(file);
    let mut around: smallvec::SmallVec<[BodyId; 8]> = smallvec::SmallVec::new();
    let mut at = body;
    while let Some(id) = at.get() {
        around.push(id);
        let row = facts.body(id);
        if row.kind == BodyKind::Module {
            break;
        }
        at = row.parent;
    }
    let stars = facts.imports.iter().enumerate().filter(|(_, row)| row.kind == ImportKind::Star);
    let mut is_complete = true;
    for (number, row) in stars {
        let own = facts.body_of(row.at);
        if !around.contains(&own) {
            continue;
        }
        let base = glob_base(linker, file, ImportId(number as u32));
        if base == module_at(linker, file, own) {
            continue;
        }
        if matches!(base, Val::Unknown(_)) {
            is_complete = false;
            continue;
        }
        match place(linker, base, name) {
            ItemPlace::ModuleItem(item) => found.push(item),
            ItemPlace::Inside(file, body) => is_complete &= add_brought(linker, file, body, name, seen, found),
            ItemPlace::Nowhere => {}
        }
    }
    is_complete
}

/// Returns the module whose names a glob import brings. Modules may bring each other's, so the way there is remembered
/// and meets itself.
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

/// Returns the meaning of the first segment of a `use` path: `crate`, `self`, an item of this module, a crate.
fn import_head(linker: &Linker<'_>, file: FileId, row: &Import, path: &str) -> Val {
    let facts = linker.program.facts(file);
    let head = path.split("::").find(|part| !part.is_empty()).unwrap_or("");
    let own = module_at(linker, file, facts.body_of(row.at));
    if row.level > 0 {
        let module = (0..row.level).fold(own, |module, _| parent(linker, module));
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
        "self" => return own,
        _ => {}
    }
    if path.starts_with("::") {
        return named_crate(linker, file, head);
    }
    if let Some(name) = linker.program.name(head)
        && let Some(val) = item_for_head(linker, file, facts.body_of(row.at), own, row, name)
    {
        return val;
    }
    named_crate(linker, file, head)
}

/// `use store::Store` beside `mod store`: the item of this module, or one that a glob brings, unless it is this very
/// import.
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
            // `mod store; pub use store::{store};`: modules and functions of one name live beside each other.
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
    let (folder, own) = relative.rsplit_once('/').unwrap_or(("", relative));
    let join = |folder: &str, rest: &str| {
        if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") }
    };
    // Inline modules around are folders.
    let mut inline = Vec::new();
    let mut at = module_at(linker, file, facts.body_of(row.at));
    while let Val::Class(class) = at {
        let class = linker.program.class(class);
        inline.push(facts.text(class.name));
        at = module_at(linker, file, class.parent);
    }
    let stem = own.strip_suffix(".rs").unwrap_or(own);
    let is_root = stem == "mod" || is_crate_root(linker, relative);
    let path = facts.text(row.module);
    let mut inside =
        if is_root || !path.is_empty() && inline.is_empty() { folder.to_owned() } else { join(folder, stem) };
    for name in inline.iter().rev() {
        inside = join(&inside, name);
    }
    if !path.is_empty() {
        return linker.program.file_at(&normal(&join(&inside, path)));
    }
    let name = facts.text(row.name);
    linker
        .program
        .file_at(&join(&inside, &format!("{name}.rs")))
        .or_else(|| linker.program.file_at(&join(&inside, &format!("{name}/mod.rs"))))
}

/// Returns a path without `.` and `..`.
fn normal(path: &str) -> String {
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
    /// Returns the crate in whose folder a file lies.
    pub fn crate_of(&self, file: FileId) -> Option<&CrateLayout> {
        let relative = self.program.files[file.index()].relative.as_str();
        let inside =
            |folder: &str| folder.is_empty() || relative.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let around = self.program.layout.crates.iter().filter(|package| inside(&package.folder));
        around.max_by_key(|package| package.folder.len())
    }
}
