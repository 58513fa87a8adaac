//! The lookup of dotted paths in the sources of packages (`Sources`). Names and all their definitions are read from the
//! scopes; the linker evaluates expressions and types.

use std::cell::RefCell;
use std::rc::Rc;

use blocklint_facts::{
    Assign, AssignKind, At, BodyId, BodyKind, ClassId, DisplayKind, FileFacts, Form, FormId, Import, ImportKind,
    SiteKind, VarId,
};
use blocklint_link::linker::{Linker, Typed};
use blocklint_link::models::library::Library;
use blocklint_link::program::Program;
use blocklint_link::program::ids::{ClassRef, FileId};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::Models;
use rustc_hash::FxHashSet;

use super::builtins::{builtin_type, has_member, is_builtin};
use super::entity::{Base, Entity, Function, Value};
use super::package::{Package, absolute_module};

/// The maximal depth of nested lookups, for packages whose names refer to each other in long chains.
const MAX_DEPTH: usize = 400;

/// The maximal number of classes in a method resolution order.
const MAX_BASES: usize = 200;

/// Prefixes of the paths of bases without members of their own, which only matter to type checkers.
const TYPING_BASES: [&str; 8] =
    ["typing.", "typing_extensions.", "abc.", "_typeshed.", "Generic", "Protocol", "ABC", "NamedTuple"];

/// The packages of a library, linked as one program.
pub(crate) struct Sources<'a> {
    package: &'a Package,
    pub(super) program: &'a Program<'a>,
    pub(super) linker: Linker<'a>,
    /// The lookups that are running, to detect recursion.
    active: RefCell<FxHashSet<(Entity, Rc<str>)>>,
}

impl<'a> Sources<'a> {
    /// Returns the program of a package, linked without models.
    pub(crate) fn new(package: &'a Package, program: &'a Program<'a>, no_models: &'a Models) -> Self {
        let linker = Linker::new(program, Library::new(no_models));
        Sources { package, program, linker, active: RefCell::default() }
    }

    /// Returns the module of a dotted name, if there is one.
    pub(super) fn module(&self, name: &str) -> Option<FileId> {
        let path = name.replace('.', "/");
        let find_file = |ending: &str| self.program.file_at(&format!("{path}{ending}"));
        find_file("/__init__.py").or_else(|| find_file(".py"))
    }

    /// Returns the dotted name of a module; the flag is true if the module is a package.
    fn module_name(&self, file: FileId) -> (String, bool) {
        let relative = &self.program.files[file.index()].relative;
        let package = relative.strip_suffix("/__init__.py");
        let name = package.or_else(|| relative.strip_suffix(".py")).unwrap_or(relative);
        (name.replace('/', "."), package.is_some())
    }

    /// True if the module has a compiled file next to its sources.
    pub(super) fn is_compiled(&self, module: FileId) -> bool {
        self.package.compiled.contains(&self.program.files[module.index()].relative)
    }

    /// Returns all definitions and values that a dotted path can refer to; empty if the path does not exist.
    pub(crate) fn resolve(&self, path: &str) -> Vec<Entity> {
        if let Some((head, name)) = path.rsplit_once('.')
            && let Some(parent) = self.module(head)
        {
            // A function can have the name of the module that contains it.
            let mut entities = self.member(&Entity::Module(parent), name);
            entities.retain(|entity| !matches!(entity, Entity::Module(_) | Entity::Outside(_)));
            if !entities.is_empty() {
                return entities;
            }
        }
        let mut end = Some(path.len());
        while let Some(index) = end {
            let (head, rest) = (&path[..index], path.get(index + 1..));
            end = head.rfind('.');
            let Some(module) = self.module(head) else { continue };
            let mut entities = vec![Entity::Module(module)];
            for name in rest.into_iter().flat_map(|rest| rest.split('.')) {
                entities = entities.iter().flat_map(|entity| self.member(entity, name)).collect();
            }
            if !entities.is_empty() {
                return entities;
            }
        }
        Vec::new()
    }

    /// Returns all definitions and values that a member of an entity can refer to.
    pub(super) fn member(&self, entity: &Entity, name: &str) -> Vec<Entity> {
        let owner = match entity {
            Entity::Instance(class) => Entity::Class(*class),
            _ => entity.clone(),
        };
        let key = (owner, Rc::from(name));
        if self.active.borrow().len() >= MAX_DEPTH || !self.active.borrow_mut().insert(key.clone()) {
            return Vec::new();
        }
        let entities = self.find_member(entity, name);
        self.active.borrow_mut().remove(&key);
        entities
    }

    fn find_member(&self, entity: &Entity, name: &str) -> Vec<Entity> {
        match entity {
            Entity::Module(module) => self.module_member(*module, name),
            Entity::Instance(class) | Entity::Class(class) => self.class_member(*class, name),
            Entity::Value(value) => {
                self.entities_of_variable(value).iter().flat_map(|entity| self.member(entity, name)).collect()
            }
            Entity::Function(function) if self.is_property(function) => {
                self.returned_entities(function).iter().flat_map(|entity| self.member(entity, name)).collect()
            }
            Entity::Function(_) => Vec::new(),
            Entity::Outside(path) => vec![Entity::outside(format!("{path}.{name}"))],
        }
    }

    fn module_member(&self, module: FileId, name: &str) -> Vec<Entity> {
        let mut entities = self.bindings(module, BodyId(0), None, name);
        if !entities.iter().any(Entity::is_definition) {
            for source in self.star_imports(module) {
                entities.extend(self.member(&Entity::Module(source), name));
            }
        }
        if entities.is_empty() {
            entities.extend(self.module(&format!("{}.{name}", self.module_name(module).0)).map(Entity::Module));
        }
        entities
    }

    /// Returns the modules from which a module imports all names (`from a import *`).
    fn star_imports(&self, module: FileId) -> Vec<FileId> {
        let (name, is_package) = self.module_name(module);
        let facts = self.program.facts(module);
        let stars = facts.imports.iter().filter(|import| import.kind == ImportKind::Star);
        let sources = stars.map(|import| absolute_module(&name, is_package, import.level, facts.text(import.module)));
        sources.filter_map(|source| self.module(&source)).filter(|source| *source != module).collect()
    }

    fn class_member(&self, class: ClassRef, name: &str) -> Vec<Entity> {
        let order = self.mro(class);
        for base in &order {
            match base {
                Base::Class(base) => {
                    let entities = self.own_members(*base, name);
                    if entities.is_empty() {
                        continue;
                    }
                    let bound = |entity| match entity {
                        Entity::Function(f) => Entity::Function(Function { owner: f.owner.or(Some(class)), ..f }),
                        other => other,
                    };
                    return entities.into_iter().map(bound).collect();
                }
                Base::Builtin(ty) if builtin_type(ty).is_some_and(|known| has_member(known, name)) => {
                    return vec![Entity::outside(format!("builtins.{ty}.{name}"))];
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

    /// Returns all definitions and values of a name that a class has without its bases: in its body, in `__slots__`, on
    /// the receiver of its methods, or by an assignment to the class in its module.
    fn own_members(&self, class: ClassRef, text: &str) -> Vec<Entity> {
        let Some(name) = self.program.name(text) else { return Vec::new() };
        let (file, facts, row) = (class.file, self.program.facts(class.file), self.program.class(class));
        let mut entities = self.bindings(file, row.body, Some(class), text);
        let mut rows: Vec<Assign> = self.linker.own_assigns(class, name).iter().map(|&id| facts.assign(id)).collect();
        if let (Some(sym), true) = (self.program.local(file, name), row.var.is_some()) {
            let all = self.program.index_of(file).attr_assigns(sym).iter().map(|&(assign, _)| facts.assign(assign));
            rows.extend(all.filter(
                |set| matches!(facts.form(set.target), Form::Attr(base, _) if facts.form(base) == Form::Var(row.var)),
            ));
        }
        rows.retain(|set| set.kind != AssignKind::Augmented);
        entities.extend(rows.iter().map(|set| value_entity(file, Some(class), set)));
        if entities.is_empty() && self.slots(class).contains(&text) {
            let (expression, annotation) = (FormId::NONE, FormId::NONE);
            entities.push(Entity::Value(Value { file, owner: Some(class), expression, annotation }));
        }
        entities
    }

    /// Returns the names that a class lists in `__slots__`.
    fn slots(&self, class: ClassRef) -> Vec<&'a str> {
        let facts = self.program.facts(class.file);
        let var = self.program.name("__slots__").and_then(|name| self.linker.own_member(class, name));
        let rows = var.into_iter().flat_map(|(_, var)| facts.assigns_of(var));
        let lists = rows.filter_map(|row| match facts.form(row.value) {
            Form::Display(DisplayKind::Tuple | DisplayKind::List, list) => Some(facts.list(list)),
            _ => None,
        });
        lists.flatten().filter_map(|&item| text_of(facts, item)).collect()
    }

    /// Returns all definitions and values that the body of a module or class binds to a name.
    fn bindings(&self, file: FileId, body: BodyId, owner: Option<ClassRef>, name: &str) -> Vec<Entity> {
        let var = self.program.name(name).and_then(|name| self.program.scope_var(file, body, name));
        var.map_or_else(Vec::new, |var| self.bindings_of_var(file, var, owner))
    }

    fn bindings_of_var(&self, file: FileId, var: VarId, owner: Option<ClassRef>) -> Vec<Entity> {
        let facts = self.program.facts(file);
        let mut entities = Vec::new();
        for row in facts.assigns_of(var) {
            let bound = match (row.kind, facts.form(row.value)) {
                (AssignKind::Definition, _) => {
                    let definition = definition(facts, file, row.value, owner);
                    vec![definition.unwrap_or_else(|| value_entity(file, owner, &row))]
                }
                (AssignKind::Import, Form::Import(import)) => self.imported_entities(file, facts.import(import)),
                (AssignKind::Import, _) => Vec::new(),
                // A variable that is another name of a definition is that definition.
                (_, Form::Var(_) | Form::Name(_) | Form::Attr(..)) => {
                    let known = self.evaluate(row.value, file, owner);
                    if known.iter().any(Entity::is_definition) { known } else { vec![value_entity(file, owner, &row)] }
                }
                _ => vec![value_entity(file, owner, &row)],
            };
            entities.extend(bound);
        }
        entities
    }

    /// Returns the module or the members that an import binds.
    fn imported_entities(&self, file: FileId, import: Import) -> Vec<Entity> {
        let facts = self.program.facts(file);
        let (module, is_package) = self.module_name(file);
        let mut source = absolute_module(&module, is_package, import.level, facts.text(import.module));
        if import.kind == ImportKind::Head {
            source.truncate(source.find('.').unwrap_or(source.len()));
        }
        match (self.module(&source), import.kind) {
            (Some(module), ImportKind::Name) => self.member(&Entity::Module(module), facts.text(import.name)),
            (None, ImportKind::Name) => vec![Entity::outside(format!("{source}.{}", facts.text(import.name)))],
            (Some(module), _) => vec![Entity::Module(module)],
            (None, _) => vec![Entity::outside(source)],
        }
    }

    /// Returns all definitions and values that an expression can have. Names are looked up with all their definitions;
    /// the linker evaluates other expressions.
    pub(super) fn evaluate(&self, form: FormId, file: FileId, owner: Option<ClassRef>) -> Vec<Entity> {
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Var(var) if matches!(facts.body(facts.var(var).body).kind, BodyKind::Module | BodyKind::Class) => {
                let text = facts.text(facts.var(var).name);
                match owner.filter(|class| facts.var(var).body == self.program.class(*class).body) {
                    Some(class) => self.member(&Entity::Class(class), text),
                    None if facts.var(var).body == BodyId(0) => self.member(&Entity::Module(file), text),
                    None => self.bindings_of_var(file, var, None),
                }
            }
            Form::Name(name) => {
                let entities = self.member(&Entity::Module(file), facts.text(name));
                let is_known = !entities.is_empty() || !is_builtin(facts.text(name));
                if is_known { entities } else { vec![Entity::outside(format!("builtins.{}", facts.text(name)))] }
            }
            Form::Attr(base, name) => {
                let is_receiver = matches!(facts.form(base), Form::Var(var) if matches!(facts.text(facts.var(var).name), "self" | "cls"));
                let objects = match owner {
                    Some(owner) if is_receiver => vec![Entity::Class(owner)],
                    _ => self.evaluate(base, file, owner),
                };
                objects.iter().flat_map(|object| self.member(object, facts.text(name))).collect()
            }
            _ => self.entities_of_value(self.linker.eval(scope(file), form)),
        }
    }

    /// Returns the entities of a value of the linker, with all definitions of its classes.
    fn entities_of_value(&self, typed: Typed) -> Vec<Entity> {
        let mut entities = Vec::new();
        for val in self.linker.values.members(typed.value) {
            match val {
                Val::Class(class) => entities.extend(self.definitions(class).into_iter().map(Entity::Class)),
                Val::Instance { class, .. } => {
                    entities.extend(self.definitions(class).into_iter().map(Entity::Instance))
                }
                Val::Fn { body, .. } => {
                    let owner = self.program.body(body).class.get().map(|class| body.file.class_ref(class));
                    entities.push(Entity::Function(Function { body, owner }));
                }
                Val::Module(file) => entities.push(Entity::Module(file)),
                Val::External(path) | Val::Library { ty: path, .. } | Val::Method { path, .. } => {
                    entities.push(Entity::Outside(self.linker.library.text(path)));
                }
                _ => {}
            }
        }
        entities
    }

    /// Returns all definitions of a class's name, because the source and the stub of a module can each define it.
    fn definitions(&self, class: ClassRef) -> Vec<ClassRef> {
        let facts = self.program.facts(class.file);
        let var = self.program.class(class).var;
        let rows = facts.assigns_of(var).filter(|_| var.is_some());
        let classes = rows.filter_map(|row| match definition(facts, class.file, row.value, None) {
            Some(Entity::Class(class)) => Some(class),
            _ => None,
        });
        std::iter::once(class).chain(classes.filter(|other| *other != class)).collect()
    }

    /// Returns the entities that a variable can hold, by its annotation or its assigned value.
    pub(super) fn entities_of_variable(&self, value: &Value) -> Vec<Entity> {
        let mut entities = Vec::new();
        if value.annotation.is_some() {
            entities = self.entities_of_value(self.linker.annotation(scope(value.file), value.annotation));
        }
        if entities.is_empty() && value.expression.is_some() {
            entities = self.evaluate(value.expression, value.file, value.owner);
        }
        entities.retain(|entity| *entity != Entity::Value(*value));
        entities
    }

    /// Returns the entities of a function's declared result type.
    pub(super) fn returned_entities(&self, function: &Function) -> Vec<Entity> {
        let returns = self.program.body(function.body).returns;
        if returns.is_none() {
            return Vec::new();
        }
        self.entities_of_value(self.linker.annotation(scope(function.body.file), returns))
    }

    /// Returns a class and its bases, nearest first. The method resolution order of the linker is not used, because it
    /// is that of the decorated class.
    pub(super) fn mro(&self, class: ClassRef) -> Vec<Base> {
        let mut order: Vec<Base> = Vec::new();
        let mut waiting = vec![Base::Class(class)];
        while let Some(next) = waiting.pop() {
            if order.contains(&next) || order.len() >= MAX_BASES {
                continue;
            }
            if let Base::Class(class) = next {
                waiting.extend(self.bases(class).into_iter().rev());
            }
            order.push(next);
        }
        order
    }

    fn bases(&self, class: ClassRef) -> Vec<Base> {
        let (file, facts, row) = (class.file, self.program.facts(class.file), self.program.class(class));
        let outer = facts.classes.iter().position(|other| row.parent.is_some() && other.body == row.parent);
        let outer = outer.map(|index| file.class_ref(ClassId(index as u32)));
        let mut bases = Vec::new();
        for &node in facts.list(row.bases) {
            // The arguments of `with_metaclass(Meta, Base)` and the like are bases.
            let arguments = match facts.form(node) {
                Form::Result(site) => facts.args_of(site).iter().map(|arg| arg.value).collect(),
                _ => Vec::new(),
            };
            let base = match facts.form(node) {
                Form::Subscript(base, _) => base,
                _ => node,
            };
            let entities = arguments.into_iter().chain([base]).flat_map(|form| self.evaluate(form, file, outer));
            let values = entities.flat_map(|entity| match entity {
                Entity::Value(value) => self.entities_of_variable(&value),
                entity => vec![entity],
            });
            let before = bases.len();
            bases.extend(values.filter_map(|entity| match entity {
                Entity::Class(base) | Entity::Instance(base) if base != class => Some(Base::Class(base)),
                Entity::Outside(path) => {
                    let known = builtin_type(path.strip_prefix("builtins.").unwrap_or(&path));
                    Some(known.map_or(Base::Outside(path), |known| Base::Builtin(known.name)))
                }
                _ => None,
            }));
            if bases.len() == before {
                bases.push(Base::Outside(self.text(file, node).into()));
            }
        }
        let is_typing_base = |path: &str| TYPING_BASES.iter().any(|prefix| path.starts_with(prefix));
        bases.retain(|base| !matches!(base, Base::Outside(path) if is_typing_base(path)));
        bases
    }

    /// Returns the members of a module or class without a leading underscore, including inherited ones, sorted by name.
    pub(super) fn public_members(&self, entity: &Entity) -> Vec<(String, Vec<Entity>)> {
        let mut names = Vec::new();
        self.add_public_names(entity, &mut names, 0);
        names.sort();
        names.dedup();
        names.retain(|name| !name.starts_with('_'));
        let with_members = names.into_iter().map(|name| (name.to_owned(), self.member(entity, name)));
        with_members.filter(|(_, members)| !members.is_empty()).collect()
    }

    fn add_public_names(&self, entity: &Entity, names: &mut Vec<&'a str>, depth: u32) {
        let names_in_body = |file: FileId, body: BodyId| {
            let facts = self.program.facts(file);
            facts.vars_of(body).map(|var| facts.text(facts.var(var).name))
        };
        match *entity {
            Entity::Module(module) if depth < 32 => {
                names.extend(names_in_body(module, BodyId(0)));
                for source in self.star_imports(module) {
                    self.add_public_names(&Entity::Module(source), names, depth + 1);
                }
            }
            Entity::Instance(class) | Entity::Class(class) => {
                for base in self.mro(class) {
                    let Base::Class(base) = base else { continue };
                    let facts = self.program.facts(base.file);
                    names.extend(names_in_body(base.file, self.program.class(base).body));
                    names.extend(self.slots(base));
                    let set = facts.assigns.iter().filter_map(|row| match facts.form(row.target) {
                        Form::Attr(_, name) => Some(facts.text(name)),
                        _ => None,
                    });
                    names.extend(set);
                }
            }
            _ => {}
        }
    }
}

/// Returns a scope of a file without a position in the order of evaluation.
fn scope(file: FileId) -> Scope {
    Scope { file, at: At::default(), env: EnvId::NONE }
}

fn value_entity(file: FileId, owner: Option<ClassRef>, row: &Assign) -> Entity {
    Entity::Value(Value { file, owner, expression: row.value, annotation: row.annotation })
}

fn text_of(facts: &FileFacts, form: FormId) -> Option<&str> {
    match facts.form(form) {
        Form::Str(text) => Some(facts.text(text)),
        _ => None,
    }
}

/// Returns the function or class of a definition, without its decorators.
fn definition(facts: &FileFacts, file: FileId, mut form: FormId, owner: Option<ClassRef>) -> Option<Entity> {
    for _ in 0..64 {
        match facts.form(form) {
            Form::Callable(body) if facts.body(body).kind == BodyKind::Function => {
                return Some(Entity::Function(Function { body: file.body_ref(body), owner }));
            }
            Form::Class(class) => return Some(Entity::Class(file.class_ref(class))),
            Form::Result(site) if facts.site(site).kind == SiteKind::Decorate => {
                form = facts.args_of(site).first()?.value;
            }
            _ => return None,
        }
    }
    None
}
