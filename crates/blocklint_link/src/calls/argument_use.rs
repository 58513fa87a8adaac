//! Uses of an argument by a call: the call runs it, hands it over, stores it or returns it.

use crate::calls::targets::{Passing, Target};
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, PathId, SiteRef};
use crate::values::value::{EnvId, Val};
use blocklint_core::Language;
use blocklint_facts::{Flow, SiteKind};
use blocklint_models::{Runs, Selector, Via};

/// Steps of a lazy chain that are followed to its end.
const STEPS_OF_CHAIN: u32 = 12;

impl Linker<'_> {
    /// Returns the uses of a call's n-th argument, by the rows and summaries of the call's targets.
    pub fn passing(&self, site: SiteRef, arg: u32, env: EnvId) -> Passing {
        let mut passing = Passing::default();
        let row = self.program.site(site);
        let targets = self.targets(site, env);
        let modelled = targets.list.iter().find_map(|target| match *target {
            Target::Body { body, .. } => self.path_with_handovers(body),
            _ => None,
        });
        if let Some(path) = modelled {
            self.passing_to_row(&mut passing, path, site, arg, env);
            return passing;
        }
        for target in &targets.list {
            match *target {
                Target::Row { path, .. } => self.passing_to_row(&mut passing, path, site, arg, env),
                Target::Body { body, with_receiver, .. } => {
                    self.passing_to_body(&mut passing, body, with_receiver, site, arg);
                }
                Target::Overrides { class, name } => {
                    for &body in self.overrides(class, name).iter().take(8) {
                        let with_receiver = self.program.language(body.file) != Language::Java;
                        self.passing_to_body(&mut passing, body, with_receiver, site, arg);
                    }
                }
            }
        }
        if !passing.called && self.runs_closure_during_call(site, arg, &targets) {
            (passing.called, passing.assumed) = (true, true);
        }
        // A decorator that is not known keeps the decorated function.
        if row.kind == SiteKind::Decorate && (targets.unknown || targets.list.is_empty()) {
            passing.returned = true;
        }
        passing
    }

    fn passing_to_row(&self, passing: &mut Passing, path: PathId, site: SiteRef, arg: u32, env: EnvId) {
        let is_decoration = self.program.site(site).kind == SiteKind::Decorate;
        let handovers = self.handovers_for_call(path, site);
        let value = self.program.args_of(site).get(arg as usize).map(|arg| arg.value);
        let is_async = value.is_some_and(|form| self.is_coroutine_function(self.eval(self.scope_of(site, env), form)));
        let mut is_described = false;
        for row in handovers.iter() {
            let meant = match &row.selector {
                Selector::Argument(argument) => self.is_argument(site, arg, argument),
                // A decorator registers and, unless it wraps, keeps the function.
                Selector::Via(Via::Decorator) => is_decoration && !row.wraps,
                Selector::Via(Via::Override) => false,
            };
            // Of the rows for an argument, the first whose conditions hold counts.
            let is_taken = is_described && matches!(row.selector, Selector::Argument(_));
            if !meant || is_taken || !self.conditions_shown(&row.when, &row.unless, site, env) {
                continue;
            }
            if let Selector::Via(_) = row.selector {
                passing.returned = true;
                continue;
            }
            is_described = true;
            // It is kept, and run by later calls.
            if !row.during.is_empty() {
                continue;
            }
            let runs = self.handover_context(row.row, site, is_async);
            let runtime = row.runtime;
            if row.wraps {
                passing.returned = true;
                if let Runs::In(context) = runs {
                    passing.wrapped = Some((context, runtime));
                }
                continue;
            }
            match runs {
                Runs::Caller => passing.called |= !self.is_never_consumed(site, STEPS_OF_CHAIN),
                Runs::In(context) => passing.handed.push((context, runtime)),
                Runs::Chain => {
                    passing.on_chain = true;
                    passing.chain_runtime = runtime;
                    passing.chain.merge(&self.chain_position(site));
                }
            }
        }
        passing.returned |= self.result_wraps_argument(path, arg) || self.makes_context_manager(path);
        let calls = self.library.calls(path);
        let consumes = calls.with(|row| row.consumes.is_some()).any(|row| {
            row.consumes.as_ref().is_some_and(|argument| self.is_argument(site, arg, argument))
                && self.conditions_shown(&row.when, &row.unless, site, env)
        });
        passing.consumed |= consumes;
        // A lazy result without an effect of its own iterates over its arguments.
        passing.returned |= calls.effect().any(|row| row.lazy && row.held().is_none());
        if is_decoration && !is_described {
            passing.returned = true;
        }
    }

    /// True if a call only adds a step to a lazy chain that no call consumes, so that its callable never runs (Java).
    fn is_never_consumed(&self, site: SiteRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let (facts, site_id) = self.program.facts_and_id(site);
        if facts.language != Language::Java || !self.program.uses_of_result(site).is_empty() {
            return false;
        }
        let targets = self.targets(site, EnvId::NONE);
        let is_lazy = |target: &Target| match *target {
            Target::Row { path, .. } => self.library.calls(path).effect().any(|row| row.lazy && row.held().is_none()),
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

    fn passing_to_body(&self, passing: &mut Passing, body: BodyRef, with_receiver: bool, site: SiteRef, arg: u32) {
        let Some(index) = self.param_for(site, arg, body, with_receiver) else { return };
        let summary = self.summary(body, index);
        passing.called |= summary.called;
        passing.consumed |= summary.consumed;
        passing.returned |= summary.returned;
        passing.handed.extend(summary.handed.iter().copied());
        if summary.on_chain {
            passing.on_chain = true;
            passing.chain_runtime = summary.chain_runtime;
            let mut chain = summary.chain.clone();
            // The chain that the function returns goes where this call's result goes.
            if let Some(at) = chain.open.iter().position(|&open| open == body) {
                chain.open.swap_remove(at);
                chain.merge(&self.ends_of_site(site));
            }
            passing.chain.merge(&chain);
        }
    }

    /// True if a value is a coroutine function.
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
