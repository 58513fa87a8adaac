//! What the bodies of modules and classes bind.

use std::rc::Rc;

use blocklint_facts::{
    AssignKind, BodyId, BodyKind, DisplayKind, FileFacts, Form, FormId, ImportKind, SiteKind, VarId, VarKind,
};
use rustc_hash::FxHashMap;

use super::entity::{Binding, ClassRef, Entity, FileRef, Function, ModuleRef, Value};
use super::sources::{File, Sources, absolute};

/// What one module or class binds.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: FxHashMap<Rc<str>, Vec<Binding>>,
    /// Names in the order in which they came.
    pub(super) order: Vec<Rc<str>>,
    /// Modules whose names are all its own.
    pub(super) stars: Vec<Rc<str>>,
}

impl Scope {
    /// What a name is bound to.
    pub(super) fn of(&self, name: &str) -> &[Binding] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, name: &str, binding: Binding) {
        let name: Rc<str> = Rc::from(name);
        let bindings = self.names.entry(name.clone()).or_default();
        if bindings.is_empty() {
            self.order.push(name);
        }
        if !bindings.contains(&binding) {
            bindings.push(binding);
        }
    }
}

impl Sources {
    /// What a module binds, by all of its files.
    pub(super) fn module_scope(&self, module: ModuleRef) -> Rc<Scope> {
        if let Some(known) = self.module_scopes.borrow().get(&module) {
            return known.clone();
        }
        let mut scope = Scope::default();
        for &file in &self.module_of(module).files {
            self.read_body(&mut scope, file, BodyId(0), None);
        }
        let scope = Rc::new(scope);
        self.module_scopes.borrow_mut().insert(module, scope.clone());
        scope
    }

    /// What a class binds: its members, what its methods set on their receiver, and what is set on it below.
    pub(super) fn class_scope(&self, class: ClassRef) -> Rc<Scope> {
        if let Some(known) = self.class_scopes.borrow().get(&class) {
            return known.clone();
        }
        let mut scope = Scope::default();
        let file = self.file(class.file);
        let body = file.facts.class(class.class).body;
        self.read_body(&mut scope, class.file, body, Some(class));
        let methods: Vec<Function> = scope
            .order
            .iter()
            .flat_map(|name| scope.of(name))
            .filter_map(|binding| match binding {
                Binding::Is(entity) => entity.function(),
                Binding::From { .. } => None,
            })
            .collect();
        for method in methods {
            self.read_attributes(&mut scope, &file, method, class);
        }
        self.read_additions(&mut scope, &file, class);
        let scope = Rc::new(scope);
        self.class_scopes.borrow_mut().insert(class, scope.clone());
        scope
    }

    fn read_body(&self, scope: &mut Scope, at: FileRef, body: BodyId, owner: Option<ClassRef>) {
        let file = self.file(at);
        let facts = &file.facts;
        for assign in file.assigns.get(&body).into_iter().flatten().map(|id| facts.assign(*id)) {
            let Form::Var(var) = facts.form(assign.target) else { continue };
            let var = facts.var(var);
            if var.body != body || var.kind == VarKind::Inner {
                continue;
            }
            let name = facts.text(var.name);
            let value = Value { file: at, owner, expression: assign.value, annotation: assign.annotation };
            match assign.kind {
                AssignKind::Definition => {
                    let found = definition(facts, at, assign.value, owner).unwrap_or(Entity::Value(value));
                    scope.add(name, Binding::Is(found));
                }
                AssignKind::Import => {
                    if let Some(binding) = self.import_of(&file, assign.value) {
                        scope.add(name, binding);
                    }
                }
                _ => {
                    scope.add(name, Binding::Is(Entity::Value(value)));
                    if name == "__slots__" {
                        self.read_slots(scope, facts, value);
                    }
                }
            }
        }
        scope.stars.extend(file.stars.get(&body).into_iter().flatten().cloned());
    }

    /// What an import binds.
    pub(super) fn import_of(&self, file: &File, form: FormId) -> Option<Binding> {
        let Form::Import(import) = file.facts.form(form) else { return None };
        let import = file.facts.import(import);
        let source = absolute(&self.module_of(file.module), import.level, file.facts.text(import.module));
        match import.kind {
            ImportKind::Module => Some(Binding::From { source, name: None }),
            ImportKind::Head => {
                let head = Rc::from(source.split('.').next().unwrap_or(&source));
                Some(Binding::From { source: head, name: None })
            }
            ImportKind::Name => Some(Binding::From { source, name: Some(Rc::from(file.facts.text(import.name))) }),
            _ => None,
        }
    }

    fn read_slots(&self, scope: &mut Scope, facts: &FileFacts, value: Value) {
        let Form::Display(DisplayKind::Tuple | DisplayKind::List, list) = facts.form(value.expression) else { return };
        for &item in facts.list(list) {
            if let Form::Str(name) = facts.form(item) {
                let empty = Value { expression: FormId::NONE, annotation: FormId::NONE, ..value };
                scope.add(facts.text(name), Binding::Is(Entity::Value(empty)));
            }
        }
    }

    /// `self.x = …` in a method.
    fn read_attributes(&self, scope: &mut Scope, of: &File, method: Function, class: ClassRef) {
        if method.file != class.file {
            return;
        }
        let facts = &of.facts;
        let Some(receiver) = facts.params_of(method.body).first().map(|param| param.var) else { return };
        for assign in of.assigns.get(&method.body).into_iter().flatten().map(|id| facts.assign(*id)) {
            let Form::Attr(base, name) = facts.form(assign.target) else { continue };
            if facts.form(base) != Form::Var(receiver) || assign.kind == AssignKind::Augmented {
                continue;
            }
            // A parameter that is kept has its declared type.
            let given = match facts.form(assign.value) {
                Form::Var(var) => facts.params_of(method.body).iter().find(|param| param.var == var),
                _ => None,
            };
            let declared = given.map_or(FormId::NONE, |param| param.annotation);
            let annotation = if assign.annotation.is_some() { assign.annotation } else { declared };
            let value = Value { file: method.file, owner: Some(class), expression: assign.value, annotation };
            scope.add(facts.text(name), Binding::Is(Entity::Value(value)));
        }
    }

    /// `Class.method = function` below the class.
    fn read_additions(&self, scope: &mut Scope, of: &File, class: ClassRef) {
        let facts = &of.facts;
        let var = facts.class(class.class).var;
        for assign in of.assigns.get(&BodyId(0)).into_iter().flatten().map(|id| facts.assign(*id)) {
            if let Form::Attr(base, name) = facts.form(assign.target)
                && var.is_some()
                && facts.form(base) == Form::Var(var)
            {
                let value =
                    Value { file: class.file, owner: Some(class), expression: assign.value, annotation: FormId::NONE };
                scope.add(facts.text(name), Binding::Is(Entity::Value(value)));
            }
        }
    }

    /// What a local of a function is, where it is defined or imported there.
    pub(super) fn local(&self, at: FileRef, var: VarId) -> Vec<Entity> {
        let file = self.file(at);
        let facts = &file.facts;
        let mut found = Vec::new();
        for assign in facts.assigns_of(var) {
            match assign.kind {
                AssignKind::Definition => found.extend(definition(facts, at, assign.value, None)),
                AssignKind::Import => {
                    if let Some(binding) = self.import_of(&file, assign.value) {
                        found.extend(self.follow(&binding));
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// The function or class that a definition makes, whatever decorates it.
fn definition(facts: &FileFacts, file: FileRef, form: FormId, owner: Option<ClassRef>) -> Option<Entity> {
    let mut form = form;
    for _ in 0..64 {
        match facts.form(form) {
            Form::Callable(body) if facts.body(body).kind == BodyKind::Function => {
                return Some(Entity::Function(Function { file, body, owner }));
            }
            Form::Class(class) => return Some(Entity::Class(ClassRef { file, class })),
            Form::Result(site) if facts.site(site).kind == SiteKind::Decorate => {
                form = facts.args_of(site).first()?.value;
            }
            _ => return None,
        }
    }
    None
}
