//! Packages in folders, and what names in them lead to.

use std::cell::RefCell;
use std::rc::Rc;

use blocklint_facts::{AssignId, BodyId, ExitKind, FileFacts, FormId, ImportKind};
use camino::Utf8PathBuf;
use rustc_hash::{FxHashMap, FxHashSet};

use super::builtins::{builtin_type, has_member};
use super::entity::{Base, Binding, ClassRef, Entity, FileRef, Function, ModuleRef, Value};
use super::modules::Module;
use super::scope::Scope;

/// One file with what is asked of it by body.
#[derive(Debug)]
pub(super) struct File {
    pub(super) facts: FileFacts,
    pub(super) module: ModuleRef,
    /// The assignments that stand in each body.
    pub(super) assigns: FxHashMap<BodyId, Vec<AssignId>>,
    /// The values that each body returns.
    pub(super) returns: FxHashMap<BodyId, Vec<FormId>>,
    /// The modules of which each body imports everything.
    pub(super) stars: FxHashMap<BodyId, Vec<Rc<str>>>,
}

/// Packages in folders, searched in order; those of the standard library come last.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(super) folders: Vec<Utf8PathBuf>,
    pub(super) standard: Option<Utf8PathBuf>,
    pub(super) known: RefCell<FxHashMap<Rc<str>, Option<ModuleRef>>>,
    pub(super) modules: RefCell<Vec<Rc<Module>>>,
    files: RefCell<Vec<Rc<File>>>,
    pub(super) module_scopes: RefCell<FxHashMap<ModuleRef, Rc<Scope>>>,
    pub(super) class_scopes: RefCell<FxHashMap<ClassRef, Rc<Scope>>>,
    /// What is being looked up, to meet recursion.
    pub(super) active: RefCell<FxHashSet<(Entity, Rc<str>)>>,
    /// How deep questions wait for each other.
    pub(super) depth: std::cell::Cell<u32>,
}

/// Questions that wait for each other; a package whose names lead on and on ends here.
const DEEPEST: u32 = 400;

impl Sources {
    /// Packages in these folders, and a standard library.
    pub(crate) fn new(folders: Vec<Utf8PathBuf>, standard: Option<Utf8PathBuf>) -> Self {
        Sources {
            folders,
            standard,
            known: RefCell::default(),
            modules: RefCell::default(),
            files: RefCell::default(),
            module_scopes: RefCell::default(),
            class_scopes: RefCell::default(),
            active: RefCell::default(),
            depth: std::cell::Cell::new(0),
        }
    }

    pub(super) fn file(&self, file: FileRef) -> Rc<File> {
        self.files.borrow()[file.0 as usize].clone()
    }

    pub(super) fn module_of(&self, module: ModuleRef) -> Rc<Module> {
        self.modules.borrow()[module.0 as usize].clone()
    }

    pub(super) fn add_file(&self, facts: FileFacts, module: ModuleRef) -> FileRef {
        let mut assigns: FxHashMap<BodyId, Vec<AssignId>> = FxHashMap::default();
        for at in 0..facts.assigns.len() as u32 {
            let body = facts.body_of(facts.assign(AssignId(at)).at);
            assigns.entry(body).or_default().push(AssignId(at));
        }
        let mut returns: FxHashMap<BodyId, Vec<FormId>> = FxHashMap::default();
        for exit in facts.exits.iter().filter(|exit| exit.kind == ExitKind::Return) {
            returns.entry(facts.body_of(exit.at)).or_default().push(exit.value);
        }
        let mut stars: FxHashMap<BodyId, Vec<Rc<str>>> = FxHashMap::default();
        let owner = self.module_of(module);
        for import in facts.imports.iter().filter(|import| import.kind == ImportKind::Star) {
            let source = absolute(&owner, import.level, facts.text(import.module));
            stars.entry(facts.body_of(import.at)).or_default().push(source);
        }
        let mut files = self.files.borrow_mut();
        files.push(Rc::new(File { facts, module, assigns, returns, stars }));
        FileRef(files.len() as u32 - 1)
    }

    /// Everything that a dotted path may be; nothing if it does not exist.
    pub(crate) fn resolve(&self, path: &str) -> Vec<Entity> {
        if let Some((head, name)) = path.rsplit_once('.')
            && let Some(parent) = self.module(head)
        {
            // A function may have the name of the module that it stands in.
            let mut found = self.member(&Entity::Module(parent), name);
            found.retain(|entity| !matches!(entity, Entity::Module(_) | Entity::Outside(_)));
            if !found.is_empty() {
                return found;
            }
        }
        let mut end = Some(path.len());
        while let Some(at) = end {
            let (head, rest) = (&path[..at], path.get(at + 1..));
            end = head.rfind('.');
            let Some(module) = self.module(head) else { continue };
            let mut found = vec![Entity::Module(module)];
            for name in rest.into_iter().flat_map(|rest| rest.split('.')) {
                found = found.iter().flat_map(|entity| self.member(entity, name)).collect();
            }
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// What a name of something is.
    pub(super) fn member(&self, entity: &Entity, name: &str) -> Vec<Entity> {
        let of = match entity {
            Entity::Instance(class) => Entity::Class(*class),
            _ => entity.clone(),
        };
        let key = (of, Rc::from(name));
        if self.depth.get() >= DEEPEST || !self.active.borrow_mut().insert(key.clone()) {
            return Vec::new();
        }
        self.depth.set(self.depth.get() + 1);
        let found = self.find_member(entity, name);
        self.depth.set(self.depth.get() - 1);
        self.active.borrow_mut().remove(&key);
        found
    }

    fn find_member(&self, entity: &Entity, name: &str) -> Vec<Entity> {
        match entity {
            Entity::Module(module) => self.module_member(*module, name),
            Entity::Instance(class) | Entity::Class(class) => self.class_member(*class, name),
            Entity::Value(value) => self.value_of(value).iter().flat_map(|of| self.member(of, name)).collect(),
            Entity::Function(function) if self.is_property(function) => {
                self.returned(function).iter().flat_map(|of| self.member(of, name)).collect()
            }
            Entity::Function(_) => Vec::new(),
            Entity::Outside(path) => vec![Entity::outside(format!("{path}.{name}"))],
        }
    }

    fn module_member(&self, module: ModuleRef, name: &str) -> Vec<Entity> {
        let scope = self.module_scope(module);
        let mut found: Vec<Entity> = scope.of(name).iter().flat_map(|binding| self.follow(binding)).collect();
        if !found.iter().any(Entity::is_definition) {
            for star in &scope.stars {
                if let Some(source) = self.module(star).filter(|source| *source != module) {
                    found.extend(self.member(&Entity::Module(source), name));
                }
            }
        }
        if found.is_empty() {
            found.extend(self.module(&format!("{}.{name}", self.module_of(module).name)).map(Entity::Module));
        }
        found
    }

    fn class_member(&self, class: ClassRef, name: &str) -> Vec<Entity> {
        let order = self.mro(class);
        for base in &order {
            match base {
                Base::Class(base) => {
                    let scope = self.class_scope(*base);
                    let bindings = scope.of(name);
                    if bindings.is_empty() {
                        continue;
                    }
                    let found = bindings.iter().flat_map(|binding| self.follow(binding));
                    let bound = |entity| match entity {
                        Entity::Function(f) => Entity::Function(Function { owner: f.owner.or(Some(class)), ..f }),
                        other => other,
                    };
                    return found.map(bound).collect();
                }
                Base::Builtin(of) if builtin_type(of).is_some_and(|known| has_member(known, name)) => {
                    return vec![Entity::outside(format!("builtins.{of}.{name}"))];
                }
                _ => {}
            }
        }
        let outside = order.iter().filter_map(|base| match base {
            Base::Outside(path) => Some(Entity::outside(format!("{path}.{name}"))),
            _ => None,
        });
        outside.collect()
    }

    /// What an import or a plain second name stands for.
    pub(super) fn follow(&self, binding: &Binding) -> Vec<Entity> {
        match binding {
            Binding::From { source, name } => {
                let module = self.module(source);
                match (module, name) {
                    (Some(module), Some(name)) => self.member(&Entity::Module(module), name),
                    (Some(module), None) => vec![Entity::Module(module)],
                    (None, Some(name)) => vec![Entity::outside(format!("{source}.{name}"))],
                    (None, None) => vec![Entity::Outside(source.clone())],
                }
            }
            Binding::Is(Entity::Value(value)) if self.is_name(value) => {
                let known = self.evaluate(value.expression, self.place_of(value));
                if known.iter().any(Entity::is_definition) { known } else { vec![Entity::Value(*value)] }
            }
            Binding::Is(entity) => vec![entity.clone()],
        }
    }

    /// What a variable may hold.
    pub(super) fn value_of(&self, value: &Value) -> Vec<Entity> {
        let place = self.place_of(value);
        let mut found = Vec::new();
        if value.annotation.is_some() {
            found = instances(self.evaluate(value.annotation, place));
        }
        if found.is_empty() && value.expression.is_some() {
            found = self.evaluate(value.expression, place);
        }
        found.retain(|entity| *entity != Entity::Value(*value));
        found
    }

    /// Objects that a function says it returns.
    pub(super) fn returned(&self, function: &Function) -> Vec<Entity> {
        let file = self.file(function.file);
        let returns = file.facts.body(function.body).returns;
        if returns.is_none() {
            return Vec::new();
        }
        instances(self.evaluate(returns, self.place_in(function)))
    }
}

/// Classes as their objects.
pub(super) fn instances(types: Vec<Entity>) -> Vec<Entity> {
    let of = |entity| match entity {
        Entity::Class(class) => Entity::Instance(class),
        other => other,
    };
    types.into_iter().map(of).collect()
}

/// The module that an import names, seen from the module it stands in.
pub(super) fn absolute(module: &Module, level: u32, written: &str) -> Rc<str> {
    if level == 0 {
        return Rc::from(written);
    }
    let parts: Vec<&str> = module.name.split('.').collect();
    let keep = (parts.len() + usize::from(module.package)).saturating_sub(level as usize).min(parts.len());
    let mut name = parts[..keep].join(".");
    if !written.is_empty() {
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(written);
    }
    Rc::from(name)
}
