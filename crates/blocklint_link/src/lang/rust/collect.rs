//! Rust: results of `collect()` by the expected type: `collect::<Result<Vec<_>, _>>()`,
//! `let names: HashMap<_, _> = ….collect()`.

use crate::lang;
use blocklint_facts::{Form, FormId, SiteKind};

use crate::linker::{Linker, Typed};
use crate::program::ids::SiteRef;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val, Why};

/// The method that collects (<https://doc.rust-lang.org/std/iter/trait.Iterator.html#method.collect>).
const COLLECT: &str = "std::iter::Iterator::collect";

/// The collection if no type is written.
const LIST: &str = "std::vec::Vec";

/// The path of `Option`.
const OPTION: &str = "std::option::Option";

/// The number of nested types that are followed: `Result<Option<Vec<_>>, _>`.
const DEEPEST: u32 = 4;

impl Linker<'_> {
    /// Returns the result of `collect::<T>()` on an iterator; `None` for another method, or if no type is written
    /// there.
    pub(crate) fn collect_result(&self, path: &str, receiver: Val, site: SiteRef, env: EnvId) -> Option<Typed> {
        if path != COLLECT {
            return None;
        }
        let facts = self.program.facts(site.file);
        let Form::Subscript(_, wanted) = facts.form(self.program.site(site).callee) else { return None };
        let wanted = self.annotation(self.scope_of(site, env), wanted);
        Some(self.collected_as(wanted, self.element(receiver), DEEPEST))
    }

    /// Returns the result of `collect()` with the type that a `let` declares, where `_` is inferred.
    pub(crate) fn collected_into(&self, scope: Scope, declared: Typed, value: FormId) -> Option<Typed> {
        let facts = self.program.facts(scope.file);
        let Form::Result(call) = facts.form(value) else { return None };
        let site_facts = facts.site(call);
        let Form::Attr(base, name) = facts.form(site_facts.callee) else { return None };
        if site_facts.kind != SiteKind::Call || !COLLECT.ends_with(facts.text(name)) {
            return None;
        }
        let iterator = self.eval(scope, base);
        let element = self.map(iterator, |val| self.element(val));
        (!self.values.is_unknown(element.value)).then(|| self.collected_as(declared, element, DEEPEST))
    }

    /// Returns an `Option` of the type argument of a call with an unknown result, because the call may return that type
    /// or an option of it: `request.app_data::<Data<App>>()`.
    pub(crate) fn option_of_type_argument(&self, site: SiteRef, env: EnvId) -> Option<Typed> {
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

    /// Returns the collection of a wanted type with the elements of an iterator.
    fn collected_as(&self, wanted: Typed, element: Typed, depth: u32) -> Typed {
        let language = blocklint_core::Language::Rust;
        let list_of = |element: Typed| {
            let ty = self.library.path(language, LIST);
            let value = self.values.one(Val::Library { ty, args: self.values.args(&[element.value]), made: None });
            Typed { value, inferred_steps: element.inferred_steps }
        };
        let Some(depth) = depth.checked_sub(1) else { return list_of(element) };
        let [Val::Library { ty, args, made }] = self.values.members(wanted.value)[..] else { return list_of(element) };
        let mut parts = self.values.list(args).to_vec();
        let type_argument = |index: usize| match self.values.nth(args, index) {
            Some(value) => Typed { value, inferred_steps: 0 },
            None => self.unknown(Why::Expression),
        };
        if lang::rust::names::is_fallible(&self.library.text(ty)) {
            let success = self.map(element, |val| self.success_value(val));
            let collected = self.collected_as(type_argument(0), success, depth);
            match parts.first_mut() {
                Some(first) => *first = collected.value,
                None => parts.push(collected.value),
            }
            let value = self.values.one(Val::Library { ty, args: self.values.args(&parts), made });
            return Typed { value, inferred_steps: collected.inferred_steps };
        }
        let params = self.library.ty(ty).map_or(1, |rows| rows.params().len());
        let elements: Vec<Typed> = match params {
            0 => return wanted,
            2 => (0..2).map(|index| self.map(element, |val| self.tuple_part(val, index))).collect(),
            _ => vec![element],
        };
        let filled: Vec<_> = elements
            .iter()
            .enumerate()
            .map(|(index, element)| match parts.get(index) {
                Some(&written) if !self.values.is_unknown(written) => written,
                _ => element.value,
            })
            .collect();
        let value = self.values.one(Val::Library { ty, args: self.values.args(&filled), made });
        Typed { value, inferred_steps: element.inferred_steps }
    }
}
