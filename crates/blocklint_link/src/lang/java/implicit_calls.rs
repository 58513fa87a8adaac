//! Java: implicit calls: the iterator methods of a loop, the abstract method of a functional interface, event
//! listeners. Both directions are here: the methods that a site runs, and the names of the sites that run a method.

use crate::calls::targets::Targets;
use crate::lang::implicit::{self, Backward, Forward, ImplicitCall, ImplicitCallSite};
use crate::lang::java::words;
use crate::linker::{Linker, Typed};
use crate::models::stored_callbacks;
use crate::program::ids::{BodyRef, Name, SiteRef};
use crate::values::value::{BoundId, Val, Why};

/// The implicit calls of Java.
pub(crate) const IMPLICIT_CALLS: &[ImplicitCall] = &[
    ImplicitCall {
        name: "an event runs the methods with an annotation",
        runs: Forward::Targets(|linker, place, targets| {
            if let ImplicitCallSite::LibraryMethod { path, site, .. } = place {
                linker.add_listeners_during(targets, path, site);
            }
        }),
        found_by: Backward::NamesOfSites(|linker, body| linker.names_run_during_annotation(body)),
    },
    stored_callbacks::OVERRIDES,
    ImplicitCall {
        name: "a loop, or a method that goes through its object, runs its iterator",
        runs: Forward::Targets(|linker, place, targets| match place {
            ImplicitCallSite::Iteration { val: Val::Lazy { made, path, .. }, .. } => {
                linker.add_lazy(targets, path, made)
            }
            ImplicitCallSite::Iteration { is_async: true, .. } => {}
            ImplicitCallSite::Iteration { val: val @ Val::Instance { .. }, .. } => {
                linker.add_iteration_over_instance(targets, val)
            }
            ImplicitCallSite::Iteration { val, .. } => {
                linker.add_iteration_methods(targets, val, &["iterator", "next"])
            }
            ImplicitCallSite::LibraryMethod { receiver, site, .. } => {
                linker.add_inherited_iteration(targets, receiver, site)
            }
            _ => {}
        }),
        found_by: Backward::NamesOfSites(|linker, body| linker.names_of_iterating_sites(body)),
    },
    ImplicitCall {
        name: "an object is called by a functional interface",
        runs: Forward::Callee,
        found_by: Backward::Instances(|linker, body| linker.implements_callable(body)),
    },
    implicit::OPERATORS,
];

impl Linker<'_> {
    /// Adds the methods that a loop over an instance of a project's class runs: `iterator`, and the methods of that
    /// iterator for each element.
    pub(crate) fn add_iteration_over_instance(&self, targets: &mut Targets, val: Val) {
        let Some(name) = self.program.name(words::ITERATOR_METHOD) else { return };
        self.add_method(targets, val, name);
        let methods = self.attr(val, name);
        let iterators = self.map(methods, |method| match method {
            Val::Fn { body, env, receiver } => {
                let owner = receiver.is_some().then(|| self.values.single(receiver));
                self.with_override_results(body, owner, self.value_of_call(body, env, owner))
            }
            _ => self.unknown(Why::Result),
        });
        self.add_iterator_methods(targets, iterators);
    }

    /// Adds the methods that an inherited method such as `forEach` runs on its receiver: `pages.forEach(show)`.
    pub(crate) fn add_inherited_iteration(&self, targets: &mut Targets, receiver: BoundId, site: SiteRef) {
        let facts = self.program.facts(site.file);
        let called = facts.text(self.program.site(site).name);
        if !receiver.is_some() || !words::INHERITED_ITERATIONS.contains(&called) {
            return;
        }
        let object = self.values.single(receiver);
        if matches!(object, Val::Instance { .. }) {
            self.add_iteration_over_instance(targets, object);
            self.add_iterator_methods(targets, self.known(object));
        }
    }

    /// Adds the methods that a loop calls on its iterators for each element: `hasNext`, `next`.
    pub(crate) fn add_iterator_methods(&self, targets: &mut Targets, iterators: Typed) {
        for iterator in self.values.members(iterators.value) {
            if !matches!(iterator, Val::Instance { .. }) {
                continue;
            }
            targets.steps = targets.steps.max(iterators.inferred_steps);
            for name in words::ITERATOR_STEPS.iter().filter_map(|step| self.program.name(step)) {
                self.add_method(targets, iterator, name);
            }
        }
    }

    /// Returns the names of the sites that run a method of an iterator: loops, and inherited methods such as `forEach`.
    pub(crate) fn names_of_iterating_sites(&self, body: BodyRef) -> Vec<Name> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let name = facts.text(body_facts.name);
        let is_step = words::ITERATOR_STEPS.contains(&name) || name == words::ITERATOR_METHOD;
        if !is_step || body_facts.class.is_none() {
            return Vec::new();
        }
        let site_names = [words::ITERATOR_METHOD].into_iter().chain(words::INHERITED_ITERATIONS.iter().copied());
        site_names.filter_map(|name| self.program.name(name)).collect()
    }
}
