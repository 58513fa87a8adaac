//! Elements of a container that was made empty: the values that the project adds to the same variable or field.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AssignId, BodyKind, FileFacts, Form, FormId, SiteId, SiteKind, Sym, VarId};
use blocklint_models::Uses;
use rustc_hash::FxHashMap;

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, Name, PathId, SiteRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, Why};

/// The maximal number of additions that are evaluated for one container; a union has at most 24 members.
const MAX_ADDITIONS: usize = 32;

/// The sites of one file that may add to a container, by the container's last name.
pub(crate) type Additions = FxHashMap<Sym, Vec<SiteId>>;

/// The variable or field whose value is a container.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder {
    Var(FileId, VarId),
    Field(ClassRef),
}

impl<'a> Linker<'a> {
    /// Returns the value of an assignment. If it is an empty container, it has the elements that code adds to the same
    /// variable or field.
    pub(crate) fn with_added_elements(&self, scope: Scope, assign: AssignId, container: Typed) -> Typed {
        let [Val::Library { ty, args, made: origin }] = self.values.members(container.value)[..] else {
            return container;
        };
        if args != ArgsId::NONE && self.values.list(args).iter().any(|&value| !self.values.is_unknown(value)) {
            return container;
        }
        // A type without type parameters is no container.
        let params = self.library.supertypes(ty).iter().find_map(|&supertype| {
            self.library.ty(supertype).map(|rows| rows.params().len()).filter(|count| *count > 0)
        });
        let Some(params) = params else { return container };
        let Some((holder, sym)) = self.holder_of(scope, assign) else { return container };
        let added = self.added_elements(holder, ty, scope.file, sym, scope.env);
        if added.is_empty() {
            return container;
        }
        let element = self.join(&added);
        let args = match params {
            // The added elements of a mapping are its values; its keys are unknown.
            2 => self.values.args(&[self.unknown(Why::Expression).value, element.value]),
            _ => self.values.args(&[element.value]),
        };
        Typed {
            value: self.values.one(Val::Library { ty, args, made: origin }),
            inferred_steps: container.inferred_steps.max(element.inferred_steps),
        }
    }

    /// Returns the value of an assignment. If it is a container of callables, it has the callables that code adds to
    /// it: `jobs.put("a", this::run)` (Java).
    pub(crate) fn with_added_callables(&self, scope: Scope, assign: AssignId, made: Typed) -> Typed {
        let [Val::Library { ty, args, made: origin }] = self.values.members(made.value)[..] else { return made };
        let mut parts = self.values.list(args).to_vec();
        let Some(last) = parts.last_mut().filter(|_| self.library.language(ty) == Language::Java) else { return made };
        let declared = Typed { value: *last, inferred_steps: 0 };
        let filled = self.with_table_callables(declared, || match self.holder_of(scope, assign) {
            Some((holder, sym)) => self.added_elements(holder, ty, scope.file, sym, scope.env),
            None => Vec::new(),
        });
        if filled.value == declared.value {
            return made;
        }
        *last = filled.value;
        let args = self.values.args(&parts);
        Typed {
            value: self.values.one(Val::Library { ty, args, made: origin }),
            inferred_steps: made.inferred_steps.max(filled.inferred_steps),
        }
    }

    /// Returns the variable or field that is the target of an assignment, with its name.
    fn holder_of(&self, scope: Scope, assign: AssignId) -> Option<(Holder, Sym)> {
        let facts = self.program.facts(scope.file);
        let assignment = facts.assign(assign);
        match facts.form(assignment.target) {
            Form::Var(var) => {
                let var_row = facts.var(var);
                let owner = facts.body(var_row.body);
                Some(match owner.class.get() {
                    Some(class) if owner.kind == BodyKind::Class => {
                        let class = scope.file.class_ref(class);
                        (Holder::Field(class), var_row.name)
                    }
                    _ => (Holder::Var(scope.file, var), var_row.name),
                })
            }
            Form::Attr(base, sym) if crate::program::occurrences::is_own_receiver(facts, base) => {
                let class = self.class_around(self.program.body_of(scope.file, assignment.at))?;
                Some((Holder::Field(class), sym))
            }
            _ => None,
        }
    }

    /// True if code adds an element to the container in a variable.
    pub(crate) fn has_added_elements(&self, file: FileId, var: VarId, ty: PathId) -> bool {
        !self
            .added_elements(Holder::Var(file, var), ty, file, self.program.facts(file).var(var).name, EnvId::NONE)
            .is_empty()
    }

    /// Returns the elements that code adds to the container in a field of a class.
    pub(crate) fn elements_added_to_field(&self, class: ClassRef, ty: PathId, field: VarRef) -> Vec<Typed> {
        self.added_elements(Holder::Field(class), ty, field.file, self.program.var(field).name, EnvId::NONE)
    }

    /// Returns the elements that code adds to a container. For the container in a local variable, captured parameters
    /// have the values in `env`.
    fn added_elements(&self, holder: Holder, ty: PathId, file: FileId, sym: Sym, env: EnvId) -> Vec<Typed> {
        let mut elements = Vec::new();
        let add_of_file = |file: FileId, sym: Sym, env: EnvId, elements: &mut Vec<Typed>| {
            for &site in self.additions_of(file).get(&sym).into_iter().flatten() {
                if elements.len() >= MAX_ADDITIONS {
                    return;
                }
                let site = file.site_ref(site);
                if self.adds_to_holder(holder, site) {
                    elements.extend(self.addition(site, ty, env));
                }
            }
        };
        match holder {
            // A local variable is used in its own file only.
            Holder::Var(owner, var)
                if self.program.facts(owner).body(self.program.facts(owner).var(var).body).parent.is_some() =>
            {
                add_of_file(file, sym, env, &mut elements);
            }
            Holder::Var(..) => {
                let Some(name) = self.program.global(file, sym) else { return elements };
                for &(other_file, sym) in self.program.occurrences(name) {
                    let imports = || self.program.facts(other_file).imports.iter().any(|import| import.name == sym);
                    if other_file == file || imports() {
                        add_of_file(other_file, sym, EnvId::NONE, &mut elements);
                    }
                }
            }
            Holder::Field(class) => {
                let Some(name) = self.program.global(file, sym) else { return elements };
                let names = self.class_names(class);
                // Another file that adds to the field or derives from the class contains the name of the class.
                for &(other_file, sym) in self.program.occurrences(name) {
                    if other_file == file || names.iter().any(|&name| self.program.local(other_file, name).is_some()) {
                        add_of_file(other_file, sym, EnvId::NONE, &mut elements);
                    }
                }
            }
        }
        elements
    }

    /// True if a site adds to the container in this variable or field, by names and types.
    pub(crate) fn adds_to_holder(&self, holder: Holder, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        let receiver = match (site_facts.kind, facts.form(site_facts.callee)) {
            (SiteKind::Call, Form::Attr(receiver, _)) => receiver,
            (SiteKind::Subscript, _) => site_facts.callee,
            _ => return false,
        };
        let receiver = container_behind_lock(facts, receiver);
        let scope = self.scope_of(site, EnvId::NONE);
        match (holder, facts.form(receiver)) {
            (Holder::Var(file, var), Form::Var(used)) if file == site.file => used == var,
            // The variable is imported from its module.
            (Holder::Var(file, _), Form::Var(used)) => {
                facts.assigns_of(used).any(|assignment| match facts.form(assignment.value) {
                    Form::Import(import) => {
                        let import = facts.import(import);
                        crate::lang::python::names::module_named(self, site.file, &import) == Val::Module(file)
                    }
                    _ => false,
                })
            }
            (Holder::Var(file, _), Form::Attr(base, _)) => {
                self.values.members(self.eval(scope, base).value).contains(&Val::Module(file))
            }
            (Holder::Field(class), Form::Attr(base, _)) => {
                if crate::program::occurrences::is_own_receiver(facts, base) {
                    let around = self.class_around(self.program.body_of(site.file, site_facts.at));
                    // In Rust the `impl` block around belongs to the type.
                    let around = around.map(|around_class| {
                        crate::lang::rust::names::subject(self, around_class).unwrap_or(around_class)
                    });
                    return around.is_some_and(|around_class| {
                        self.is_subclass(around_class, class) || self.is_subclass(class, around_class)
                    });
                }
                self.values.members(self.eval(scope, base).value).iter().any(|val| match *val {
                    Val::Instance { class: receiver, .. } | Val::Class(receiver) => {
                        self.is_subclass(receiver, class) || self.is_subclass(class, receiver)
                    }
                    _ => false,
                })
            }
            (Holder::Field(class), Form::Var(var)) => {
                // The addition is in the class body.
                let owner = facts.body(facts.var(var).body).class.get();
                owner.map(|owner| site.file.class_ref(owner)) == Some(class)
            }
            _ => false,
        }
    }

    /// Returns the element that a site adds to a container of this type.
    fn addition(&self, site: SiteRef, ty: PathId, env: EnvId) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        let method = facts.text(self.program.site(site).name);
        self.library.supertypes(ty).iter().find_map(|&supertype| {
            let rows = self.library.calls(self.library.member(supertype, method));
            let matched = rows.with(|row| row.adds.is_some()).next()?;
            let form = self.argument(site, matched.row.adds.as_ref()?)?;
            Some(self.eval_stored_callable(self.scope_of(site, env), form))
        })
    }

    /// Returns the sites of a file that may add to a container.
    pub(crate) fn additions_of(&self, file: FileId) -> Rc<Additions> {
        self.query(&self.tables.values.additions, file, Rc::default, || Rc::new(self.find_additions_of(file)))
    }

    fn find_additions_of(&self, file: FileId) -> Additions {
        let facts = self.program.facts(file);
        let mut additions = Additions::default();
        for &name in self.adding_names(facts.language).iter() {
            let Some(name) = self.program.local(file, name) else { continue };
            for &site in self.program.index_of(file).sites_named(name) {
                let site_facts = facts.site(site);
                let receiver = match (site_facts.kind, facts.form(site_facts.callee)) {
                    (SiteKind::Call, Form::Attr(receiver, _)) => receiver,
                    (SiteKind::Subscript, _) => site_facts.callee,
                    _ => continue,
                };
                match facts.form(container_behind_lock(facts, receiver)) {
                    Form::Var(var) => additions.entry(facts.var(var).name).or_default().push(site),
                    Form::Attr(_, sym) => additions.entry(sym).or_default().push(site),
                    _ => {}
                }
            }
        }
        additions
    }

    /// Returns the names of methods that add an element to their receiver.
    pub fn adding_names(&self, language: Language) -> Rc<[Name]> {
        self.query(&self.tables.values.adding_names, language, Rc::default, || {
            let rows = self.library.of(language).names(Uses::ADDS);
            let mut names: Vec<Name> = rows.filter_map(|row| self.program.name(row.name)).collect();
            names.sort();
            names.dedup();
            Rc::from(names)
        })
    }
}

/// Returns the container inside a lock, cell or option: `self.listeners` of `self.listeners.lock().unwrap()` (Rust).
fn container_behind_lock(facts: &FileFacts, receiver: FormId) -> FormId {
    let mut container = receiver;
    if facts.language != Language::Rust {
        return container;
    }
    for _ in 0..MAX_GUARD_CALLS {
        container = match facts.form(container) {
            Form::Try(inner) | Form::Await(inner) => inner,
            Form::Result(site) => match facts.form(facts.site(site).callee) {
                Form::Attr(base, sym) if GUARD_METHODS.contains(&facts.text(sym)) => base,
                _ => return container,
            },
            _ => return container,
        };
    }
    container
}

/// The maximal number of calls between a container and the method that adds to it.
const MAX_GUARD_CALLS: usize = 4;

/// Methods that return the content of a lock, cell or option for changing it.
const GUARD_METHODS: &[&str] =
    &["lock", "write", "borrow_mut", "get_mut", "as_mut", "unwrap", "expect", "lock_mut", "blocking_lock"];
