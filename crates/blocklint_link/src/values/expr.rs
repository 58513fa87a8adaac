//! What a form may be: the value of an expression at its place.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{
    AltKind, Assign, AssignId, AssignKind, At, BodyKind, DisplayKind, Form, FormId, RegionId, Sym, VarId, VarKind,
};
use smallvec::SmallVec;

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, PathId};
use crate::values::narrowing::AssignReach;
use crate::values::value::{ArgsId, BoundId, EnvId, Val, ValueId, Why};

/// A place in a file and the binding under which its body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The file.
    pub file: FileId,
    /// The place of the use; [`At::default`] where order does not matter.
    pub at: At,
    /// What captured parameters are.
    pub env: EnvId,
}

impl<'a> Linker<'a> {
    /// The value of a form.
    pub fn eval(&self, scope: Scope, form: FormId) -> Typed {
        self.eval_within(scope, form, 24)
    }

    fn eval_within(&self, scope: Scope, id: FormId, depth: u32) -> Typed {
        let Some(depth) = depth.checked_sub(1) else { return self.unknown(Why::Bound) };
        let facts = self.program.facts(scope.file);
        match facts.form(id) {
            Form::Other | Form::Ellipsis | Form::Not(_) | Form::Compare(..) => self.unknown(Why::Expression),
            Form::None => self.known(Val::None),
            Form::Bool(_) => self.literal(scope.file, lang::Literal::Bool),
            Form::Int(_) => self.literal(scope.file, lang::Literal::Int),
            Form::Float(_) => self.literal(scope.file, lang::Literal::Float),
            Form::Str(_) | Form::Text(_) => self.literal(scope.file, lang::Literal::Str),
            Form::Bytes(_) => self.literal(scope.file, lang::Literal::Bytes),
            Form::Var(var) => self.drop_same_named_methods(scope.file, facts.var(var).name, self.var(scope, var)),
            Form::Name(sym) => self.free_name(scope, sym),
            Form::This => match self.class_around(scope.file.body_ref(self.body_at(scope))) {
                Some(class) => self.known(Val::Instance { class, exact: false, args: ArgsId::NONE }),
                None => self.unknown(Why::Unbound),
            },
            Form::Attr(base, sym) => {
                let base = self.without_none(self.eval_within(scope, base, depth));
                match self.program.global(scope.file, sym) {
                    Some(name) => {
                        let read = self.map(base, |member| self.attr_or_class(scope.file, member, name));
                        self.drop_same_named_methods(scope.file, sym, read)
                    }
                    None => self.unknown(Why::Attribute),
                }
            }
            Form::Path(base, sym) => {
                let base = self.eval_within(scope, base, depth);
                match self.program.global(scope.file, sym) {
                    Some(name) => self.map(base, |member| self.path_member(member, name, facts.language)),
                    None => self.unknown(Why::Attribute),
                }
            }
            Form::Result(site) => self.result(scope.file.site_ref(site), scope.env),
            Form::Await(inner) => {
                let inner = self.eval_within(scope, inner, depth);
                self.map(inner, |member| self.awaited(member))
            }
            Form::Try(inner) => {
                let inner = self.eval_within(scope, inner, depth);
                self.map(inner, |member| self.success(member))
            }
            Form::Callable(body) => {
                let body = scope.file.body_ref(body);
                self.known(Val::Fn { body, receiver: BoundId::NONE, env: scope.env })
            }
            Form::Run(body) => {
                let kind = facts.body(body).kind;
                let body = scope.file.body_ref(body);
                self.known(match kind {
                    BodyKind::AsyncBlock => Val::Coroutine { body, env: scope.env },
                    _ => Val::Iter { body, env: scope.env },
                })
            }
            Form::Class(class) => self.known(Val::Class(scope.file.class_ref(class))),
            Form::Import(import) => self.import(scope.file, import),
            Form::Element(inner) => {
                let inner = self.without_none(self.eval_within(scope, inner, depth));
                self.map(inner, |member| self.element(member))
            }
            Form::Part(inner, index) => {
                let inner = self.eval_within(scope, inner, depth);
                self.map(inner, |member| self.part(member, index))
            }
            Form::Field(inner, sym) => {
                let inner = self.eval_within(scope, inner, depth);
                match self.program.global(scope.file, sym) {
                    Some(name) => self.map(inner, |member| self.payload(member, name)),
                    None => self.unknown(Why::Attribute),
                }
            }
            Form::Display(kind, list) => {
                let parts: Vec<Typed> = facts
                    .list(list)
                    .iter()
                    .take(MOST_WRITTEN_OUT)
                    .map(|&part| self.eval_within(scope, part, depth))
                    .collect();
                if kind == DisplayKind::Tuple {
                    let steps = parts.iter().map(|part| part.inferred_steps).max().unwrap_or(0);
                    let parts: Vec<_> = parts.iter().map(|part| part.value).collect();
                    let value = self.values.one(Val::Tuple(self.values.args(&parts)));
                    return Typed { value, inferred_steps: steps };
                }
                let word = if kind == DisplayKind::Set { lang::Literal::Set } else { lang::Literal::List };
                self.collection(scope.file, word, &parts)
            }
            Form::Pairs(list) => {
                let rows = facts.list(list);
                let keys: Vec<Typed> = rows
                    .iter()
                    .step_by(2)
                    .filter(|key| key.is_some())
                    .take(MOST_WRITTEN_OUT)
                    .map(|&key| self.eval_within(scope, key, depth))
                    .collect();
                let parts: Vec<Typed> = rows
                    .iter()
                    .skip(1)
                    .step_by(2)
                    .take(MOST_WRITTEN_OUT)
                    .map(|&part| self.eval_within(scope, part, depth))
                    .collect();
                let Some(ty) = lang::literal_type(self.program.language(scope.file), lang::Literal::Dict) else {
                    return self.unknown(Why::Expression);
                };
                let (key, value) = (self.join(&keys), self.join(&parts));
                let args = self.values.args(&[key.value, value.value]);
                let ty = self.library.path(self.program.language(scope.file), ty);
                Typed {
                    value: self.values.one(Val::Library { ty, args, made: None }),
                    inferred_steps: value.inferred_steps,
                }
            }
            Form::Alt(kind, list) => {
                let ends = facts.list(list);
                let ends = match (kind, ends) {
                    (AltKind::Ternary, &[test, _, _]) => match self.kind_test(scope, test) {
                        Some(true) => &ends[1..2],
                        Some(false) => &ends[2..],
                        None => &ends[1..],
                    },
                    (AltKind::Ternary, _) => &ends[1.min(ends.len())..],
                    _ => ends,
                };
                let parts: Vec<Typed> =
                    ends.iter().take(MOST_WRITTEN_OUT).map(|&end| self.eval_within(scope, end, depth)).collect();
                self.join(&parts)
            }
            // A union of classes used as a value: an alias of a type.
            Form::Join(list) => {
                let parts: Vec<Typed> = facts
                    .list(list)
                    .iter()
                    .take(MOST_WRITTEN_OUT)
                    .map(|&part| self.eval_within(scope, part, depth))
                    .collect();
                self.join(&parts)
            }
            Form::Star(inner) | Form::StarStar(inner) => {
                let inner = self.eval_within(scope, inner, depth);
                self.map(inner, |member| self.element(member))
            }
            Form::Subscript(base, index) => {
                if let Some(entry) = self.entry_of_literal(scope, base, index) {
                    return entry;
                }
                let of = self.without_none(self.eval_within(scope, base, depth));
                self.map(of, |member| self.subscript(scope, member, index))
            }
            Form::Cast(value, ty) => {
                let declared = self.annotation(scope, ty);
                match self.values.is_unknown(declared.value) {
                    true => self.eval_within(scope, value, depth),
                    // `(Supplier<String>) () -> load()`
                    false if facts.language == Language::Java => {
                        self.or_callables(declared, || vec![self.eval_within(scope, value, depth)])
                    }
                    false => declared,
                }
            }
            Form::Bound(inner) => self.eval_within(scope, inner, depth),
        }
    }

    /// What a name reads in Java, where a field and the methods of its name share a variable: no method of that name. One of
    /// another name is there by a reference to it: `loader = this::load`.
    fn drop_same_named_methods(&self, file: FileId, read: Sym, typed: Typed) -> Typed {
        let facts = self.program.facts(file);
        if facts.language != Language::Java {
            return typed;
        }
        let is_method = |val: &Val| match *val {
            Val::Fn { body, .. } => {
                let of = self.program.facts(body.file);
                let row = self.program.body(body);
                row.kind == BodyKind::Function && row.class.is_some() && of.text(row.name) == facts.text(read)
            }
            _ => false,
        };
        let members = self.values.members(typed.value);
        if !members.iter().any(is_method) {
            return typed;
        }
        let kept: Vec<Val> = members.iter().copied().filter(|val| !is_method(val)).collect();
        if kept.is_empty() {
            return self.unknown(Why::Attribute);
        }
        let held = Typed { value: self.values.union(&kept), ..typed };
        // The component of a record shares its variable with the method that gives it out.
        let shared = members.iter().find_map(|val| match *val {
            Val::Fn { body, .. } if is_method(val) => {
                let var = self.program.body(body).var;
                var.is_some().then_some(body.file.var_ref(var))
            }
            _ => None,
        });
        match shared {
            Some(field) => {
                let find = || self.or_assigned_callables(field, held);
                let kept = self.query_value(&self.tables.values.components, (field, held.value), find);
                // Of what depends on itself it is what it is declared to be.
                if self.values.is_unknown(kept.value) { held } else { kept }
            }
            None => held,
        }
    }

    /// An attribute of one member of a value, where a file reads it: Java's may be a class behind its package.
    pub(crate) fn attr_or_class(&self, file: FileId, member: Val, name: Name) -> Typed {
        match member {
            Val::External(package) => lang::java::names::class_spelled_out(self, file, package, name)
                .map_or_else(|| self.attr(member, name), |class| self.known(Val::Class(class))),
            _ => self.attr(member, name),
        }
    }

    /// An instance of the type of a literal.
    fn literal(&self, file: FileId, literal: lang::Literal) -> Typed {
        let language = self.program.language(file);
        match lang::literal_type(language, literal) {
            Some(path) => {
                let ty = self.library.path(language, path);
                self.known(Val::Library { ty, args: ArgsId::NONE, made: None })
            }
            None => self.unknown(Why::Expression),
        }
    }

    fn collection(&self, file: FileId, literal: lang::Literal, parts: &[Typed]) -> Typed {
        let language = self.program.language(file);
        let Some(path) = lang::literal_type(language, literal) else { return self.unknown(Why::Expression) };
        let element = self.join(parts);
        let args = if parts.is_empty() { ArgsId::NONE } else { self.values.args(&[element.value]) };
        let ty = self.library.path(language, path);
        Typed { value: self.values.one(Val::Library { ty, args, made: None }), inferred_steps: element.inferred_steps }
    }

    /// The class in whose body a body stands, through nested functions.
    pub fn class_around(&self, body: BodyRef) -> Option<ClassRef> {
        let (facts, mut at) = self.program.facts_and_id(body);
        while let Some(id) = at.get() {
            let row = facts.body(id);
            if let Some(class) = row.class.get() {
                return Some(body.file.class_ref(class));
            }
            at = row.parent;
        }
        None
    }

    /// The value of a variable where it is used: the last assignment before it in its own region chain and what
    /// sibling branches and loop ends add; all assignments, where it is used in another body.
    pub fn var(&self, scope: Scope, id: VarId) -> Typed {
        let reference = scope.file.var_ref(id);
        if let Some(value) = self.values.env_get(scope.env, reference) {
            return Typed { value, inferred_steps: 0 };
        }
        let facts = self.program.facts(scope.file);
        let var = facts.var(id);
        let used_in = facts.regions.get(scope.at.region.index()).map(|region| region.body);
        if used_in != Some(var.body) {
            return self.query_value(&self.tables.values.vars, (reference, scope.env), || self.any_assigned(scope, id));
        }
        let mut parts: SmallVec<[Typed; 4]> = SmallVec::new();
        let mut settled = false;
        let mut empty = true;
        for assign in facts.assign_ids_of(id).rev() {
            empty = false;
            let row = facts.assign(assign);
            if self.is_for_other_kind(scope, row.at.region) {
                continue;
            }
            if row.at.position >= scope.at.position {
                // Later assignments reach back through the end of a loop around both.
                if self.share_loop(scope.file, row.at.region, scope.at.region) {
                    parts.push(self.assigned_or_declared(scope, id, assign));
                }
                continue;
            }
            match self.reaches(scope.file, row.at.region, scope.at.region) {
                AssignReach::No => continue,
                AssignReach::Maybe => parts.push(self.assigned_or_declared(scope, id, assign)),
                AssignReach::Always => {
                    parts.push(self.assigned_or_declared(scope, id, assign));
                    settled = true;
                    break;
                }
            }
        }
        if !settled {
            if let VarKind::Param(_) = var.kind {
                parts.push(self.param(reference));
            } else if parts.is_empty() && !empty {
                // Used before it is set: a function called later, or a deleted name.
                let find = || self.any_assigned(scope, id);
                return self.query_value(&self.tables.values.vars, (reference, scope.env), find);
            }
        }
        let mut joined = self.join(&parts);
        if facts.language == Language::Java && self.values.is_unknown(joined.value) {
            // What is assigned later is of the declared type, whatever it is.
            let declaration = facts.assigns_of(id).find(|row| row.annotation.is_some());
            if let Some(row) = declaration {
                joined = self.annotation(Scope { at: row.at, ..scope }, row.annotation);
            } else if let VarKind::Param(_) = var.kind {
                joined = self.param(reference);
            }
        }
        self.narrowed(scope, id, joined)
    }

    /// The union of everything assigned to a variable.
    fn any_assigned(&self, scope: Scope, id: VarId) -> Typed {
        let facts = self.program.facts(scope.file);
        let var = facts.var(id);
        let mut parts: SmallVec<[Typed; 4]> = SmallVec::new();
        if facts.language == Language::Rust && facts.assigns_of(id).nth(1).is_some() {
            return self.rust_twins(scope, id);
        }
        if facts.body(var.body).kind == BodyKind::Module {
            // Whoever uses it from elsewhere runs after the module: what its end still holds, and what others assign.
            let end = facts.body(var.body).region;
            let mut settled = false;
            let said_to_checkers = self.is_said_to_type_checkers(scope.file, id);
            for assign in facts.assign_ids_of(id).rev() {
                let row = facts.assign(assign);
                if said_to_checkers && self.for_type_checkers(scope.file, row.at.region) == Some(false) {
                    continue;
                }
                if facts.body_of(row.at) != var.body {
                    parts.push(self.assigned(scope, assign));
                } else if !settled {
                    let reach = self.reaches(scope.file, row.at.region, end);
                    if reach != AssignReach::No {
                        parts.push(self.assigned(scope, assign));
                    }
                    settled = reach == AssignReach::Always;
                }
            }
            parts.extend(self.assigned_by_other_files(scope.file, id));
        } else {
            parts.extend(facts.assign_ids_of(id).map(|assign| self.assigned(scope, assign)));
        }
        if let VarKind::Param(_) = var.kind {
            parts.push(self.param(scope.file.var_ref(id)));
        }
        // A declared type that several assignments fill speaks for all of them.
        let is_method =
            facts.language == Language::Java && facts.assigns_of(id).any(|row| row.kind == AssignKind::Definition);
        if parts.len() > 1
            && !is_method
            && let Some(declared) = facts.assigns_of(id).find(|row| row.annotation.is_some())
        {
            let declared = self.annotation(Scope { at: declared.at, ..scope }, declared.annotation);
            if !self.values.is_unknown(declared.value) {
                return match facts.language {
                    Language::Java => self.or_assigned_callables(scope.file.var_ref(id), declared),
                    Language::Python | Language::Rust => declared,
                };
            }
        }
        let joined = self.join(&parts);
        match facts.language {
            Language::Java => {
                let field = scope.file.var_ref(id);
                self.or_assigned_callables(field, self.narrower_field(field, joined))
            }
            Language::Rust if facts.body(var.body).kind == BodyKind::Class => {
                self.or_written_callables(scope.file.var_ref(id), joined)
            }
            _ => joined,
        }
    }

    /// Python: what others assign to a variable of a module that holds no definition.
    fn assigned_by_other_files(&self, file: FileId, id: VarId) -> Option<Typed> {
        let facts = self.program.facts(file);
        let is_value = |row: Assign| matches!(row.kind, AssignKind::Plain | AssignKind::Declaration);
        if facts.language != Language::Python || !facts.assigns_of(id).all(is_value) {
            return None;
        }
        self.module_attribute_from_others(file, self.program.global(file, facts.var(id).name)?)
    }

    /// Python: whether a place is for type checkers only, or for all others (`if TYPE_CHECKING: … else: …`).
    fn for_type_checkers(&self, file: FileId, region: RegionId) -> Option<bool> {
        let facts = self.program.facts(file);
        let mut tests = self.tests_at(file, region);
        tests.find(|&(test, _)| lang::python::conventions::is_for_type_checkers(facts, test)).map(|(_, holds)| holds)
    }

    /// Python: whether a name is bound for type checkers, who are told what it stands for; what runs has `Any` in its place.
    fn is_said_to_type_checkers(&self, file: FileId, id: VarId) -> bool {
        let facts = self.program.facts(file);
        facts.language == Language::Python
            && facts.assigns_of(id).nth(1).is_some()
            && facts.assigns_of(id).any(|row| self.for_type_checkers(file, row.at.region) == Some(true))
    }

    /// Items of one name, of which `#[cfg]` chooses one: all of them, where more than one is no test's.
    fn rust_twins(&self, scope: Scope, id: VarId) -> Typed {
        let facts = self.program.facts(scope.file);
        let in_test = |assign: AssignId| match facts.form(facts.assign(assign).value) {
            Form::Callable(body) => facts.body(body).flags.has(blocklint_facts::BodyFlags::TEST),
            _ => false,
        };
        let all: Vec<AssignId> = facts.assign_ids_of(id).collect();
        let outside: Vec<AssignId> = all.iter().copied().filter(|&assign| !in_test(assign)).collect();
        let meant = if outside.is_empty() { &all } else { &outside };
        let parts: Vec<Typed> = meant.iter().map(|&assign| self.assigned(scope, assign)).collect();
        let joined = self.join(&parts);
        let differ = self.values.members(joined.value).iter().filter(|val| matches!(val, Val::Fn { .. })).count() > 1;
        if differ { self.inferred(joined) } else { joined }
    }

    /// What one assignment gives a local; in Python its declared type where the value does not tell:
    /// `found: Optional[Credentials] = None`, `found, project = self.known[key]`.
    fn assigned_or_declared(&self, scope: Scope, id: VarId, assign: AssignId) -> Typed {
        let typed = self.assigned(scope, assign);
        let facts = self.program.facts(scope.file);
        if facts.language != Language::Python || !self.values.is_unknown(typed.value) {
            return typed;
        }
        let declared = facts.assigns_of(id).find(|row| row.annotation.is_some());
        declared.map_or(typed, |row| self.annotation(Scope { at: row.at, ..scope }, row.annotation))
    }

    /// What one assignment gives its target.
    pub fn assigned(&self, scope: Scope, assign: AssignId) -> Typed {
        let key = (scope.file, assign, scope.env);
        self.query_value(&self.tables.values.assigns, key, || self.assign_value(scope, assign))
    }

    fn assign_value(&self, scope: Scope, assign: AssignId) -> Typed {
        let row = self.program.facts(scope.file).assign(assign);
        let scope = Scope { at: row.at, ..scope };
        if row.annotation.is_some() {
            let declared = self.annotation(scope, row.annotation);
            if !self.values.is_unknown(declared.value) {
                let refined = self.named_for(scope.file, &row, self.refined(scope, declared, &row));
                return self.with_callables(scope, assign, refined);
            }
        }
        if row.kind == AssignKind::Augmented {
            return self.unknown(Why::Expression);
        }
        if row.value.is_none() {
            return self.unknown(Why::Expression);
        }
        let mut made = self.eval(scope, row.value);
        if row.kind == AssignKind::Plain && self.program.language(scope.file) == Language::Rust {
            made = self.as_value(made);
        }
        self.with_added_elements(scope, assign, made)
    }

    /// The assigned value where it is a proper subtype of the declared one.
    fn refined(&self, scope: Scope, declared: Typed, row: &Assign) -> Typed {
        if row.value.is_none() {
            return declared;
        }
        let is_java = self.program.language(scope.file) == Language::Java;
        if let Some(given) = self.literal_elements(scope, row) {
            return given;
        }
        let [base] = self.values.members(declared.value)[..] else { return declared };
        // `const JOB: fn() = work;`
        if self.program.language(scope.file) == Language::Rust && self.takes_lambda(declared) {
            return self.or_callables(declared, || vec![self.eval(scope, row.value)]);
        }
        if let Val::Library { ty, args, .. } = base
            && self.program.language(scope.file) == Language::Rust
            && self.values.list(args).iter().any(|&arg| self.values.is_unknown(arg))
        {
            if let Some(collected) = self.collected_into(scope, declared, row.value) {
                return collected;
            }
            return self.arguments_filled(scope, declared, (ty, args), row.value);
        }
        if !matches!(base, Val::Instance { .. }) && !is_java && !self.makes_declared(scope.file, base, row.value) {
            return declared;
        }
        let given = self.eval(scope, row.value);
        let [val] = self.values.members(given.value)[..] else {
            // `Supplier<String> chosen = isQuick ? this::quick : this::slow;`
            return if is_java { self.or_callables(declared, || vec![given]) } else { declared };
        };
        match (base, val) {
            (Val::Instance { class: base, .. }, Val::Instance { class, .. })
                if class != base && self.is_subclass(class, base) =>
            {
                given
            }
            // What it was made with: `tasks: queue.Queue[Task] = queue.Queue(10)`.
            (Val::Library { ty: base, args, .. }, Val::Library { ty, made, .. }) if !is_java && base == ty => {
                Typed { value: self.values.one(Val::Library { ty, args, made }), ..given }
            }
            // What a library's class was made of: `InputStream in = new ByteArrayInputStream(bytes)`.
            (Val::Library { ty: base, args: of_base, .. }, Val::Library { ty, args, made })
                if is_java && self.library.is_subtype(ty, base) =>
            {
                let says_nothing = self.values.list(args).iter().all(|&arg| self.values.is_unknown(arg));
                let args = if says_nothing { of_base } else { args };
                Typed { value: self.values.one(Val::Library { ty, args, made }), ..given }
            }
            // A lambda for an interface of the project: its call is a call of the lambda.
            (Val::Instance { class, .. }, Val::Fn { .. }) if is_java && self.functional_method(class).is_some() => {
                given
            }
            (Val::Library { ty, .. }, Val::Fn { .. }) if is_java && self.is_functional_type(ty) => given,
            (Val::Library { ty, .. }, Val::Instance { .. })
                if is_java && self.is_functional_type(ty) && !self.callables_of(val).is_empty() =>
            {
                given
            }
            // `Stream<Path> all = Files.list(folder)`: what it holds back runs where it is consumed.
            (Val::Library { .. }, Val::Lazy { .. }) if is_java => given,
            _ => declared,
        }
    }

    /// Rust: a declared type with the arguments that it leaves to be inferred: `let all: Vec<_> = stores()`.
    fn arguments_filled(&self, scope: Scope, declared: Typed, of: (PathId, ArgsId), value: FormId) -> Typed {
        let (ty, args) = of;
        let given = self.as_value(self.eval(scope, value));
        let of_same_type = match self.values.members(given.value)[..] {
            [Val::Library { ty: other, args: known, made }] if other == ty => Some((known, made)),
            _ => None,
        };
        let Some((known, made)) = of_same_type else {
            // `let all: Vec<_> = paths.collect()`: what was gone through.
            let element = self.map(given, |val| self.element(val));
            let is_one = self.values.list(args).len() == 1;
            if !is_one || self.values.is_unknown(element.value) {
                return declared;
            }
            let args = self.values.args(&[element.value]);
            return Typed { value: self.values.one(Val::Library { ty, args, made: None }), ..element };
        };
        let filled: Vec<ValueId> = self
            .values
            .list(args)
            .iter()
            .enumerate()
            .map(|(at, &arg)| if self.values.is_unknown(arg) { self.values.nth(known, at).unwrap_or(arg) } else { arg })
            .collect();
        Typed { value: self.values.one(Val::Library { ty, args: self.values.args(&filled), made }), ..given }
    }

    /// Python: what a local holds whose elements are all written out and known, and to which nothing is added:
    /// `steps: List[Step] = [Load(), Save()]` holds no other step.
    fn literal_elements(&self, scope: Scope, row: &Assign) -> Option<Typed> {
        let facts = self.program.facts(scope.file);
        let (Form::Display(kind, list), Form::Var(var)) = (facts.form(row.value), facts.form(row.target)) else {
            return None;
        };
        let is_local = facts.body(facts.var(var).body).kind == BodyKind::Function;
        let is_whole = (1..=MOST_WRITTEN_OUT).contains(&facts.list(list).len());
        if facts.language != Language::Python || kind == DisplayKind::Tuple || !is_local || !is_whole {
            return None;
        }
        let given = self.eval(scope, row.value);
        let [Val::Library { ty, args, .. }] = self.values.members(given.value)[..] else { return None };
        let elements = self.values.members(self.values.nth(args, 0)?);
        let all_made = elements.iter().all(|val| matches!(val, Val::Instance { .. }));
        (all_made && !self.is_added_to(scope.file, var, ty)).then_some(given)
    }

    /// Whether a value is a call under the last name of a library's type.
    fn makes_declared(&self, file: FileId, declared: Val, value: FormId) -> bool {
        let facts = self.program.facts(file);
        let (Val::Library { ty, .. }, Form::Result(site)) = (declared, facts.form(value)) else { return false };
        facts.language == Language::Python
            && self.library.text(ty).rsplit('.').next() == Some(facts.text(facts.site(site).name))
    }

    /// A name that its file does not bind.
    pub(crate) fn free_name(&self, scope: Scope, sym: Sym) -> Typed {
        match self.program.language(scope.file) {
            Language::Python => lang::python::names::free_name(self, scope.file, sym),
            Language::Rust => lang::rust::names::free_name(self, scope, sym),
            Language::Java => lang::java::names::free_name(self, scope, sym),
        }
    }
}

/// How many elements that are written out are looked at.
const MOST_WRITTEN_OUT: usize = 32;
