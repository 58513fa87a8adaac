//! Java: values that are more exact than their declared type: a field or a result whose only value is of a subtype, a
//! field whose declared type is a type parameter of its class, a lambda declared as a functional interface.

use blocklint_core::Language;
use blocklint_facts::{Assign, AssignKind, BodyKind, ExitKind, Form, FormId, SiteKind, VarId, VarKind};
use blocklint_models::Uses;

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val, ValueId};

/// The number of `return` statements of one body that are evaluated.
const MOST_EXITS: usize = 8;

impl Linker<'_> {
    /// Returns the assigned value of a variable if it is more exact than the declared type, else the declared type.
    pub(crate) fn declared_or_value(&self, scope: Scope, declared: Typed, row: &Assign) -> Typed {
        let [base] = self.values.members(declared.value)[..] else { return declared };
        let assigned = self.eval(scope, row.value);
        let [val] = self.values.members(assigned.value)[..] else {
            // `Supplier<String> chosen = isQuick ? this::quick : this::slow;`
            return self.with_callables(declared, || vec![assigned]);
        };
        match (base, val) {
            (Val::Instance { class: base, .. }, Val::Instance { class, .. })
                if class != base && self.is_subclass(class, base) =>
            {
                assigned
            }
            // A value of a library's subtype: `InputStream in = new ByteArrayInputStream(bytes)`.
            (Val::Library { ty: base, args: base_args, .. }, Val::Library { ty, args, made })
                if self.library.is_subtype(ty, base) =>
            {
                let are_args_unknown = self.values.list(args).iter().all(|&arg| self.values.is_unknown(arg));
                let args = if are_args_unknown { base_args } else { args };
                Typed { value: self.values.one(Val::Library { ty, args, made }), ..assigned }
            }
            // A lambda declared as an interface of the project: a call of the interface's method runs the lambda.
            (Val::Instance { class, .. }, Val::Fn { .. }) if self.functional_method(class).is_some() => assigned,
            (Val::Library { ty, .. }, Val::Fn { .. }) if self.is_functional_type(ty) => assigned,
            (Val::Library { ty, .. }, Val::Instance { .. })
                if self.is_functional_type(ty) && !self.callables_of(val).is_empty() =>
            {
                assigned
            }
            // `Stream<Path> all = Files.list(folder)`: the lazy result runs where it is consumed.
            (Val::Library { .. }, Val::Lazy { .. }) => assigned,
            _ => declared,
        }
    }

    /// Returns the value of a field on a receiver, if the field's declared type is a type parameter of its class:
    /// `R repository` of `Base<R>` on an instance of `Users extends Base<UserRepository>`.
    pub(crate) fn field_as_type_argument(&self, owner: ClassRef, var: VarId, receiver: Val) -> Option<Typed> {
        let facts = self.program.facts(owner.file);
        let params = self.program.class(owner).type_params;
        if facts.list(params).is_empty() || !matches!(receiver, Val::Instance { .. }) {
            return None;
        }
        // A field and the methods of its name share a variable.
        if facts.assigns_of(var).any(|assignment| assignment.kind == AssignKind::Definition) {
            return None;
        }
        let declaration =
            facts.assigns_of(var).find(|assignment| assignment.annotation.is_some() && assignment.value.is_none())?;
        let Form::Name(sym) = facts.form(declaration.annotation) else { return None };
        let is_type_param = facts.list(params).iter().any(|&param| match facts.form(param) {
            Form::Cast(name, _) => facts.form(name) == Form::Str(sym),
            name => name == Form::Str(sym),
        });
        if !is_type_param {
            return None;
        }
        let scope = Scope { file: owner.file, at: declaration.at, env: EnvId::NONE };
        let typed = self.annotation_with_self(scope, declaration.annotation, Some(receiver));
        (!self.values.is_unknown(typed.value)).then_some(typed)
    }

    /// Returns the value of a body's only `return` if its type is a library's subtype of the declared one: the subtype
    /// of a stream shows if the stream is a file. If some `return` has a lazy value, the lazy values are the result.
    pub(crate) fn refine_return(&self, body: BodyRef, declared: Typed) -> Typed {
        let (facts, body_id) = self.program.facts_and_id(body);
        let only = |value: ValueId| match self.values.members(value)[..] {
            [Val::Library { ty, .. }] => Some(ty),
            _ => None,
        };
        let Some(base) = only(declared.value) else {
            return self.returned_instances(body, declared).unwrap_or(declared);
        };
        // Only new objects, locals and lazy values are evaluated. Results of other methods keep their declared types,
        // because methods may return each other's results in a cycle.
        let is_plain = |value: FormId| match facts.form(value) {
            Form::Var(var) => facts.var(var).body == body_id && !matches!(facts.var(var).kind, VarKind::Param(_)),
            Form::Result(site) => {
                let name = facts.text(facts.site(site).name);
                facts.site(site).kind == SiteKind::New
                    || self.library.of(Language::Java).name_uses(name).intersects(Uses::LAZY)
            }
            _ => false,
        };
        let exits = self.program.exits_in(body).filter(|exit| exit.kind == ExitKind::Return);
        let returned: Vec<Option<Typed>> = exits
            .take(MOST_EXITS)
            .map(|exit| {
                let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                is_plain(exit.value).then(|| self.eval(scope, exit.value))
            })
            .collect();
        if let [Some(only_value)] = returned[..]
            && only(only_value.value).is_some_and(|ty| ty != base && self.library.supertypes(ty).contains(&base))
        {
            return only_value;
        }
        // Another `return` may have an empty value: `return Stream.empty()` after a failure.
        let members = returned.iter().flatten().flat_map(|typed| self.values.members(typed.value));
        let lazy_values: Vec<Val> = members.filter(|val| matches!(val, Val::Lazy { .. })).collect();
        if lazy_values.is_empty() {
            return declared;
        }
        Typed { value: self.values.union(&lazy_values), ..declared }
    }

    /// Returns the instances that a method creates and returns, if its declared result is an interface or base class of
    /// the project and the method has no override: `Source source() { return new Remote(); }`.
    fn returned_instances(&self, body: BodyRef, declared: Typed) -> Option<Typed> {
        let facts = self.program.facts(body.file);
        let [Val::Instance { class: base, .. }] = self.values.members(declared.value)[..] else { return None };
        let body_facts = self.program.body(body);
        let method_class = body.file.class_ref(body_facts.class.get()?);
        let name = self.program.global(body.file, body_facts.name)?;
        if self.direct_subclasses(base).is_empty() || !self.overrides(method_class, name).is_empty() {
            return None;
        }
        let mut instances: Vec<Val> = Vec::new();
        let exits = self.program.exits_in(body).filter(|exit| exit.kind == ExitKind::Return);
        for (count, exit) in exits.enumerate() {
            let value = match facts.form(exit.value) {
                Form::None => continue,
                Form::Cast(inner, _) => facts.form(inner),
                value => value,
            };
            let Form::Result(site) = value else { return None };
            if count >= MOST_EXITS || facts.site(site).kind != SiteKind::New {
                return None;
            }
            let instance = self.result(body.file.site_ref(site), EnvId::NONE);
            for val in self.values.members(instance.value) {
                match val {
                    Val::Instance { class, .. } if self.is_subclass(class, base) => instances.push(val),
                    _ => return None,
                }
            }
        }
        (!instances.is_empty()).then(|| Typed { value: self.values.union(&instances), ..declared })
    }

    /// Returns the value of a field's only assignment, `this.directory = open()`, if its type is a library's subtype of
    /// the declared one; else the declared type.
    pub(crate) fn refine_field(&self, var: VarRef, declared: Typed) -> Typed {
        let facts = self.program.facts(var.file);
        let only = |value: ValueId| match self.values.members(value)[..] {
            [Val::Library { ty, .. }] => Some(ty),
            _ => None,
        };
        if facts.body(self.program.var(var).body).kind != BodyKind::Class {
            return declared;
        }
        let Some(base) = only(declared.value) else { return declared };
        let [(assign_at, value)] = self.values_assigned_to(var)[..] else { return declared };
        if !matches!(facts.form(value), Form::Result(_)) {
            return declared;
        }
        let assigned = self.eval(Scope { file: var.file, at: assign_at, env: EnvId::NONE }, value);
        match only(assigned.value) {
            Some(ty) if ty != base && self.library.supertypes(ty).contains(&base) => assigned,
            _ => declared,
        }
    }
}
