//! The class hierarchy: bases, lookup order (MRO), direct subclasses, impl blocks and own members of classes.

use crate::syntax::forms;
use std::rc::Rc;

use blocklint_facts::{At, BodyId, BodyKind, ClassId, ClassKind, Form, FormId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, PathId};
use crate::values::expr::Scope;

use crate::program::Program;
use crate::values::value::{ArgsId, EnvId, Val};

/// The most names of one class, import aliases included, that are searched.
const MAX_ALIASES: usize = 32;

/// The method resolution order: the classes in which members are looked up, in order.
pub(crate) type Mro = [Ancestor];

/// One class of a lookup order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ancestor {
    /// A class of the project.
    Class(ClassRef),
    /// A library type with its arguments.
    Library(PathId, ArgsId),
    /// An unknown base, which may define any member.
    Unknown,
}

/// An index of all classes and functions by name, read once from all files. Names are not resolved.
pub struct Hierarchy {
    /// The classes with a base of this last name.
    by_base: FxHashMap<Name, Vec<ClassRef>>,
    /// The impl blocks of a type with this last name (Rust).
    impls: FxHashMap<Name, Vec<ClassRef>>,
    /// The blanket impls: `impl<T> Trait for T` (Rust).
    blankets: Vec<ClassRef>,
    /// The number of functions and methods with this name.
    bodies: FxHashMap<Name, u32>,
    /// The names of all classes.
    classes: FxHashSet<Name>,
    /// The classes at the top level of files, by name (Java).
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
            let file = FileId(slot as u32);
            let facts = &source.facts;
            for body in facts.bodies.iter().filter(|body| body.kind == BodyKind::Function) {
                if let Some(name) = program.global(file, body.name) {
                    *bodies.entry(name).or_default() += 1;
                }
            }
            for (index, class) in facts.classes.iter().enumerate() {
                let class_ref = file.class_ref(ClassId(index as u32));
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
                    let is_subject = |param: &FormId| {
                        let param = match facts.form(*param) {
                            Form::Cast(name, _) => facts.form(name),
                            param => param,
                        };
                        matches!((facts.form(class.subject), param), (Form::Name(a), Form::Str(b)) if a == b)
                    };
                    if facts.list(class.type_params).first().is_some_and(is_subject) {
                        blankets.push(class_ref);
                    }
                }
            }
        }
        Hierarchy { by_base, impls, blankets, bodies, classes, top_classes }
    }

    /// Returns the impl blocks of types with this last name (Rust).
    pub(crate) fn impls_named(&self, name: Name) -> &[ClassRef] {
        self.impls.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Returns the blanket impls: `impl<T> Trait for T` (Rust).
    pub(crate) fn blankets(&self) -> &[ClassRef] {
        &self.blankets
    }

    /// True if a function, method or class of the project has this name.
    pub fn is_defined(&self, name: Name) -> bool {
        self.bodies.contains_key(&name) || self.classes.contains(&name)
    }

    /// Returns the top-level classes of Java files with this name.
    pub(crate) fn top_classes(&self, name: Name) -> &[ClassRef] {
        self.top_classes.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of functions and methods of the project with this name.
    pub fn count_bodies_named(&self, name: Name) -> u32 {
        self.bodies.get(&name).copied().unwrap_or(0)
    }
}

/// Returns the last name of a type without its type arguments: `Map` of `util.Map<K, V>`.
fn name_of_type(program: &Program<'_>, file: FileId, form: FormId) -> Option<Name> {
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
        let class_facts = self.program.class(class);
        let place = if class_facts.kind == ClassKind::Impl { class_facts.body } else { class_facts.parent };
        let at = At { region: facts.body(place).region, position: u32::MAX };
        let scope = Scope { file: class.file, at, env: EnvId::NONE };
        let mut bases = Vec::new();
        for &base in facts.list(class_facts.bases) {
            if self.adds_no_members(scope, base) {
                continue;
            }
            let typed = self.annotation(scope, base);
            bases.extend(self.values.members(typed.value));
        }
        // The bases of a Rust type are the traits of its impl blocks.
        if facts.language == blocklint_core::Language::Rust && class_facts.kind != ClassKind::Impl {
            for block in self.impls(class) {
                let trait_values = self.bases(block);
                let added_bases: Vec<Val> = trait_values.iter().copied().filter(|base| !bases.contains(base)).collect();
                bases.extend(added_bases);
            }
        }
        bases
    }

    /// True if a base has no members: `Generic[T]`, `Protocol` (Python).
    fn adds_no_members(&self, scope: Scope, base: FormId) -> bool {
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

    /// Returns the method resolution order of a class, the class itself first. The order is depth-first, with each
    /// class after all of its subclasses.
    pub fn mro(&self, class: ClassRef) -> Rc<Mro> {
        let only_itself = || Rc::from([Ancestor::Class(class)]);
        self.query(&self.tables.classes.mros, class, only_itself, || self.find_mro(class).into())
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
        // A model of a project class comes last, because members in the source win over rows.
        order.extend(self.described_class_path(class).map(|path| Ancestor::Library(path, ArgsId::NONE)));
        // A base that two classes share comes after both, so the last occurrence is kept.
        let mut visited = FxHashSet::default();
        let mut unique: Vec<Ancestor> =
            order.iter().rev().copied().filter(|ancestor| visited.insert(*ancestor)).collect();
        unique.reverse();
        unique
    }

    /// Returns a class and its bases in the project, at any depth. For an impl block, the bases of its type are
    /// included. Example: a call of `read` on `dyn Store`, with `trait Store: Read`, may run `impl Read for Disk`,
    /// because there is also an `impl Store for Disk`.
    pub fn classes_above(&self, class: ClassRef) -> Vec<ClassRef> {
        let subject = match self.program.class(class).kind {
            ClassKind::Impl => crate::lang::rust::names::subject(self, class),
            _ => None,
        };
        let mut classes: Vec<ClassRef> = Vec::new();
        for derived in std::iter::once(class).chain(subject) {
            classes.extend(self.mro(derived).iter().filter_map(|ancestor| match *ancestor {
                Ancestor::Class(base) => Some(base),
                Ancestor::Library(..) | Ancestor::Unknown => None,
            }));
        }
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// True if `class` is `base` or derives from it.
    pub fn is_subclass(&self, class: ClassRef, base: ClassRef) -> bool {
        class == base || self.mro(class).contains(&Ancestor::Class(base))
    }

    /// Returns the classes that have this class as a direct base.
    pub fn direct_subclasses(&self, class: ClassRef) -> Rc<[ClassRef]> {
        self.query(&self.tables.classes.derived, class, Rc::default, || self.find_derived(class).into())
    }

    fn find_derived(&self, class: ClassRef) -> Vec<ClassRef> {
        let mut subclasses = Vec::new();
        for name in self.class_names(class) {
            for &candidate in self.hierarchy.by_base.get(&name).map_or(&[][..], Vec::as_slice) {
                let has_base = self
                    .bases(candidate)
                    .iter()
                    .any(|base| matches!(*base, Val::Class(c) | Val::Instance { class: c, .. } if c == class));
                if has_base && !subclasses.contains(&candidate) {
                    subclasses.push(candidate);
                }
            }
        }
        subclasses
    }

    /// Returns the impl blocks of a type (Rust).
    pub fn impls(&self, class: ClassRef) -> Vec<ClassRef> {
        let mut blocks = Vec::new();
        for name in self.class_names(class) {
            for &candidate in self.hierarchy.impls.get(&name).map_or(&[][..], Vec::as_slice) {
                let block_facts = self.program.class(candidate);
                let scope = crate::lang::rust::names::head_scope(self, candidate);
                let subject = self.annotation(scope, block_facts.subject);
                let is_of_class = self
                    .values
                    .members(subject.value)
                    .iter()
                    .any(|val| matches!(*val, Val::Class(c) | Val::Instance { class: c, .. } if c == class));
                if is_of_class {
                    blocks.push(candidate);
                }
            }
        }
        blocks
    }

    /// True if an import binds this name to another one.
    pub fn is_import_alias(&self, name: Name) -> bool {
        self.program_tables.alias_names.contains(&name)
    }

    /// Returns the name of a class and its import aliases.
    pub fn class_names(&self, class: ClassRef) -> Vec<Name> {
        let Some(name) = self.program.global(class.file, self.program.class(class).name) else { return Vec::new() };
        self.with_aliases(name)
    }

    /// Returns a name and its import aliases: `b` for `import a as b`.
    pub fn with_aliases(&self, name: Name) -> Vec<Name> {
        let mut names = vec![name];
        let mut next = 0;
        while next < names.len() && names.len() < MAX_ALIASES {
            if let Some(aliases) = self.program_tables.import_aliases.get(&names[next]) {
                for &alias in aliases {
                    if !names.contains(&alias) {
                        names.push(alias);
                    }
                }
            }
            next += 1;
        }
        names
    }

    /// Returns the member of this name in the body of a class, without its bases. For Rust the impl blocks are
    /// included.
    pub fn own_member(&self, class: ClassRef, name: Name) -> Option<(ClassRef, VarId)> {
        if let Some(var) = self.program.scope_var(class.file, self.program.class(class).body, name) {
            return Some((class, var));
        }
        if self.program.language(class.file) == blocklint_core::Language::Rust {
            // An inherent method takes precedence over methods of traits.
            let mut trait_member = None;
            for block in self.impls(class) {
                let block_facts = self.program.class(block);
                if let Some(var) = self.program.scope_var(block.file, block_facts.body, name) {
                    if block_facts.bases.is_empty() {
                        return Some((block, var));
                    }
                    trait_member = trait_member.or(Some((block, var)));
                }
            }
            return trait_member;
        }
        None
    }

    /// Returns the functions that define a member, ignoring decorators. There are several for overloads, and for a
    /// getter with a setter.
    pub fn functions_of(&self, class: ClassRef, var: VarId) -> Vec<BodyRef> {
        let functions = self.query(&self.tables.classes.functions, class.file, Rc::default, || {
            let bodies = self.program.facts(class.file).bodies.iter().enumerate();
            let mut functions: Vec<(VarId, BodyId)> = bodies
                .filter(|(_, body)| body.kind == BodyKind::Function)
                .map(|(index, body)| (body.var, BodyId(index as u32)))
                .collect();
            functions.sort_unstable();
            Rc::from(functions)
        });
        let start = functions.partition_point(|(member, _)| *member < var);
        let definitions = functions[start..].iter().take_while(|(member, _)| *member == var);
        definitions.map(|&(_, body)| class.file.body_ref(body)).collect()
    }
}
