//! The use of an argument by a call: the call runs the argument, hands it over to another thread, iterates over it or
//! returns it. The uses of a parameter within a body are in `param_summary.rs`.

use crate::calls::targets::{ArgumentUse, Target};
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, PathId, SiteRef};
use crate::values::value::{EnvId, Val};
use blocklint_core::Language;
use blocklint_facts::{Flow, SiteKind};
use blocklint_models::{Runs, Selector, Via};

/// The most overrides of one method that are searched.
const MAX_OVERRIDES: usize = 8;

/// Maximal steps of a lazy chain that are followed to its end.
const MAX_CHAIN_STEPS: u32 = 12;

impl Linker<'_> {
    /// Returns the use of a call's n-th argument, by the model rows and parameter summaries of the call's targets.
    pub fn argument_use(&self, site: SiteRef, arg: u32, env: EnvId) -> ArgumentUse {
        let mut argument_use = ArgumentUse::default();
        let site_facts = self.program.site(site);
        let targets = self.targets(site, env);
        let modelled = targets.list.iter().find_map(|target| match *target {
            Target::Body { body, .. } => self.path_with_handovers(body),
            _ => None,
        });
        if let Some(path) = modelled {
            self.add_use_by_row(&mut argument_use, path, site, arg, env);
            return argument_use;
        }
        for target in &targets.list {
            match *target {
                Target::Row { path, .. } => self.add_use_by_row(&mut argument_use, path, site, arg, env),
                Target::Body { body, with_receiver, .. } => {
                    self.add_use_by_body(&mut argument_use, body, with_receiver, site, arg);
                }
                Target::Overrides { class, name } => {
                    for &body in self.overrides(class, name).iter().take(MAX_OVERRIDES) {
                        let with_receiver = self.program.language(body.file) != Language::Java;
                        self.add_use_by_body(&mut argument_use, body, with_receiver, site, arg);
                    }
                }
            }
        }
        if !argument_use.called && self.runs_closure_during_call(site, arg, &targets) {
            (argument_use.called, argument_use.assumed) = (true, true);
        }
        // An unknown decorator is assumed to return the decorated function.
        if site_facts.kind == SiteKind::Decorate && (targets.unknown || targets.list.is_empty()) {
            argument_use.returned = true;
        }
        argument_use
    }

    /// Adds the use of an argument by the model rows of a library call.
    fn add_use_by_row(&self, argument_use: &mut ArgumentUse, path: PathId, site: SiteRef, arg: u32, env: EnvId) {
        let is_decoration = self.program.site(site).kind == SiteKind::Decorate;
        let handovers = self.handovers_for_call(path, site);
        let value = self.program.args_of(site).get(arg as usize).map(|arg| arg.value);
        let is_async = value.is_some_and(|form| self.is_coroutine_function(self.eval(self.scope_of(site, env), form)));
        let mut is_described = false;
        for matched in handovers.iter() {
            let is_selected = match &matched.selector {
                Selector::Argument(argument) => self.is_argument(site, arg, argument),
                // A decorator registers the function and returns it, unless it wraps the function.
                Selector::Via(Via::Decorator) => is_decoration && !matched.wraps,
                Selector::Via(Via::Override) => false,
            };
            // Of the rows for an argument, the first whose conditions hold decides.
            let is_decided = is_described && matches!(matched.selector, Selector::Argument(_));
            if !is_selected || is_decided || !self.conditions_hold(&matched.when, &matched.unless, site, env) {
                continue;
            }
            if let Selector::Via(_) = matched.selector {
                argument_use.returned = true;
                continue;
            }
            is_described = true;
            // The callable is stored, and later calls run it.
            if !matched.during.is_empty() {
                continue;
            }
            let runs = self.handover_context(matched.row, site, is_async);
            let runtime = matched.runtime;
            if matched.wraps {
                argument_use.returned = true;
                if let Runs::In(context) = runs {
                    argument_use.wrapped = Some((context, runtime));
                }
                continue;
            }
            match runs {
                Runs::Caller => argument_use.called |= !self.is_never_consumed(site, MAX_CHAIN_STEPS),
                Runs::In(context) => argument_use.handed.push((context, runtime)),
                Runs::Chain => {
                    argument_use.on_chain = true;
                    argument_use.chain_runtime = runtime;
                    argument_use.chain.merge(&self.chain_position(site));
                }
            }
        }
        argument_use.returned |= self.result_wraps_argument(path, arg) || self.makes_context_manager(path);
        let calls = self.library.calls(path);
        let consumes = calls.with(|row| row.consumes.is_some()).any(|row| {
            row.consumes.as_ref().is_some_and(|argument| self.is_argument(site, arg, argument))
                && self.conditions_hold(&row.when, &row.unless, site, env)
        });
        argument_use.consumed |= consumes;
        // A lazy result without an effect of its own iterates over its arguments: `map(parse, lines)`.
        argument_use.returned |= calls.effect().any(|row| row.lazy && row.held_effect().is_none());
        if is_decoration && !is_described {
            argument_use.returned = true;
        }
    }

    /// True if a call adds a step to a lazy chain that no call consumes, so that its callable never runs:
    /// `lines.map(parse);` (Java).
    fn is_never_consumed(&self, site: SiteRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let (facts, site_id) = self.program.facts_and_id(site);
        if facts.language != Language::Java || !self.program.uses_of_result(site).is_empty() {
            return false;
        }
        let targets = self.targets(site, EnvId::NONE);
        let is_lazy = |target: &Target| match *target {
            Target::Row { path, .. } => {
                self.library.calls(path).effect().any(|row| row.lazy && row.held_effect().is_none())
            }
            Target::Body { .. } | Target::Overrides { .. } => false,
        };
        !targets.unknown
            && !targets.list.is_empty()
            && targets.list.iter().all(is_lazy)
            && self
                .operators_of(site.file)
                .on_result(site_id)
                .all(|next| self.is_never_consumed(site.file.site_ref(next), depth))
    }

    /// Adds the use of an argument by a body, from the summary of the parameter.
    fn add_use_by_body(
        &self,
        argument_use: &mut ArgumentUse,
        body: BodyRef,
        with_receiver: bool,
        site: SiteRef,
        arg: u32,
    ) {
        let Some(index) = self.param_for(site, arg, body, with_receiver) else { return };
        let summary = self.summary(body, index);
        argument_use.called |= summary.called;
        argument_use.consumed |= summary.consumed;
        argument_use.returned |= summary.returned;
        argument_use.handed.extend(summary.handed.iter().copied());
        if summary.on_chain {
            argument_use.on_chain = true;
            argument_use.chain_runtime = summary.chain_runtime;
            let mut chain = summary.chain.clone();
            // The function returns the chain, so the uses of this call's result continue it.
            if let Some(index) = chain.open.iter().position(|&open| open == body) {
                chain.open.swap_remove(index);
                chain.merge(&self.downstream_of_site(site));
            }
            argument_use.chain.merge(&chain);
        }
    }

    /// True if a member of a value is a coroutine function or asynchronous generator function.
    pub(crate) fn is_coroutine_function(&self, typed: Typed) -> bool {
        self.values.members(typed.value).iter().any(|val| match *val {
            Val::Fn { body, .. } => {
                matches!(self.program.body(body).flow, Flow::Coroutine | Flow::AsyncGenerator)
            }
            Val::Partial { inner, .. } => match self.values.single(inner) {
                Val::Fn { body, .. } => self.program.body(body).flow == Flow::Coroutine,
                _ => false,
            },
            _ => false,
        })
    }
}
