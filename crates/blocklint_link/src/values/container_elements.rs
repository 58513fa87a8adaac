//! Elements of a container that was made empty: the values that the project adds to the same variable or field.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AssignId, FileFacts, Form, FormId, SiteId, SiteKind, Sym, VarId};
use blocklint_models::Uses;
use rustc_hash::FxHashMap;

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, Name, PathId, SiteRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, Why};

/// Additions looked at for one container: a union holds no more than 24.
const MOST: usize = 32;

/// The sites of one file that may add to a container, by the container's last name.
pub(crate) type Additions = FxHashMap<Sym, Vec<SiteId>>;

/// The variable or field that holds a container.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder {
    Var(FileId, VarId),
    Field(ClassRef),
}

impl<'a> Linker<'a> {
    /// Returns an assigned empty container with the elements that are added to the same variable or field anywhere.
    pub(crate) fn with_added_elements(&self, scope: Scope, assign: AssignId, made: Typed) -> Typed {
        let [Val::Library { ty, args, made: origin }] = self.values.members(made.value)[..] else { return made };
        if args != ArgsId::NONE && self.values.list(args).iter().any(|&value| !self.values.is_unknown(value)) {
            return made;
        }
        // A type without elements is no container.
        let params = self
            .library
            .supertypes(ty)
            .iter()
            .find_map(|&of| self.library.ty(of).map(|rows| rows.params().len()).filter(|count| *count > 0));
        let Some(params) = params else { return made };
        let Some((holder, sym)) = self.holder_of(scope, assign) else { return made };
        let added = self.added(holder, ty, scope.file, sym, scope.env);
        if added.is_empty() {
            return made;
        }
        let element = self.join(&added);
        let args = match params {
            // Of a mapping the values are added; its keys are not known.
            2 => self.values.args(&[self.unknown(Why::Expression).value, element.value]),
            _ => self.values.args(&[element.value]),
        };
        Typed {
            value: self.values.one(Val::Library { ty, args, made: origin }),
            inferred_steps: made.inferred_steps.max(element.inferred_steps),
        }
    }

    /// Returns an assigned container of what lambdas implement, with the callables that are added to it:
    /// `jobs.put("a", this::run)` (Java).
    pub(crate) fn with_callables(&self, scope: Scope, assign: AssignId, made: Typed) -> Typed {
        let [Val::Library { ty, args, made: origin }] = self.values.members(made.value)[..] else { return made };
        let mut parts = self.values.list(args).to_vec();
        let Some(last) = parts.last_mut().filter(|_| self.library.language(ty) == Language::Java) else { return made };
        let declared = Typed { value: *last, inferred_steps: 0 };
        let filled = self.or_callables_of_table(declared, || match self.holder_of(scope, assign) {
            Some((holder, sym)) => self.added(holder, ty, scope.file, sym, scope.env),
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

    /// Returns the variable or field that an assignment assigns, with its name.
    fn holder_of(&self, scope: Scope, assign: AssignId) -> Option<(Holder, Sym)> {
        let facts = self.program.facts(scope.file);
        let row = facts.assign(assign);
        match facts.form(row.target) {
            Form::Var(var) => {
                let var_row = facts.var(var);
                let owner = facts.body(var_row.body);
                Some(match owner.class.get() {
                    Some(class) if owner.kind == blocklint_facts::BodyKind::Class => {
                        let class = scope.file.class_ref(class);
                        (Holder::Field(class), var_row.name)
                    }
                    _ => (Holder::Var(scope.file, var), var_row.name),
                })
            }
            Form::Attr(base, sym) if crate::program::occurrences::is_own_receiver(facts, base) => {
                let class = self.class_around(self.program.body_of(scope.file, row.at))?;
                Some((Holder::Field(class), sym))
            }
            _ => None,
        }
    }

    /// True if the project adds an element to the value of a variable.
    pub(crate) fn is_added_to(&self, file: FileId, var: VarId, ty: PathId) -> bool {
        !self.added(Holder::Var(file, var), ty, file, self.program.facts(file).var(var).name, EnvId::NONE).is_empty()
    }

    /// Returns the elements that are added to the container in a field of a class.
    pub(crate) fn added_to_field(&self, class: ClassRef, ty: PathId, field: VarRef) -> Vec<Typed> {
        self.added(Holder::Field(class), ty, field.file, self.program.var(field).name, EnvId::NONE)
    }

    /// Returns the elements that are added to a container. For the container of a local, captured parameters have the
    /// values of the binding `env`.
    fn added(&self, holder: Holder, ty: PathId, file: FileId, sym: Sym, env: EnvId) -> Vec<Typed> {
        let mut found = Vec::new();
        let see = |file: FileId, sym: Sym, env: EnvId, found: &mut Vec<Typed>| {
            for &site in self.additions_of(file).get(&sym).into_iter().flatten() {
                if found.len() >= MOST {
                    return;
                }
                let site = file.site_ref(site);
                if self.is_held_by(holder, site) {
                    found.extend(self.addition(site, ty, env));
                }
            }
        };
        match holder {
            // Only its own file names a local.
            Holder::Var(of, var)
                if self.program.facts(of).body(self.program.facts(of).var(var).body).parent.is_some() =>
            {
                see(file, sym, env, &mut found);
            }
            Holder::Var(..) => {
                let Some(name) = self.program.global(file, sym) else { return found };
                for &(other, sym) in self.program.occurrences(name) {
                    let imports = || self.program.facts(other).imports.iter().any(|import| import.name == sym);
                    if other == file || imports() {
                        see(other, sym, EnvId::NONE, &mut found);
                    }
                }
            }
            Holder::Field(class) => {
                let Some(name) = self.program.global(file, sym) else { return found };
                let names = self.class_names(class);
                // Code elsewhere that adds to the field, or derives from the class, names the class.
                for &(other, sym) in self.program.occurrences(name) {
                    if other == file || names.iter().any(|&name| self.program.local(other, name).is_some()) {
                        see(other, sym, EnvId::NONE, &mut found);
                    }
                }
            }
        }
        found
    }

    /// True if a site adds to this very container, as far as names and types show.
    pub(crate) fn is_held_by(&self, holder: Holder, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let row = self.program.site(site);
        let receiver = match (row.kind, facts.form(row.callee)) {
            (SiteKind::Call, Form::Attr(receiver, _)) => receiver,
            (SiteKind::Subscript, _) => row.callee,
            _ => return false,
        };
        let receiver = behind_lock(facts, receiver);
        let scope = self.scope_of(site, EnvId::NONE);
        match (holder, facts.form(receiver)) {
            (Holder::Var(file, var), Form::Var(of)) if file == site.file => of == var,
            // Imported from its module.
            (Holder::Var(file, _), Form::Var(of)) => facts.assigns_of(of).any(|row| match facts.form(row.value) {
                Form::Import(import) => {
                    let import = facts.import(import);
                    crate::lang::python::names::module_named(self, site.file, &import) == Val::Module(file)
                }
                _ => false,
            }),
            (Holder::Var(file, _), Form::Attr(base, _)) => {
                self.values.members(self.eval(scope, base).value).contains(&Val::Module(file))
            }
            (Holder::Field(class), Form::Attr(base, _)) => {
                if crate::program::occurrences::is_own_receiver(facts, base) {
                    let around = self.class_around(self.program.body_of(site.file, row.at));
                    // In Rust the block around is of the type.
                    let around = around.map(|own| crate::lang::rust::names::subject(self, own).unwrap_or(own));
                    return around.is_some_and(|own| self.is_subclass(own, class) || self.is_subclass(class, own));
                }
                self.values.members(self.eval(scope, base).value).iter().any(|val| match *val {
                    Val::Instance { class: of, .. } | Val::Class(of) => {
                        self.is_subclass(of, class) || self.is_subclass(class, of)
                    }
                    _ => false,
                })
            }
            (Holder::Field(class), Form::Var(var)) => {
                // In the class body itself.
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
        self.library.supertypes(ty).iter().find_map(|&of| {
            let rows = self.library.calls(self.library.member(of, method));
            let row = rows.with(|row| row.adds.is_some()).next()?;
            let form = self.argument(site, row.row.adds.as_ref()?)?;
            Some(self.callable_kept(self.scope_of(site, env), form))
        })
    }

    /// Returns the sites of a file that may add to a container, remembered.
    pub(crate) fn additions_of(&self, file: FileId) -> Rc<Additions> {
        self.query(&self.tables.values.additions, file, Rc::default, || Rc::new(self.find_additions_of(file)))
    }

    fn find_additions_of(&self, file: FileId) -> Additions {
        let facts = self.program.facts(file);
        let mut found = Additions::default();
        for &name in self.adding_names(facts.language).iter() {
            let Some(name) = self.program.local(file, name) else { continue };
            for &site in self.program.index_of(file).sites_named(name) {
                let row = facts.site(site);
                let receiver = match (row.kind, facts.form(row.callee)) {
                    (SiteKind::Call, Form::Attr(receiver, _)) => receiver,
                    (SiteKind::Subscript, _) => row.callee,
                    _ => continue,
                };
                match facts.form(behind_lock(facts, receiver)) {
                    Form::Var(var) => found.entry(facts.var(var).name).or_default().push(site),
                    Form::Attr(_, sym) => found.entry(sym).or_default().push(site),
                    _ => {}
                }
            }
        }
        found
    }

    /// Returns names of methods that add to their receiver.
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

/// Returns the container inside a lock, cell or option (Rust): `self.listeners.lock().unwrap()` is `self.listeners`.
fn behind_lock(facts: &FileFacts, receiver: FormId) -> FormId {
    let mut at = receiver;
    if facts.language != Language::Rust {
        return at;
    }
    for _ in 0..DEEPEST_GUARD {
        at = match facts.form(at) {
            Form::Try(inner) | Form::Await(inner) => inner,
            Form::Result(site) => match facts.form(facts.site(site).callee) {
                Form::Attr(base, sym) if GUARDS.contains(&facts.text(sym)) => base,
                _ => return at,
            },
            _ => return at,
        };
    }
    at
}

/// Calls on each other between a container and what is called on it.
const DEEPEST_GUARD: usize = 4;

/// Methods of the standard library and the like that return the content of a value, to be changed.
const GUARDS: &[&str] =
    &["lock", "write", "borrow_mut", "get_mut", "as_mut", "unwrap", "expect", "lock_mut", "blocking_lock"];
