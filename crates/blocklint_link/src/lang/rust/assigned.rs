//! Rust: values of variables: items that `#[cfg]` chooses of, and declared types whose arguments are inferred from the value.

use blocklint_facts::{Assign, AssignId, Form, FormId, VarId};

use crate::linker::{Linker, Typed};
use crate::program::ids::PathId;
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, Val, ValueId};

impl Linker<'_> {
    /// Returns the declared type of a variable with the function that it holds, or with the type arguments that its value has:
    /// `const JOB: fn() = work;`, `let all: Vec<_> = stores();`.
    pub(crate) fn declared_with_value(&self, scope: Scope, declared: Typed, row: &Assign) -> Option<Typed> {
        let [base] = self.values.members(declared.value)[..] else { return None };
        if self.is_callable_type(declared) {
            return Some(self.with_callables(declared, || vec![self.eval(scope, row.value)]));
        }
        match base {
            Val::Library { ty, args, .. } if self.values.list(args).iter().any(|&arg| self.values.is_unknown(arg)) => {
                let collected = self.collected_into(scope, declared, row.value);
                Some(collected.unwrap_or_else(|| self.arguments_filled(scope, declared, (ty, args), row.value)))
            }
            _ => None,
        }
    }

    /// Returns the items of one name, of which `#[cfg]` chooses one: all of them, where more than one is no test's.
    pub(crate) fn rust_twins(&self, scope: Scope, id: VarId) -> Typed {
        let facts = self.program.facts(scope.file);
        let in_test = |assign: AssignId| match facts.form(facts.assign(assign).value) {
            Form::Callable(body) => facts.body(body).flags.has(blocklint_facts::BodyFlags::TEST),
            _ => false,
        };
        let all: Vec<AssignId> = facts.assign_ids_of(id).collect();
        let outside: Vec<AssignId> = all.iter().copied().filter(|&assign| !in_test(assign)).collect();
        let meant = if outside.is_empty() { &all } else { &outside };
        let parts: Vec<Typed> = meant.iter().map(|&assign| self.assigned_value(scope, assign)).collect();
        let joined = self.join(&parts);
        let differ = self.values.members(joined.value).iter().filter(|val| matches!(val, Val::Fn { .. })).count() > 1;
        if differ { self.inferred(joined) } else { joined }
    }

    /// Returns a declared type with the arguments that it leaves to be inferred: `let all: Vec<_> = stores()`.
    fn arguments_filled(&self, scope: Scope, declared: Typed, of: (PathId, ArgsId), value: FormId) -> Typed {
        let (ty, args) = of;
        let given = self.as_value(self.eval(scope, value));
        let of_same_type = match self.values.members(given.value)[..] {
            [Val::Library { ty: other, args: known, made }] if other == ty => Some((known, made)),
            _ => None,
        };
        let Some((known, made)) = of_same_type else {
            // `let all: Vec<_> = paths.collect()`: the elements that were iterated.
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
}
