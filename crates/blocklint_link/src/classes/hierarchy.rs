//! Classes, their bases and subclasses.

use crate::syntax::forms;
use std::rc::Rc;

use blocklint_facts::{BodyId, BodyKind, ClassId, ClassKind, Form, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, Name, PathId};
use crate::values::expr::Scope;

use crate::program::Program;
use crate::values::value::{ArgsId, EnvId, Val};

/// The order in which members are looked up.
pub(crate) type Mro = [Ancestor];

/// One class of a lookup order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ancestor {
    /// A class of the project.
    Class(ClassRef),
    /// A library type with its arguments.
    Library(PathId, ArgsId),
    /// A base that is not known: members may come from there.
    Unknown,
}

/// Which classes name which bases, by last name only.
pub struct Hierarchy {
    by_base: FxHashMap<Name, Vec<ClassRef>>,
    impls: FxHashMap<Name, Vec<ClassRef>>,
    blankets: Vec<ClassRef>,
    bodies: FxHashMap<Name, u32>,
    classes: FxHashSet<Name>,
    /// Java: the classes at the top level of files, by name.
    top_classes: FxHashMap<Name, Vec<ClassRef>>,
}

impl Hierarchy {
    pub(crate) fn new(program: &Program<'_>) -> Self {
        let mut by_base: FxHashMap<Name, Vec<ClassRef>> = FxHashMap::default();
        let mut impls: FxHashMap<Name, Vec<ClassRef>> = FxHashMap::default();
        let mut blankets: Vec<ClassRef> = Vec::new();
        let mut bodies: FxHashMap<Name, u32> = FxHashMap::default();
        let mut classes: FxHashSet<Name> = FxHashSet::default();
        let mut top_classes: FxHashMap<Name, Vec<ClassRef>> = FxHashMap::default();
        for (slot, source) in program.files.iter().enumerate() {
            let file = crate::program::ids::FileId(slot as u32);
            let facts = &source.facts;
            for body in facts.bodies.iter().filter(|body| body.kind == BodyKind::Function) {
                if let Some(name) = program.global(file, body.name) {
                    *bodies.entry(name).or_default() += 1;
                }
            }
            for (at, class) in facts.classes.iter().enumerate() {
                let class_ref = file.class_ref(ClassId(at as u32));
                classes.extend(program.global(file, class.name));
                if facts.language == blocklint_core::Language::Java
                    && class.parent == BodyId(0)
                    && let Some(name) = program.global(file, class.name)
                {
                    top_classes.entry(name).or_default().push(class_ref);
                }
                for &base in facts.list(class.bases) {
                    if let Some(name) = name_of_type(program, file, base) {
                        by_base.entry(name).or_default().push(class_ref);
                    }
                }
                if class.kind == ClassKind::Impl
                    && let Some(name) = name_of_type(program, file, class.subject)
                {
                    impls.entry(name).or_default().push(class_ref);
                    // `impl<T> Trait for T`.
                    let is_own = |param: &blocklint_facts::FormId| {
                        let param = match facts.form(*param) {
                            Form::Cast(name, _) => facts.form(name),
                            param => param,
                        };
                        matches!((facts.form(class.subject), param), (Form::Name(a), Form::Str(b)) if a == b)
                    };
                    if facts.list(class.type_params).first().is_some_and(is_own) {
                        blankets.push(class_ref);
                    }
                }
            }
        }
        Hierarchy { by_base, impls, blankets, bodies, classes, top_classes }
    }

    /// Returns the impl blocks whose subject ends in a name (Rust).
    pub(crate) fn impls_named(&self, name: Name) -> &[ClassRef] {
        self.impls.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Returns the impl blocks for every type (Rust).
    pub(crate) fn blankets(&self) -> &[ClassRef] {
        &self.blankets
    }

    /// True if a function, method or class of the project bears a name.
    pub fn is_defined(&self, name: Name) -> bool {
        self.bodies.contains_key(&name) || self.classes.contains(&name)
    }

    /// Returns the top-level classes of Java files with this name.
    pub(crate) fn top_classes(&self, name: Name) -> &[ClassRef] {
        self.top_classes.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Returns how many functions and methods of the project bear a name.
    pub fn bodies_named(&self, name: Name) -> u32 {
        self.bodies.get(&name).copied().unwrap_or(0)
    }
}

/// Returns the last name of a type form, seen through its arguments.
fn name_of_type(
    program: &Program<'_>,
    file: crate::program::ids::FileId,
    form: blocklint_facts::FormId,
) -> Option<Name> {
    let facts = program.facts(file);
    match facts.form(form) {
        Form::Subscript(inner, _) | Form::Bound(inner) => name_of_type(program, file, inner),
        _ => program.global(file, forms::last_name(facts, form)?),
    }
}

impl<'a> Linker<'a> {
    /// Returns the values of a class's bases.
    pub(crate) fn bases(&self, class: ClassRef) -> Rc<[Val]> {
        self.query(&self.tables.classes.bases, class, Rc::default, || self.find_bases(class).into())
    }

    fn find_bases(&self, class: ClassRef) -> Vec<Val> {
        let facts = self.program.facts(class.file);
        let row = self.program.class(class);
        let place = if row.kind == ClassKind::Impl { row.body } else { row.parent };
        let at = blocklint_facts::At { region: facts.body(place).region, position: u32::MAX };
        let scope = Scope { file: class.file, at, env: EnvId::NONE };
        let mut bases = Vec::new();
        for &base in facts.list(row.bases) {
            if self.adds_no_members(scope, base) {
                continue;
            }
            let typed = self.annotation(scope, base);
            bases.extend(self.values.members(typed.value));
        }
        // The traits of a Rust type stand at its impl blocks.
        if facts.language == blocklint_core::Language::Rust && row.kind != ClassKind::Impl {
            for block in self.impls(class) {
                let of_block = self.bases(block);
                let new: Vec<Val> = of_block.iter().copied().filter(|base| !bases.contains(base)).collect();
                bases.extend(new);
            }
        }
        bases
    }

    /// True if a base adds no members, because it only declares type parameters or the like: `Generic[T]`, `Protocol`.
    fn adds_no_members(&self, scope: Scope, base: blocklint_facts::FormId) -> bool {
        let facts = self.program.facts(scope.file);
        if facts.language != blocklint_core::Language::Python {
            return false;
        }
        let head = match facts.form(base) {
            Form::Subscript(head, _) => head,
            _ => base,
        };
        matches!(facts.form(head), Form::Var(_) | Form::Name(_) | Form::Attr(..))
            && self.values.members(self.eval(scope, head).value).iter().any(|val| match *val {
                Val::External(path) => crate::lang::python::builtins::adds_no_members(&self.library.text(path)),
                _ => false,
            })
    }

    /// Returns the lookup order of a class, itself first: depth first, a class behind all that derive from it.
    pub fn mro(&self, class: ClassRef) -> Rc<Mro> {
        let alone = || Rc::from([Ancestor::Class(class)]);
        self.query(&self.tables.classes.mros, class, alone, || self.find_mro(class).into())
    }

    fn find_mro(&self, class: ClassRef) -> Vec<Ancestor> {
        let mut order = vec![Ancestor::Class(class)];
        for base in self.bases(class).iter() {
            match *base {
                Val::Class(base) | Val::Instance { class: base, .. } if base != class => {
                    order.extend(self.mro(base).iter().copied());
                }
                Val::Library { ty, args, .. } => order.push(Ancestor::Library(ty, args)),
                Val::External(path) => order.push(Ancestor::Library(path, ArgsId::NONE)),
                Val::Unknown(_) => order.push(Ancestor::Unknown),
                _ => {}
            }
        }
        // Behind all of the project: what it has itself is meant before what a model states.
        order.extend(self.described_class_path(class).map(|path| Ancestor::Library(path, ArgsId::NONE)));
        // A base shared by two ways stands behind both: keep the last of each.
        let mut seen = FxHashSet::default();
        let mut kept: Vec<Ancestor> = order.iter().rev().copied().filter(|one| seen.insert(*one)).collect();
        kept.reverse();
        kept
    }

    /// Returns a class and all of the project above it. Of an impl block those of its subject: a call on `dyn Store`
    /// runs the `read` of `impl Read for Disk` where `trait Store: Read`, and `Disk` is a `Store` by another block.
    pub fn classes_above(&self, class: ClassRef) -> Vec<ClassRef> {
        let subject = match self.program.class(class).kind {
            ClassKind::Impl => crate::lang::rust::names::subject(self, class),
            _ => None,
        };
        let mut found: Vec<ClassRef> = Vec::new();
        for of in std::iter::once(class).chain(subject) {
            found.extend(self.mro(of).iter().filter_map(|ancestor| match *ancestor {
                Ancestor::Class(base) => Some(base),
                Ancestor::Library(..) | Ancestor::Unknown => None,
            }));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// True if `class` is `base` or derives from it.
    pub fn is_subclass(&self, class: ClassRef, base: ClassRef) -> bool {
        class == base || self.mro(class).contains(&Ancestor::Class(base))
    }

    /// Returns the classes that name this one as a base.
    pub fn derived(&self, class: ClassRef) -> Rc<[ClassRef]> {
        self.query(&self.tables.classes.derived, class, Rc::default, || self.find_derived(class).into())
    }

    fn find_derived(&self, class: ClassRef) -> Vec<ClassRef> {
        let mut found = Vec::new();
        for name in self.class_names(class) {
            for &candidate in self.hierarchy.by_base.get(&name).map_or(&[][..], Vec::as_slice) {
                let derives = self
                    .bases(candidate)
                    .iter()
                    .any(|base| matches!(*base, Val::Class(c) | Val::Instance { class: c, .. } if c == class));
                if derives && !found.contains(&candidate) {
                    found.push(candidate);
                }
            }
        }
        found
    }

    /// Returns the impl blocks of a type (Rust).
    pub fn impls(&self, class: ClassRef) -> Vec<ClassRef> {
        let mut found = Vec::new();
        for name in self.class_names(class) {
            for &candidate in self.hierarchy.impls.get(&name).map_or(&[][..], Vec::as_slice) {
                let row = self.program.class(candidate);
                let scope = crate::lang::rust::names::head_scope(self, candidate);
                let subject = self.annotation(scope, row.subject);
                let meant = self
                    .values
                    .members(subject.value)
                    .iter()
                    .any(|val| matches!(*val, Val::Class(c) | Val::Instance { class: c, .. } if c == class));
                if meant {
                    found.push(candidate);
                }
            }
        }
        found
    }

    /// True if an import binds this name to another one.
    pub fn is_import_alias(&self, name: Name) -> bool {
        self.program_tables.alias_names.contains(&name)
    }

    /// Returns the name of a class and those under which it is imported.
    pub fn class_names(&self, class: ClassRef) -> Vec<Name> {
        let Some(name) = self.program.global(class.file, self.program.class(class).name) else { return Vec::new() };
        self.with_aliases(name)
    }

    /// Returns a name and every other under which an import binds it.
    pub fn with_aliases(&self, name: Name) -> Vec<Name> {
        let mut names = vec![name];
        let mut at = 0;
        while at < names.len() && names.len() < 32 {
            if let Some(aliases) = self.program_tables.import_aliases.get(&names[at]) {
                for &alias in aliases {
                    if !names.contains(&alias) {
                        names.push(alias);
                    }
                }
            }
            at += 1;
        }
        names
    }

    /// Returns the member of this name in a class's own scope; for Rust also in its impl blocks.
    pub fn own_member(&self, class: ClassRef, name: Name) -> Option<(ClassRef, VarId)> {
        if let Some(var) = self.program.scope_var(class.file, self.program.class(class).body, name) {
            return Some((class, var));
        }
        if self.program.language(class.file) == blocklint_core::Language::Rust {
            // A type's own method goes before those of its traits.
            let mut of_trait = None;
            for block in self.impls(class) {
                let row = self.program.class(block);
                if let Some(var) = self.program.scope_var(block.file, row.body, name) {
                    if row.bases.is_empty() {
                        return Some((block, var));
                    }
                    of_trait = of_trait.or(Some((block, var)));
                }
            }
            return of_trait;
        }
        None
    }

    /// Returns the functions that a member's definitions make, before decorators.
    pub fn functions_of(&self, class: ClassRef, var: VarId) -> Vec<BodyRef> {
        let functions = self.query(&self.tables.classes.functions, class.file, Rc::default, || {
            let bodies = self.program.facts(class.file).bodies.iter().enumerate();
            let mut functions: Vec<(VarId, BodyId)> = bodies
                .filter(|(_, body)| body.kind == BodyKind::Function)
                .map(|(at, body)| (body.var, BodyId(at as u32)))
                .collect();
            functions.sort_unstable();
            Rc::from(functions)
        });
        let from = functions.partition_point(|(of, _)| *of < var);
        let found = functions[from..].iter().take_while(|(of, _)| *of == var);
        found.map(|&(_, body)| class.file.body_ref(body)).collect()
    }
}
