//! Collections that an iterator is collected into, where a type names them: `collect::<Result<Vec<_>, _>>()`, `let
//! names: HashMap<_, _> = ….collect()`.

use crate::lang;
use blocklint_facts::{Form, FormId, SiteKind};

use crate::linker::{Linker, Typed};
use crate::program::ids::SiteRef;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The method that collects (<https://doc.rust-lang.org/std/iter/trait.Iterator.html#method.collect>).
const COLLECT: &str = "std::iter::Iterator::collect";

/// The collection of a list where no type names one.
const LIST: &str = "std::vec::Vec";

/// The type that holds a value or none.
const OPTION: &str = "std::option::Option";

/// Types in each other: `Result<Option<Vec<_>>, _>`.
const DEEPEST: u32 = 4;

impl Linker<'_> {
    /// Returns the result of `collect::<T>()` on an iterator; `None` for another method, or where no type is written
    /// there.
    pub(crate) fn collected(&self, path: &str, receiver: Val, site: SiteRef, env: EnvId) -> Option<Typed> {
        if path != COLLECT {
            return None;
        }
        let facts = self.program.facts(site.file);
        let Form::Subscript(_, wanted) = facts.form(self.program.site(site).callee) else { return None };
        let wanted = self.annotation(self.scope_of(site, env), wanted);
        Some(self.collected_as(wanted, self.element(receiver), DEEPEST))
    }

    /// Returns the result of `collect()` where a `let` declares its type and leaves parts of it out.
    pub(crate) fn collected_into(&self, scope: Scope, declared: Typed, value: FormId) -> Option<Typed> {
        let facts = self.program.facts(scope.file);
        let Form::Result(call) = facts.form(value) else { return None };
        let row = facts.site(call);
        let Form::Attr(base, name) = facts.form(row.callee) else { return None };
        if row.kind != SiteKind::Call || !COLLECT.ends_with(facts.text(name)) {
            return None;
        }
        let iterator = self.eval(scope, base);
        let element = self.map(iterator, |val| self.element(val));
        (!self.values.is_unknown(element.value)).then(|| self.collected_as(declared, element, DEEPEST))
    }

    /// Returns an `Option` of the type argument of a call of which nothing else is known, because the call may return
    /// that type or none.
    pub(crate) fn written_in_call(&self, site: SiteRef, env: EnvId) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        let Form::Subscript(method, wanted) = facts.form(self.program.site(site).callee) else { return None };
        let (Form::Attr(..) | Form::Path(..), false) =
            (facts.form(method), matches!(facts.form(wanted), Form::Display(..)))
        else {
            return None;
        };
        let wanted = self.annotation(self.scope_of(site, env), wanted);
        if self.values.is_unknown(wanted.value) {
            return None;
        }
        let ty = self.library.path(blocklint_core::Language::Rust, OPTION);
        let value = self.values.one(Val::Library { ty, args: self.values.args(&[wanted.value]), made: None });
        Some(self.inferred(Typed { value, inferred_steps: wanted.inferred_steps }))
    }

    fn collected_as(&self, wanted: Typed, element: Typed, depth: u32) -> Typed {
        let language = blocklint_core::Language::Rust;
        let list = |element: Typed| {
            let ty = self.library.path(language, LIST);
            let value = self.values.one(Val::Library { ty, args: self.values.args(&[element.value]), made: None });
            Typed { value, inferred_steps: element.inferred_steps }
        };
        let Some(depth) = depth.checked_sub(1) else { return list(element) };
        let [Val::Library { ty, args, made }] = self.values.members(wanted.value)[..] else { return list(element) };
        let mut parts = self.values.list(args).to_vec();
        let inner = |at: usize| match self.values.nth(args, at) {
            Some(value) => Typed { value, inferred_steps: 0 },
            None => self.unknown(crate::values::value::Why::Expression),
        };
        if lang::rust::names::is_fallible(&self.library.text(ty)) {
            let given = self.map(element, |val| self.success_value(val));
            let kept = self.collected_as(inner(0), given, depth);
            match parts.first_mut() {
                Some(first) => *first = kept.value,
                None => parts.push(kept.value),
            }
            let value = self.values.one(Val::Library { ty, args: self.values.args(&parts), made });
            return Typed { value, inferred_steps: kept.inferred_steps };
        }
        let params = self.library.ty(ty).map_or(1, |rows| rows.params().len());
        let given: Vec<Typed> = match params {
            0 => return wanted,
            2 => (0..2).map(|at| self.map(element, |val| self.tuple_part(val, at))).collect(),
            _ => vec![element],
        };
        let filled: Vec<_> = given
            .iter()
            .enumerate()
            .map(|(at, given)| match parts.get(at) {
                Some(&said) if !self.values.is_unknown(said) => said,
                _ => given.value,
            })
            .collect();
        let value = self.values.one(Val::Library { ty, args: self.values.args(&filled), made });
        Typed { value, inferred_steps: element.inferred_steps }
    }
}
