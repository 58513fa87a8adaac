//! Java: methods that code calls without naming them: the iterator of a loop, the method of a functional interface, listeners by their
//! annotation. Both directions are here: the methods that a site runs, and the names of the sites that run a method.

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
            ImplicitCallSite::Iteration { val: val @ Val::Instance { .. }, .. } => linker.add_loop_over(targets, val),
            ImplicitCallSite::Iteration { val, .. } => {
                linker.add_iteration_methods(targets, val, &["iterator", "next"])
            }
            ImplicitCallSite::LibraryMethod { receiver, site, .. } => linker.add_for_each(targets, receiver, site),
            _ => {}
        }),
        found_by: Backward::NamesOfSites(|linker, body| linker.names_of_loops(body)),
    },
    ImplicitCall {
        name: "an object is called by a functional interface",
        runs: Forward::Callee,
        found_by: Backward::Instances(|linker, body| linker.implements_callable(body)),
    },
    implicit::OPERATORS,
];

impl Linker<'_> {
    /// Adds the code that a loop over an object of the project runs: its `iterator`, and the methods of that iterator
    /// for each element.
    pub(crate) fn add_loop_over(&self, targets: &mut Targets, val: Val) {
        let Some(name) = self.program.name(words::GONE_THROUGH_BY) else { return };
        self.add_method(targets, val, name);
        let methods = self.attr(val, name);
        let given = self.map(methods, |method| match method {
            Val::Fn { body, env, receiver } => {
                let owner = receiver.is_some().then(|| self.values.single(receiver));
                self.with_override_results(body, owner, self.value_of_call(body, env, owner))
            }
            _ => self.unknown(Why::Result),
        });
        self.add_steps_of_iterator(targets, given);
    }

    /// Adds the methods that an inherited method runs while it iterates over its own object: `pages.forEach(show)`.
    pub(crate) fn add_for_each(&self, targets: &mut Targets, receiver: BoundId, site: SiteRef) {
        let facts = self.program.facts(site.file);
        let called = facts.text(self.program.site(site).name);
        if !receiver.is_some() || !words::GOES_THROUGH_ITSELF.contains(&called) {
            return;
        }
        let own = self.values.single(receiver);
        if matches!(own, Val::Instance { .. }) {
            self.add_loop_over(targets, own);
            self.add_steps_of_iterator(targets, self.known(own));
        }
    }

    /// Adds the methods that a loop calls of iterators for each element.
    pub(crate) fn add_steps_of_iterator(&self, targets: &mut Targets, iterators: Typed) {
        for iterator in self.values.members(iterators.value) {
            if !matches!(iterator, Val::Instance { .. }) {
                continue;
            }
            targets.steps = targets.steps.max(iterators.inferred_steps);
            for name in words::STEPS_OF_ITERATOR.iter().filter_map(|step| self.program.name(step)) {
                self.add_method(targets, iterator, name);
            }
        }
    }

    /// Returns the names of the sites that run a method of an iterator: loops, and methods that go through their own object.
    pub(crate) fn names_of_loops(&self, body: BodyRef) -> Vec<Name> {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let name = facts.text(row.name);
        let is_step = words::STEPS_OF_ITERATOR.contains(&name) || name == words::GONE_THROUGH_BY;
        if !is_step || row.class.is_none() {
            return Vec::new();
        }
        let by = [words::GONE_THROUGH_BY].into_iter().chain(words::GOES_THROUGH_ITSELF.iter().copied());
        by.filter_map(|name| self.program.name(name)).collect()
    }
}
