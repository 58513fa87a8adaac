//! Expression evaluation: the possible values of a form, variable or assignment in a scope.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{
    AltKind, Assign, AssignId, AssignKind, At, BodyKind, DisplayKind, Form, FormId, RegionId, Sym, VarId, VarKind,
};
use smallvec::SmallVec;

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, FileId, Name};
use crate::values::narrowing::AssignReach;
use crate::values::value::{ArgsId, BoundId, EnvId, Val, Why};

/// How deep a nested expression is evaluated.
const MAX_EXPRESSION_DEPTH: u32 = 24;

/// A position in a file and the environment in which forms are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The file.
    pub file: FileId,
    /// The position of the use; [`At::default`] if the order of assignments does not matter.
    pub at: At,
    /// The values of captured parameters.
    pub env: EnvId,
}

impl<'a> Linker<'a> {
    /// Returns the value of a form.
    pub fn eval(&self, scope: Scope, form: FormId) -> Typed {
        self.eval_within(scope, form, MAX_EXPRESSION_DEPTH)
    }

    fn eval_within(&self, scope: Scope, id: FormId, depth: u32) -> Typed {
        let Some(depth) = depth.checked_sub(1) else { return self.unknown(Why::Bound) };
        let facts = self.program.facts(scope.file);
        match facts.form(id) {
            Form::Other | Form::Ellipsis | Form::Not(_) | Form::Compare(..) => self.unknown(Why::Expression),
            Form::None => self.known(Val::None),
            Form::Bool(_) => self.literal(scope.file, lang::words::Literal::Bool),
            Form::Int(_) => self.literal(scope.file, lang::words::Literal::Int),
            Form::Float(_) => self.literal(scope.file, lang::words::Literal::Float),
            Form::Str(_) | Form::Text(_) => self.literal(scope.file, lang::words::Literal::Str),
            Form::Bytes(_) => self.literal(scope.file, lang::words::Literal::Bytes),
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
                        let attribute = self.map(base, |member| self.attr_or_class(scope.file, member, name));
                        self.drop_same_named_methods(scope.file, sym, attribute)
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
                self.map(inner, |member| self.success_value(member))
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
                self.map(inner, |member| self.tuple_part(member, index))
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
                    .take(MAX_LITERAL_ELEMENTS)
                    .map(|&part| self.eval_within(scope, part, depth))
                    .collect();
                if kind == DisplayKind::Tuple {
                    let steps = parts.iter().map(|part| part.inferred_steps).max().unwrap_or(0);
                    let parts: Vec<_> = parts.iter().map(|part| part.value).collect();
                    let value = self.values.one(Val::Tuple(self.values.args(&parts)));
                    return Typed { value, inferred_steps: steps };
                }
                let word =
                    if kind == DisplayKind::Set { lang::words::Literal::Set } else { lang::words::Literal::List };
                self.collection(scope.file, word, &parts)
            }
            Form::Pairs(list) => {
                let rows = facts.list(list);
                let keys: Vec<Typed> = rows
                    .iter()
                    .step_by(2)
                    .filter(|key| key.is_some())
                    .take(MAX_LITERAL_ELEMENTS)
                    .map(|&key| self.eval_within(scope, key, depth))
                    .collect();
                let parts: Vec<Typed> = rows
                    .iter()
                    .skip(1)
                    .step_by(2)
                    .take(MAX_LITERAL_ELEMENTS)
                    .map(|&part| self.eval_within(scope, part, depth))
                    .collect();
                let Some(ty) =
                    lang::words_of(self.program.language(scope.file)).literal_type(lang::words::Literal::Dict)
                else {
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
                let branches = facts.list(list);
                let branches = match (kind, branches) {
                    (AltKind::Ternary, &[test, _, _]) => match self.kind_test_result(scope, test) {
                        Some(true) => &branches[1..2],
                        Some(false) => &branches[2..],
                        None => &branches[1..],
                    },
                    (AltKind::Ternary, _) => &branches[1.min(branches.len())..],
                    _ => branches,
                };
                let parts: Vec<Typed> = branches
                    .iter()
                    .take(MAX_LITERAL_ELEMENTS)
                    .map(|&branch| self.eval_within(scope, branch, depth))
                    .collect();
                self.join(&parts)
            }
            // A union of classes in an expression is an alias of a type: `Path = str | bytes`.
            Form::Join(list) => {
                let parts: Vec<Typed> = facts
                    .list(list)
                    .iter()
                    .take(MAX_LITERAL_ELEMENTS)
                    .map(|&part| self.eval_within(scope, part, depth))
                    .collect();
                self.join(&parts)
            }
            Form::Star(inner) | Form::StarStar(inner) => {
                let inner = self.eval_within(scope, inner, depth);
                self.map(inner, |member| self.element(member))
            }
            Form::Subscript(base, index) => {
                if let Some(entry) = self.literal_table_entry(scope, base, index) {
                    return entry;
                }
                let base = self.without_none(self.eval_within(scope, base, depth));
                self.map(base, |member| self.subscript(scope, member, index))
            }
            Form::Cast(value, ty) => {
                let declared = self.annotation(scope, ty);
                if self.values.is_unknown(declared.value) {
                    self.eval_within(scope, value, depth)
                } else if lang::words_of(facts.language).casts_callables {
                    // `(Supplier<String>) () -> load()`
                    self.with_callables(declared, || vec![self.eval_within(scope, value, depth)])
                } else {
                    declared
                }
            }
            Form::Bound(inner) => self.eval_within(scope, inner, depth),
        }
    }

    /// Returns the value of a name without the methods of that name (Java). A field and the methods of the same name
    /// share a variable, and reading the name reads the field. A method of another name is kept, because it was
    /// assigned as a method reference: `loader = this::load`.
    fn drop_same_named_methods(&self, file: FileId, read: Sym, typed: Typed) -> Typed {
        let facts = self.program.facts(file);
        if facts.language != Language::Java {
            return typed;
        }
        let is_method = |val: &Val| match *val {
            Val::Fn { body, .. } => {
                let method_facts = self.program.facts(body.file);
                let body_facts = self.program.body(body);
                let has_name = method_facts.text(body_facts.name) == facts.text(read);
                body_facts.kind == BodyKind::Function && body_facts.class.is_some() && has_name
            }
            _ => false,
        };
        let members = self.values.members(typed.value);
        if !members.iter().any(is_method) {
            return typed;
        }
        let others: Vec<Val> = members.iter().copied().filter(|val| !is_method(val)).collect();
        if others.is_empty() {
            return self.unknown(Why::Attribute);
        }
        let field_value = Typed { value: self.values.union(&others), ..typed };
        // A component of a record shares its variable with its getter.
        let shared = members.iter().find_map(|val| match *val {
            Val::Fn { body, .. } if is_method(val) => {
                let var = self.program.body(body).var;
                var.is_some().then_some(body.file.var_ref(var))
            }
            _ => None,
        });
        match shared {
            Some(field) => {
                let find = || self.with_assigned_callables(field, field_value);
                let assigned = self.query_value(&self.tables.values.components, (field, field_value.value), find);
                // A component whose values depend on itself has its declared type.
                if self.values.is_unknown(assigned.value) { field_value } else { assigned }
            }
            None => field_value,
        }
    }

    /// Returns an attribute of one member of a value. If the member is a package of Java, it returns the class of that
    /// name: `java.util.List`.
    pub(crate) fn attr_or_class(&self, file: FileId, member: Val, name: Name) -> Typed {
        match member {
            Val::External(package) => lang::java::names::class_by_qualified_name(self, file, package, name)
                .map_or_else(|| self.attr(member, name), |class| self.known(Val::Class(class))),
            _ => self.attr(member, name),
        }
    }

    /// Returns an instance of the type of a literal.
    fn literal(&self, file: FileId, literal: lang::words::Literal) -> Typed {
        let language = self.program.language(file);
        match lang::words_of(language).literal_type(literal) {
            Some(path) => {
                let ty = self.library.path(language, path);
                self.known(Val::Library { ty, args: ArgsId::NONE, made: None })
            }
            None => self.unknown(Why::Expression),
        }
    }

    /// Returns an instance of the type of a collection literal, with the union of its elements.
    fn collection(&self, file: FileId, literal: lang::words::Literal, parts: &[Typed]) -> Typed {
        let language = self.program.language(file);
        let Some(path) = lang::words_of(language).literal_type(literal) else { return self.unknown(Why::Expression) };
        let element = self.join(parts);
        let args = if parts.is_empty() { ArgsId::NONE } else { self.values.args(&[element.value]) };
        let ty = self.library.path(language, path);
        Typed { value: self.values.one(Val::Library { ty, args, made: None }), inferred_steps: element.inferred_steps }
    }

    /// Returns the innermost class around a body, also through nested functions.
    pub fn class_around(&self, body: BodyRef) -> Option<ClassRef> {
        let (facts, mut next) = self.program.facts_and_id(body);
        while let Some(id) = next.get() {
            let body_facts = facts.body(id);
            if let Some(class) = body_facts.class.get() {
                return Some(body.file.class_ref(class));
            }
            next = body_facts.parent;
        }
        None
    }

    /// Returns the value of a variable at a use: the union of the assignments that reach the use. In a body other than
    /// the variable's own, it is the union of all assignments.
    pub fn var(&self, scope: Scope, id: VarId) -> Typed {
        let reference = scope.file.var_ref(id);
        if let Some(value) = self.values.env_get(scope.env, reference) {
            return Typed { value, inferred_steps: 0 };
        }
        let facts = self.program.facts(scope.file);
        let var = facts.var(id);
        let use_body = facts.regions.get(scope.at.region.index()).map(|region| region.body);
        if use_body != Some(var.body) {
            return self.query_value(&self.tables.values.vars, (reference, scope.env), || {
                self.union_of_assignments(scope, id)
            });
        }
        let mut parts: SmallVec<[Typed; 4]> = SmallVec::new();
        let mut is_settled = false;
        let mut has_no_assignment = true;
        for assign in facts.assign_ids_of(id).rev() {
            has_no_assignment = false;
            let assignment = facts.assign(assign);
            if self.is_ruled_out_by_captured_kind(scope, assignment.at.region) {
                continue;
            }
            if assignment.at.position >= scope.at.position {
                // A later assignment reaches the use through the next iteration of a loop around both.
                if self.share_loop(scope.file, assignment.at.region, scope.at.region) {
                    parts.push(self.assigned_or_declared(scope, id, assign));
                }
                continue;
            }
            match self.assignment_reach(scope.file, assignment.at.region, scope.at.region) {
                AssignReach::No => continue,
                AssignReach::Maybe => parts.push(self.assigned_or_declared(scope, id, assign)),
                AssignReach::Always => {
                    parts.push(self.assigned_or_declared(scope, id, assign));
                    is_settled = true;
                    break;
                }
            }
        }
        if !is_settled {
            if let VarKind::Param(_) = var.kind {
                parts.push(self.param_value(reference));
            } else if parts.is_empty() && !has_no_assignment {
                // The use comes before all assignments: in a function that runs later, or after `del`.
                let find = || self.union_of_assignments(scope, id);
                return self.query_value(&self.tables.values.vars, (reference, scope.env), find);
            }
        }
        let mut joined = self.join(&parts);
        if self.values.is_unknown(joined.value)
            && let Some(declared) = lang::semantics(facts.language).declared_variable(self, scope, id)
        {
            joined = declared;
        }
        self.narrow_by_tests(scope, id, joined)
    }

    /// Returns the union of all values that are assigned to a variable.
    fn union_of_assignments(&self, scope: Scope, id: VarId) -> Typed {
        let facts = self.program.facts(scope.file);
        let var = facts.var(id);
        let mut parts: SmallVec<[Typed; 4]> = SmallVec::new();
        let semantics = lang::semantics(facts.language);
        if let Some(items) = semantics.items_of_same_name(self, scope, id) {
            return items;
        }
        if facts.body(var.body).kind == BodyKind::Module {
            // Code in other bodies runs after the module, so it reads the value at the module's end and the values
            // that other bodies and files assign.
            let end = facts.body(var.body).region;
            let mut is_settled = false;
            let has_checker_binding = self.has_type_checker_binding(scope.file, id);
            for assign in facts.assign_ids_of(id).rev() {
                let assignment = facts.assign(assign);
                if has_checker_binding && self.type_checker_region(scope.file, assignment.at.region) == Some(false) {
                    continue;
                }
                if facts.body_of(assignment.at) != var.body {
                    parts.push(self.assigned_value(scope, assign));
                } else if !is_settled {
                    let reach = self.assignment_reach(scope.file, assignment.at.region, end);
                    if reach != AssignReach::No {
                        parts.push(self.assigned_value(scope, assign));
                    }
                    is_settled = reach == AssignReach::Always;
                }
            }
            parts.extend(semantics.assigned_by_other_files(self, scope.file, id));
        } else {
            parts.extend(facts.assign_ids_of(id).map(|assign| self.assigned_value(scope, assign)));
        }
        if let VarKind::Param(_) = var.kind {
            parts.push(self.param_value(scope.file.var_ref(id)));
        }
        // A declared type holds for all assignments if there are several.
        if parts.len() > 1
            && !semantics.shares_name_with_method(self, scope.file, id)
            && let Some(declared) = facts.assigns_of(id).find(|assignment| assignment.annotation.is_some())
        {
            let declared = self.annotation(Scope { at: declared.at, ..scope }, declared.annotation);
            if !self.values.is_unknown(declared.value) {
                return semantics.refine_declared(self, scope.file.var_ref(id), declared);
            }
        }
        semantics.refine_assigned(self, scope.file.var_ref(id), self.join(&parts))
    }

    /// Returns true if a region is for type checkers only, false if type checkers skip it (`if TYPE_CHECKING: … else:
    /// …`), and `None` for other regions (Python).
    fn type_checker_region(&self, file: FileId, region: RegionId) -> Option<bool> {
        let facts = self.program.facts(file);
        let mut tests = self.tests_at(file, region);
        tests.find(|&(test, _)| lang::python::conventions::is_for_type_checkers(facts, test)).map(|(_, holds)| holds)
    }

    /// True if a name has a binding for type checkers in addition to the one that runs (Python).
    fn has_type_checker_binding(&self, file: FileId, id: VarId) -> bool {
        let facts = self.program.facts(file);
        facts.language == Language::Python
            && facts.assigns_of(id).nth(1).is_some()
            && facts.assigns_of(id).any(|assignment| self.type_checker_region(file, assignment.at.region) == Some(true))
    }

    /// Returns the value that a local variable gets from one assignment. In Python it is the declared type if the value
    /// is unknown: `found: Optional[Credentials] = None`, then `found, project = self.known[key]`.
    fn assigned_or_declared(&self, scope: Scope, id: VarId, assign: AssignId) -> Typed {
        let typed = self.assigned_value(scope, assign);
        let facts = self.program.facts(scope.file);
        if !lang::words_of(facts.language).declares_later_values || !self.values.is_unknown(typed.value) {
            return typed;
        }
        let declared = facts.assigns_of(id).find(|assignment| assignment.annotation.is_some());
        declared.map_or(typed, |row| self.annotation(Scope { at: row.at, ..scope }, row.annotation))
    }

    /// Returns the value that the target of an assignment gets.
    pub fn assigned_value(&self, scope: Scope, assign: AssignId) -> Typed {
        let key = (scope.file, assign, scope.env);
        self.query_value(&self.tables.values.assigns, key, || self.assign_value(scope, assign))
    }

    /// Computes the value of an assignment: the declared type, refined by the assigned value, or the assigned value.
    fn assign_value(&self, scope: Scope, assign: AssignId) -> Typed {
        let assignment = self.program.facts(scope.file).assign(assign);
        let scope = Scope { at: assignment.at, ..scope };
        if assignment.annotation.is_some() {
            let declared = self.annotation(scope, assignment.annotation);
            if !self.values.is_unknown(declared.value) {
                let refined = self.subclass_named_like_field(
                    scope.file,
                    &assignment,
                    self.refined_by_value(scope, declared, &assignment),
                );
                return self.with_added_callables(scope, assign, refined);
            }
        }
        if assignment.kind == AssignKind::Augmented {
            return self.unknown(Why::Expression);
        }
        if assignment.value.is_none() {
            return self.unknown(Why::Expression);
        }
        let mut value = self.eval(scope, assignment.value);
        if assignment.kind == AssignKind::Plain {
            value = lang::semantics(self.program.language(scope.file)).as_owned(self, value);
        }
        self.with_added_elements(scope, assign, value)
    }

    /// Returns the assigned value if its type is a proper subtype of the declared type, else the declared type.
    fn refined_by_value(&self, scope: Scope, declared: Typed, row: &Assign) -> Typed {
        if row.value.is_none() {
            return declared;
        }
        let semantics = lang::semantics(self.program.language(scope.file));
        if let Some(refined) = semantics.refine_by_value(self, scope, declared, row) {
            return refined;
        }
        let [base] = self.values.members(declared.value)[..] else { return declared };
        if !matches!(base, Val::Instance { .. }) && !semantics.calls_declared_type(self, scope.file, base, row.value) {
            return declared;
        }
        let assigned = self.eval(scope, row.value);
        let [val] = self.values.members(assigned.value)[..] else { return declared };
        match (base, val) {
            (Val::Instance { class: base, .. }, Val::Instance { class, .. })
                if class != base && self.is_subclass(class, base) =>
            {
                assigned
            }
            // The declared type with the call that created the object: `tasks: queue.Queue[Task] = queue.Queue(10)`.
            (Val::Library { ty: base, args, .. }, Val::Library { ty, made, .. }) if base == ty => {
                Typed { value: self.values.one(Val::Library { ty, args, made }), ..assigned }
            }
            _ => declared,
        }
    }

    /// Returns the value of a name that its file does not bind.
    pub(crate) fn free_name(&self, scope: Scope, sym: Sym) -> Typed {
        lang::semantics(self.program.language(scope.file)).unbound_name(self, scope, sym)
    }
}

/// The maximal number of elements of a literal that are evaluated.
pub(crate) const MAX_LITERAL_ELEMENTS: usize = 32;
