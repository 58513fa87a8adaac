//! The definitions and values to which names of packages lead. The linker evaluates expressions and types; that a name exists, and
//! each of its alternatives, is read off the scopes.

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
use super::package::{Package, absolute};

/// Lookups that wait for each other; a package whose names lead on and on ends here.
const DEEPEST: usize = 400;

/// Bases of one class that are looked at.
const MOST_BASES: usize = 200;

/// How paths of bases begin that say something about types only.
const PLAIN: [&str; 8] =
    ["typing.", "typing_extensions.", "abc.", "_typeshed.", "Generic", "Protocol", "ABC", "NamedTuple"];

/// Packages as one program, and what was asked of it.
pub(crate) struct Sources<'a> {
    package: &'a Package,
    pub(super) program: &'a Program<'a>,
    pub(super) linker: Linker<'a>,
    /// The lookups that are running, to meet recursion.
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
        let at = |ending: &str| self.program.file_at(&format!("{path}{ending}"));
        at("/__init__.py").or_else(|| at(".py"))
    }

    /// Returns the dotted name of a module, and whether it is a package.
    fn name_of(&self, file: FileId) -> (String, bool) {
        let relative = &self.program.files[file.index()].relative;
        let package = relative.strip_suffix("/__init__.py");
        let name = package.or_else(|| relative.strip_suffix(".py")).unwrap_or(relative);
        (name.replace('/', "."), package.is_some())
    }

    /// True if the interpreter's own format of a module lies beside.
    pub(super) fn is_compiled(&self, module: FileId) -> bool {
        self.package.compiled.contains(&self.program.files[module.index()].relative)
    }

    /// Returns everything that a dotted path may be; nothing if it does not exist.
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

    /// Returns everything that a name of an entity may be.
    pub(super) fn member(&self, entity: &Entity, name: &str) -> Vec<Entity> {
        let of = match entity {
            Entity::Instance(class) => Entity::Class(*class),
            _ => entity.clone(),
        };
        let key = (of, Rc::from(name));
        if self.active.borrow().len() >= DEEPEST || !self.active.borrow_mut().insert(key.clone()) {
            return Vec::new();
        }
        let found = self.find_member(entity, name);
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

    fn module_member(&self, module: FileId, name: &str) -> Vec<Entity> {
        let mut found = self.bindings(module, BodyId(0), None, name);
        if !found.iter().any(Entity::is_definition) {
            for source in self.stars(module) {
                found.extend(self.member(&Entity::Module(source), name));
            }
        }
        if found.is_empty() {
            found.extend(self.module(&format!("{}.{name}", self.name_of(module).0)).map(Entity::Module));
        }
        found
    }

    /// Returns the modules whose names are all names of a module.
    fn stars(&self, module: FileId) -> Vec<FileId> {
        let (name, is_package) = self.name_of(module);
        let facts = self.program.facts(module);
        let stars = facts.imports.iter().filter(|import| import.kind == ImportKind::Star);
        let sources = stars.map(|import| absolute(&name, is_package, import.level, facts.text(import.module)));
        sources.filter_map(|source| self.module(&source)).filter(|source| *source != module).collect()
    }

    fn class_member(&self, class: ClassRef, name: &str) -> Vec<Entity> {
        let order = self.mro(class);
        for base in &order {
            match base {
                Base::Class(base) => {
                    let found = self.own_members(*base, name);
                    if found.is_empty() {
                        continue;
                    }
                    let bound = |entity| match entity {
                        Entity::Function(f) => Entity::Function(Function { owner: f.owner.or(Some(class)), ..f }),
                        other => other,
                    };
                    return found.into_iter().map(bound).collect();
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

    /// Returns what a class itself binds a name to: in its body, in `__slots__`, on the receiver of its methods, or below it in its
    /// module.
    fn own_members(&self, class: ClassRef, text: &str) -> Vec<Entity> {
        let Some(name) = self.program.name(text) else { return Vec::new() };
        let (file, facts, row) = (class.file, self.program.facts(class.file), self.program.class(class));
        let mut found = self.bindings(file, row.body, Some(class), text);
        let mut rows: Vec<Assign> = self.linker.own_assigns(class, name).iter().map(|&at| facts.assign(at)).collect();
        if let (Some(sym), true) = (self.program.local(file, name), row.var.is_some()) {
            let all = self.program.index_of(file).attr_assigns(sym).iter().map(|&(assign, _)| facts.assign(assign));
            rows.extend(all.filter(
                |set| matches!(facts.form(set.target), Form::Attr(base, _) if facts.form(base) == Form::Var(row.var)),
            ));
        }
        rows.retain(|set| set.kind != AssignKind::Augmented);
        found.extend(rows.iter().map(|set| value(file, Some(class), set)));
        if found.is_empty() && self.slots(class).contains(&text) {
            let (expression, annotation) = (FormId::NONE, FormId::NONE);
            found.push(Entity::Value(Value { file, owner: Some(class), expression, annotation }));
        }
        found
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

    /// Returns everything that the body of a module or class binds a name to.
    fn bindings(&self, file: FileId, body: BodyId, owner: Option<ClassRef>, name: &str) -> Vec<Entity> {
        let var = self.program.name(name).and_then(|name| self.program.scope_var(file, body, name));
        var.map_or_else(Vec::new, |var| self.bound(file, var, owner))
    }

    fn bound(&self, file: FileId, var: VarId, owner: Option<ClassRef>) -> Vec<Entity> {
        let facts = self.program.facts(file);
        let mut found = Vec::new();
        for row in facts.assigns_of(var) {
            let given = match (row.kind, facts.form(row.value)) {
                (AssignKind::Definition, _) => {
                    vec![definition(facts, file, row.value, owner).unwrap_or_else(|| value(file, owner, &row))]
                }
                (AssignKind::Import, Form::Import(import)) => self.imported(file, facts.import(import)),
                (AssignKind::Import, _) => Vec::new(),
                // A second name of a definition is that definition.
                (_, Form::Var(_) | Form::Name(_) | Form::Attr(..)) => {
                    let known = self.evaluate(row.value, file, owner);
                    if known.iter().any(Entity::is_definition) { known } else { vec![value(file, owner, &row)] }
                }
                _ => vec![value(file, owner, &row)],
            };
            found.extend(given);
        }
        found
    }

    /// Returns what an import binds.
    fn imported(&self, file: FileId, import: Import) -> Vec<Entity> {
        let facts = self.program.facts(file);
        let (module, is_package) = self.name_of(file);
        let mut source = absolute(&module, is_package, import.level, facts.text(import.module));
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

    /// Returns everything that an expression may be. Names are looked up, with each of their alternatives; the linker knows the rest.
    pub(super) fn evaluate(&self, form: FormId, file: FileId, owner: Option<ClassRef>) -> Vec<Entity> {
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Var(var) if matches!(facts.body(facts.var(var).body).kind, BodyKind::Module | BodyKind::Class) => {
                let text = facts.text(facts.var(var).name);
                match owner.filter(|class| facts.var(var).body == self.program.class(*class).body) {
                    Some(class) => self.member(&Entity::Class(class), text),
                    None if facts.var(var).body == BodyId(0) => self.member(&Entity::Module(file), text),
                    None => self.bound(file, var, None),
                }
            }
            Form::Name(name) => {
                let found = self.member(&Entity::Module(file), facts.text(name));
                let is_known = !found.is_empty() || !is_builtin(facts.text(name));
                if is_known { found } else { vec![Entity::outside(format!("builtins.{}", facts.text(name)))] }
            }
            Form::Attr(base, name) => {
                let is_receiver = matches!(facts.form(base), Form::Var(var) if matches!(facts.text(facts.var(var).name), "self" | "cls"));
                let of = match owner {
                    Some(owner) if is_receiver => vec![Entity::Class(owner)],
                    _ => self.evaluate(base, file, owner),
                };
                of.iter().flat_map(|of| self.member(of, facts.text(name))).collect()
            }
            _ => self.entities(self.linker.eval(scope(file), form)),
        }
    }

    /// Returns the members of a value of the linker that stand in files, with each definition of their names.
    fn entities(&self, typed: Typed) -> Vec<Entity> {
        let mut found = Vec::new();
        for val in self.linker.values.members(typed.value) {
            match val {
                Val::Class(class) => found.extend(self.definitions(class).into_iter().map(Entity::Class)),
                Val::Instance { class, .. } => found.extend(self.definitions(class).into_iter().map(Entity::Instance)),
                Val::Fn { body, .. } => {
                    let owner = self.program.body(body).class.get().map(|class| body.file.class_ref(class));
                    found.push(Entity::Function(Function { body, owner }));
                }
                Val::Module(file) => found.push(Entity::Module(file)),
                Val::External(path) | Val::Library { ty: path, .. } | Val::Method { path, .. } => {
                    found.push(Entity::Outside(self.linker.library.text(path)));
                }
                _ => {}
            }
        }
        found
    }

    /// Returns the classes of a class's name: a module's source and its stub may each define it.
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

    /// Returns what a variable may hold.
    pub(super) fn value_of(&self, value: &Value) -> Vec<Entity> {
        let mut found = Vec::new();
        if value.annotation.is_some() {
            found = self.entities(self.linker.annotation(scope(value.file), value.annotation));
        }
        if found.is_empty() && value.expression.is_some() {
            found = self.evaluate(value.expression, value.file, value.owner);
        }
        found.retain(|entity| *entity != Entity::Value(*value));
        found
    }

    /// Returns the objects that a function says it returns.
    pub(super) fn returned(&self, function: &Function) -> Vec<Entity> {
        let returns = self.program.body(function.body).returns;
        if returns.is_none() {
            return Vec::new();
        }
        self.entities(self.linker.annotation(scope(function.body.file), returns))
    }

    /// Returns a class and all it derives from, nearest first. The linker's order is not asked: to it a class is what its decorators
    /// make of it.
    pub(super) fn mro(&self, class: ClassRef) -> Vec<Base> {
        let mut order: Vec<Base> = Vec::new();
        let mut waiting = vec![Base::Class(class)];
        while let Some(next) = waiting.pop() {
            if order.contains(&next) || order.len() >= MOST_BASES {
                continue;
            }
            if let Base::Class(of) = next {
                waiting.extend(self.bases(of).into_iter().rev());
            }
            order.push(next);
        }
        order
    }

    fn bases(&self, class: ClassRef) -> Vec<Base> {
        let (file, facts, row) = (class.file, self.program.facts(class.file), self.program.class(class));
        let outer = facts.classes.iter().position(|other| row.parent.is_some() && other.body == row.parent);
        let outer = outer.map(|at| file.class_ref(ClassId(at as u32)));
        let mut found = Vec::new();
        for &node in facts.list(row.bases) {
            // `with_metaclass(Meta, Base)` and the like.
            let given = match facts.form(node) {
                Form::Result(site) => facts.args_of(site).iter().map(|arg| arg.value).collect(),
                _ => Vec::new(),
            };
            let base = match facts.form(node) {
                Form::Subscript(base, _) => base,
                _ => node,
            };
            let entities = given.into_iter().chain([base]).flat_map(|form| self.evaluate(form, file, outer));
            let values = entities.flat_map(|entity| match entity {
                Entity::Value(value) => self.value_of(&value),
                entity => vec![entity],
            });
            let before = found.len();
            found.extend(values.filter_map(|entity| match entity {
                Entity::Class(base) | Entity::Instance(base) if base != class => Some(Base::Class(base)),
                Entity::Outside(path) => {
                    let known = builtin_type(path.strip_prefix("builtins.").unwrap_or(&path));
                    Some(known.map_or(Base::Outside(path), |known| Base::Builtin(known.name)))
                }
                _ => None,
            }));
            if found.len() == before {
                found.push(Base::Outside(self.text(file, node).into()));
            }
        }
        let is_plain = |path: &str| PLAIN.iter().any(|plain| path.starts_with(plain));
        found.retain(|base| !matches!(base, Base::Outside(path) if is_plain(path)));
        found
    }

    /// Returns everything without a leading underscore that a glob may mean, inherited names included, sorted.
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
        let of_body = |file: FileId, body: BodyId| {
            let facts = self.program.facts(file);
            facts.vars_of(body).map(|var| facts.text(facts.var(var).name))
        };
        match *entity {
            Entity::Module(module) if depth < 32 => {
                names.extend(of_body(module, BodyId(0)));
                for source in self.stars(module) {
                    self.add_public_names(&Entity::Module(source), names, depth + 1);
                }
            }
            Entity::Instance(class) | Entity::Class(class) => {
                for base in self.mro(class) {
                    let Base::Class(base) = base else { continue };
                    let facts = self.program.facts(base.file);
                    names.extend(of_body(base.file, self.program.class(base).body));
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

/// Returns a place in a file where order does not matter.
fn scope(file: FileId) -> Scope {
    Scope { file, at: At::default(), env: EnvId::NONE }
}

fn value(file: FileId, owner: Option<ClassRef>, row: &Assign) -> Entity {
    Entity::Value(Value { file, owner, expression: row.value, annotation: row.annotation })
}

fn text_of(facts: &FileFacts, form: FormId) -> Option<&str> {
    match facts.form(form) {
        Form::Str(text) => Some(facts.text(text)),
        _ => None,
    }
}

/// Returns the function or class that a definition makes, whatever decorates it.
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
