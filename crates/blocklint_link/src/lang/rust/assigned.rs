//! Rust: values of variables: items of one name under different `#[cfg]`, and declared types with inferred arguments
//! (`Vec<_>`).

use blocklint_facts::{Assign, AssignId, BodyFlags, Form, FormId, VarId};

use crate::linker::{Linker, Typed};
use crate::program::ids::PathId;
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, Val, ValueId};

impl Linker<'_> {
    /// Returns the declared type of a variable, completed by its value: with the function that a function pointer
    /// holds, or with inferred type arguments: `const JOB: fn() = work;`, `let all: Vec<_> = stores();`.
    pub(crate) fn declared_with_inferred_parts(&self, scope: Scope, declared: Typed, row: &Assign) -> Option<Typed> {
        let [base] = self.values.members(declared.value)[..] else { return None };
        if self.is_callable_type(declared) {
            return Some(self.with_callables(declared, || vec![self.eval(scope, row.value)]));
        }
        match base {
            Val::Library { ty, args, .. } if self.values.list(args).iter().any(|&arg| self.values.is_unknown(arg)) => {
                let collected = self.collected_into(scope, declared, row.value);
                Some(collected.unwrap_or_else(|| self.infer_arguments(scope, declared, (ty, args), row.value)))
            }
            _ => None,
        }
    }

    /// Returns all items with one name, of which `#[cfg]` chooses one. Functions of tests are left out if other items remain.
    pub(crate) fn items_under_cfg(&self, scope: Scope, id: VarId) -> Typed {
        let facts = self.program.facts(scope.file);
        let in_test = |assign: AssignId| match facts.form(facts.assign(assign).value) {
            Form::Callable(body) => facts.body(body).flags.has(BodyFlags::TEST),
            _ => false,
        };
        let assigns: Vec<AssignId> = facts.assign_ids_of(id).collect();
        let outside: Vec<AssignId> = assigns.iter().copied().filter(|&assign| !in_test(assign)).collect();
        let candidates = if outside.is_empty() { &assigns } else { &outside };
        let parts: Vec<Typed> = candidates.iter().map(|&assign| self.assigned_value(scope, assign)).collect();
        let joined = self.join(&parts);
        let differ = self.values.members(joined.value).iter().filter(|val| matches!(val, Val::Fn { .. })).count() > 1;
        if differ { self.inferred(joined) } else { joined }
    }

    /// Returns a declared type with its `_` arguments taken from the value: `let all: Vec<_> = stores()`.
    fn infer_arguments(&self, scope: Scope, declared: Typed, (ty, args): (PathId, ArgsId), value: FormId) -> Typed {
        let assigned = self.as_value(self.eval(scope, value));
        let same_type = match self.values.members(assigned.value)[..] {
            [Val::Library { ty: value_type, args: value_args, made }] if value_type == ty => Some((value_args, made)),
            _ => None,
        };
        let Some((value_args, made)) = same_type else {
            // `let all: Vec<_> = paths.collect()`: the argument is the element of the iterator.
            let element = self.map(assigned, |val| self.element(val));
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
            .map(
                |(index, &arg)| {
                    if self.values.is_unknown(arg) { self.values.nth(value_args, index).unwrap_or(arg) } else { arg }
                },
            )
            .collect();
        Typed { value: self.values.one(Val::Library { ty, args: self.values.args(&filled), made }), ..assigned }
    }
}
