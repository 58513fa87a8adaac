//! Java: values that are more exact than their declared type: a field or a result whose only value is of a derived type, a field declared by
//! a type parameter of its class, a lambda in a functional interface.

use blocklint_core::Language;
use blocklint_facts::{Assign, AssignKind, BodyKind, ExitKind, Form, FormId, SiteKind, VarId, VarKind};
use blocklint_models::Uses;

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val, ValueId};

/// The number of returns of one body that are looked at.
const MOST_EXITS: usize = 8;

impl Linker<'_> {
    /// Returns the assigned value of a variable if it is more exact than the declared type, else the declared type.
    pub(crate) fn declared_or_value(&self, scope: Scope, declared: Typed, row: &Assign) -> Typed {
        let [base] = self.values.members(declared.value)[..] else { return declared };
        let given = self.eval(scope, row.value);
        let [val] = self.values.members(given.value)[..] else {
            // `Supplier<String> chosen = isQuick ? this::quick : this::slow;`
            return self.with_callables(declared, || vec![given]);
        };
        match (base, val) {
            (Val::Instance { class: base, .. }, Val::Instance { class, .. })
                if class != base && self.is_subclass(class, base) =>
            {
                given
            }
            // The library's class that the value is made of: `InputStream in = new ByteArrayInputStream(bytes)`.
            (Val::Library { ty: base, args: of_base, .. }, Val::Library { ty, args, made })
                if self.library.is_subtype(ty, base) =>
            {
                let is_without_callers = self.values.list(args).iter().all(|&arg| self.values.is_unknown(arg));
                let args = if is_without_callers { of_base } else { args };
                Typed { value: self.values.one(Val::Library { ty, args, made }), ..given }
            }
            // A lambda for an interface of the project: its call is a call of the lambda.
            (Val::Instance { class, .. }, Val::Fn { .. }) if self.functional_method(class).is_some() => given,
            (Val::Library { ty, .. }, Val::Fn { .. }) if self.is_functional_type(ty) => given,
            (Val::Library { ty, .. }, Val::Instance { .. })
                if self.is_functional_type(ty) && !self.callables_of(val).is_empty() =>
            {
                given
            }
            // `Stream<Path> all = Files.list(folder)`: the lazy result runs where it is consumed.
            (Val::Library { .. }, Val::Lazy { .. }) => given,
            _ => declared,
        }
    }

    /// Returns what a field is on a receiver where its class declares it by one of its type parameters: `R repository` of
    /// `Users extends Base<UserRepository>`.
    pub(crate) fn as_type_argument(&self, owner: ClassRef, var: VarId, receiver: Val) -> Option<Typed> {
        let facts = self.program.facts(owner.file);
        let params = self.program.class(owner).type_params;
        if facts.list(params).is_empty() || !matches!(receiver, Val::Instance { .. }) {
            return None;
        }
        // A field and the methods of its name share a variable.
        if facts.assigns_of(var).any(|row| row.kind == AssignKind::Definition) {
            return None;
        }
        let declared = facts.assigns_of(var).find(|row| row.annotation.is_some() && row.value.is_none())?;
        let Form::Name(sym) = facts.form(declared.annotation) else { return None };
        let names_it = facts.list(params).iter().any(|&param| match facts.form(param) {
            Form::Cast(name, _) => facts.form(name) == Form::Str(sym),
            name => name == Form::Str(sym),
        });
        if !names_it {
            return None;
        }
        let scope = Scope { file: owner.file, at: declared.at, env: EnvId::NONE };
        let typed = self.annotation_with_self(scope, declared.annotation, Some(receiver));
        (!self.values.is_unknown(typed.value)).then_some(typed)
    }

    /// Returns what a body returns by its only `return`, where that is of a library's type derived from the declared
    /// one: the type of a stream or directory shows whether it is a file. By any of them what a lazy value holds back.
    pub(crate) fn narrowed_return(&self, body: BodyRef, declared: Typed) -> Typed {
        let (facts, body_id) = self.program.facts_and_id(body);
        let only = |value: ValueId| match self.values.members(value)[..] {
            [Val::Library { ty, .. }] => Some(ty),
            _ => None,
        };
        let Some(of) = only(declared.value) else { return self.made_by(body, declared).unwrap_or(declared) };
        // Only new objects, locals and lazy values are evaluated. Results of other methods keep their declared types,
        // because methods that return each other's results may go round in a cycle.
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
        let given: Vec<Option<Typed>> = exits
            .take(MOST_EXITS)
            .map(|exit| {
                let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                is_plain(exit.value).then(|| self.eval(scope, exit.value))
            })
            .collect();
        if let [Some(given)] = given[..]
            && only(given.value).is_some_and(|ty| ty != of && self.library.supertypes(ty).contains(&of))
        {
            return given;
        }
        // Also beside an empty one, where opening it failed.
        let members = given.iter().flatten().flat_map(|typed| self.values.members(typed.value));
        let held_back: Vec<Val> = members.filter(|val| matches!(val, Val::Lazy { .. })).collect();
        if held_back.is_empty() {
            return declared;
        }
        Typed { value: self.values.union(&held_back), ..declared }
    }

    /// Returns the objects that a method makes and returns if its declared result is an interface or base of the
    /// project, and no override in a subclass returns another one: `Source source() { return new Remote(); }`.
    fn made_by(&self, body: BodyRef, declared: Typed) -> Option<Typed> {
        let facts = self.program.facts(body.file);
        let [Val::Instance { class: base, .. }] = self.values.members(declared.value)[..] else { return None };
        let row = self.program.body(body);
        let own = body.file.class_ref(row.class.get()?);
        let name = self.program.global(body.file, row.name)?;
        if self.direct_subclasses(base).is_empty() || !self.overrides(own, name).is_empty() {
            return None;
        }
        let mut found: Vec<Val> = Vec::new();
        let exits = self.program.exits_in(body).filter(|exit| exit.kind == ExitKind::Return);
        for (at, exit) in exits.enumerate() {
            let made = match facts.form(exit.value) {
                Form::None => continue,
                Form::Cast(inner, _) => facts.form(inner),
                made => made,
            };
            let Form::Result(site) = made else { return None };
            if at >= MOST_EXITS || facts.site(site).kind != SiteKind::New {
                return None;
            }
            let made = self.result(body.file.site_ref(site), EnvId::NONE);
            for val in self.values.members(made.value) {
                match val {
                    Val::Instance { class, .. } if self.is_subclass(class, base) => found.push(val),
                    _ => return None,
                }
            }
        }
        (!found.is_empty()).then(|| Typed { value: self.values.union(&found), ..declared })
    }

    /// Returns what a field is given by its only assignment, `this.directory = open()`, where that is of a library's type derived
    /// from the declared one.
    pub(crate) fn narrower_field(&self, var: VarRef, declared: Typed) -> Typed {
        let facts = self.program.facts(var.file);
        let only = |value: ValueId| match self.values.members(value)[..] {
            [Val::Library { ty, .. }] => Some(ty),
            _ => None,
        };
        if facts.body(self.program.var(var).body).kind != BodyKind::Class {
            return declared;
        }
        let Some(of) = only(declared.value) else { return declared };
        let [(at, value)] = self.values_assigned_to(var)[..] else { return declared };
        if !matches!(facts.form(value), Form::Result(_)) {
            return declared;
        }
        let given = self.eval(Scope { file: var.file, at, env: EnvId::NONE }, value);
        match only(given.value) {
            Some(ty) if ty != of && self.library.supertypes(ty).contains(&of) => given,
            _ => declared,
        }
    }
}
