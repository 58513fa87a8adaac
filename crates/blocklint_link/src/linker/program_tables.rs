//! Tables that are read once from all files, before any query: base classes, import aliases, and the libraries whose
//! values can be in each file. The tables stay valid while the [`Outline`] of each changed file is the same. An edit
//! inside a function does not change the outline.

use crate::lang;
use crate::syntax::forms;
use std::sync::{Arc, OnceLock};

use blocklint_facts::{AssignKind, BodyId, BodyKind, ClassKind, FileFacts, Form, FormId, ImportKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::classes::hierarchy::Hierarchy;
use crate::imports::library_reach::LibraryReach;
use crate::linker::Linker;
use crate::program::Program;
use crate::program::ids::Name;

/// The tables that are read once from all files; cheap to clone.
#[derive(Clone)]
pub struct ProgramTables {
    /// Classes and bodies by their names.
    pub(crate) hierarchy: Arc<Hierarchy>,
    /// The other names under which imports bind a name: `import a as b`.
    pub(crate) import_aliases: Arc<FxHashMap<Name, Vec<Name>>>,
    /// All names that are an alias of another name.
    pub(crate) alias_names: Arc<FxHashSet<Name>>,
    reach: Arc<OnceLock<LibraryReach>>,
    /// The names of class attributes whose values are descriptors of libraries (Python).
    pub(crate) described: Arc<OnceLock<FxHashSet<Name>>>,
}

impl ProgramTables {
    /// Reads the tables from all files.
    pub fn new(program: &Program<'_>) -> Self {
        let import_aliases = lang::import_aliases(program);
        ProgramTables {
            hierarchy: Arc::new(Hierarchy::new(program)),
            alias_names: Arc::new(import_aliases.values().flatten().copied().collect()),
            import_aliases: Arc::new(import_aliases),
            reach: Arc::default(),
            described: Arc::default(),
        }
    }
}

impl Linker<'_> {
    /// Returns the libraries whose values can be in each file.
    pub fn reach(&self) -> &LibraryReach {
        self.program_tables.reach.get_or_init(|| LibraryReach::new(self))
    }
}

/// The part of one file that [`ProgramTables`] are read from. While the outlines of all files are the same, the tables
/// are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline(Vec<(OutlineEntry, Box<str>, u32)>);

/// The kind of an entry of an [`Outline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutlineEntry {
    /// A module that is imported, or from which a name is imported.
    Module,
    /// A name that is imported.
    Imported,
    /// The variable to which an import is bound.
    Alias,
    Function,
    /// A class; true if it is at the top level of its file.
    Class(ClassKind, bool),
    /// The last name of a base class.
    Base,
    /// The last name of the type of an `impl` (Rust).
    Subject,
    /// An `impl` whose type is its first type parameter: `impl<T> Trait for T` (Rust).
    BlanketImpl,
    /// A class attribute whose value is the result of a call.
    ClassAttribute,
    /// The name of the function whose result a class attribute has.
    AttributeFactory,
}

impl Outline {
    /// Returns the outline of one file.
    pub fn of(facts: &FileFacts) -> Self {
        let mut entries: Vec<(OutlineEntry, Box<str>, u32)> = Vec::new();
        let mut add = |entry: OutlineEntry, text: &str, number: u32| entries.push((entry, Box::from(text), number));
        for import in &facts.imports {
            add(OutlineEntry::Module, facts.text(import.module), import.level);
            add(OutlineEntry::Imported, facts.text(import.name), u32::from(import.kind == ImportKind::Name));
        }
        for assignment in facts.assigns.iter() {
            let Form::Var(var) = facts.form(assignment.target) else { continue };
            match facts.form(assignment.value) {
                Form::Import(import) if assignment.kind == AssignKind::Import => {
                    add(OutlineEntry::Alias, facts.text(facts.var(var).name), 0);
                    add(OutlineEntry::Imported, facts.text(facts.import(import).name), 1);
                    add(OutlineEntry::Module, facts.text(facts.import(import).module), 0);
                }
                Form::Result(site) if facts.body(facts.var(var).body).kind == BodyKind::Class => {
                    add(OutlineEntry::ClassAttribute, facts.text(facts.var(var).name), 0);
                    add(OutlineEntry::AttributeFactory, facts.text(facts.site(site).name), 0);
                }
                _ => {}
            }
        }
        for body in facts.bodies.iter().filter(|body| body.kind == BodyKind::Function) {
            add(OutlineEntry::Function, facts.text(body.name), 0);
        }
        for class in facts.classes.iter() {
            add(OutlineEntry::Class(class.kind, class.parent == BodyId(0)), facts.text(class.name), 0);
            for &base in facts.list(class.bases) {
                add(OutlineEntry::Base, last_name(facts, base), 0);
            }
            add(OutlineEntry::Subject, last_name(facts, class.subject), 0);
            if let (Form::Name(subject), Some(&param)) =
                (facts.form(class.subject), facts.list(class.type_params).first())
            {
                let param = match facts.form(param) {
                    Form::Cast(name, _) => facts.form(name),
                    param => param,
                };
                let is_blanket = matches!(param, Form::Str(name) if name == subject);
                add(OutlineEntry::BlanketImpl, "", u32::from(is_blanket));
            }
        }
        Outline(entries)
    }
}

fn last_name(facts: &FileFacts, form: FormId) -> &str {
    match facts.form(form) {
        Form::Subscript(inner, _) | Form::Bound(inner) => last_name(facts, inner),
        _ => forms::last_name(facts, form).map_or("", |sym| facts.text(sym)),
    }
}
