//! Callers of a callable that is passed as an argument (`run(work)`), or that is the default of a parameter in a call
//! without that argument.

use blocklint_core::{Confidence, Context, Language};
use blocklint_facts::{BodyId, Flow, SiteKind};
use blocklint_link::calls::param_summary::ParamUse;
use blocklint_link::calls::targets::{ArgumentUse, Target};
use blocklint_link::linker::LOW_STEPS;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::values::value::EnvId;

use crate::callers::loop_check::runs_off_loop;
use crate::callers::trail::{Subject, Trail};
use crate::callers::{Caller, CallerKind, CallerSearch, Callers, Node, PASSED_ELSEWHERE};

impl Callers<'_, '_> {
    /// Adds the calls that run the subject because it is the default of a parameter.
    pub(crate) fn add_callers_by_default(&self, subject: Subject, file: FileId, param: u32, search: &mut CallerSearch) {
        let linker = self.linker;
        let facts = linker.program.facts(file);
        let Some((body, index)) = facts.bodies.iter().enumerate().find_map(|(position, body)| {
            let index = param.checked_sub(body.params.start).filter(|index| *index < body.params.len)?;
            Some((file.body_ref(BodyId(position as u32)), index))
        }) else {
            return;
        };
        let default = linker.eval(linker.signature_scope(body), facts.params[param as usize].default);
        if !self.value_contains(subject, default.value) || !linker.summary(body, index).called {
            return;
        }
        for &site in self.call_sites(body).iter() {
            if linker.passed_argument(site, body, index).is_none() {
                search.callers.push(Caller {
                    site,
                    env: EnvId::NONE,
                    arg: None,
                    kind: CallerKind::Runs,
                    with_receiver: false,
                    steps: default.inferred_steps,
                    shared: false,
                });
            }
        }
    }

    /// Adds the callers and trails that follow from an argument of a site which is the subject.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn add_callers_by_argument(
        &self,
        subject: Subject,
        site: SiteRef,
        arg: u32,
        env: EnvId,
        steps: u8,
        trails: &mut Vec<Trail>,
        search: &mut CallerSearch,
    ) {
        let linker = self.linker;
        if !search.passed.insert((site, arg, env)) {
            return;
        }
        let facts = linker.program.facts(site.file);
        let kind = linker.program.site(site).kind;
        let passing = linker.argument_use(site, arg, env);
        let targets = linker.targets(site, env);
        let is_inferred = targets.unknown && kind == SiteKind::Call || passing.assumed;
        let steps = steps.max(targets.steps).saturating_add(u8::from(is_inferred));
        let flow = match subject {
            Subject::Body(node) => linker.program.body(node.body).flow,
            Subject::Row(_) => Flow::Sync,
        };
        // The consumer of an iterator object calls the method that yields its elements (`__next__`).
        let yields_elements = || matches!(subject, Subject::Body(node) if linker.is_iteration_method(node.body));
        let is_call = flow == Flow::Sync && (passing.called || passing.consumed && yields_elements());
        let is_consumed = passing.consumed && matches!(flow, Flow::Generator);
        if is_call || is_consumed {
            search.callers.push(Caller {
                site,
                env,
                arg: Some(arg),
                kind: if is_consumed { CallerKind::Consumes } else { CallerKind::Runs },
                with_receiver: false,
                steps,
                shared: targets.list.len() > 1,
            });
        }
        for &(context, runtime) in &passing.handed {
            if context == Context::EventLoop && flow == Flow::Sync && !linker.is_on_deployed_worker(site) {
                search.callers.push(Caller {
                    site,
                    env,
                    arg: Some(arg),
                    kind: CallerKind::PassesToLoop(runtime),
                    with_receiver: false,
                    steps,
                    shared: targets.list.len() > 1,
                });
            }
        }
        if passing.on_chain && flow == Flow::Sync {
            self.add_callers_on_chain(
                &passing,
                Caller {
                    site,
                    env,
                    arg: Some(arg),
                    kind: CallerKind::PassesToLoop(passing.chain_runtime),
                    with_receiver: false,
                    steps,
                    shared: targets.list.len() > 1,
                },
                search,
            );
        }
        if passing.returned {
            trails.push(Trail::ResultOf(site, env));
        }
        // `Self { job: work }`: the calls of the field run the subject.
        let field = linker.program.args_of(site)[arg as usize].name;
        if facts.language == Language::Rust && kind == SiteKind::New && field.is_some() {
            trails.extend(linker.program.global(site.file, field).map(Trail::Named));
        }
        // Closures of the callee that use the parameter outlive the call.
        for target in &targets.list {
            let Target::Body { body, env: captured, with_receiver, .. } = *target else { continue };
            let Some(index) = linker.param_for(site, arg, body, with_receiver) else { continue };
            let summary = linker.summary(body, index);
            for &sym in &summary.stored {
                if let Some(name) = linker.program.global(body.file, sym) {
                    trails.push(Trail::Named(name));
                }
            }
            if summary.in_closures.is_empty() {
                continue;
            }
            let bound = linker.bind(body, captured, site, env, with_receiver);
            if bound == EnvId::NONE || bound == captured {
                continue;
            }
            for &(closure, param_use) in &summary.in_closures {
                let closure = Node { body: body.file.body_ref(closure), env: bound };
                let mut creators = self.creators.borrow_mut();
                let closure_creators = creators.entry(closure).or_default();
                if !closure_creators.contains(&site) {
                    closure_creators.push(site);
                }
                drop(creators);
                match param_use {
                    ParamUse::Call(inner) | ParamUse::Consume(inner) => {
                        self.add_call(subject, body.file.site_ref(inner), bound, trails, search);
                    }
                    ParamUse::Arg(inner, index) => {
                        let inner = body.file.site_ref(inner);
                        self.add_callers_by_argument(subject, inner, index, bound, steps, trails, search);
                    }
                    ParamUse::Return(_) | ParamUse::Store(_) => {}
                }
            }
        }
    }

    /// Adds the callers of the callable of a reactive operator: the places where the chain is subscribed to.
    fn add_callers_on_chain(&self, passing: &ArgumentUse, caller: Caller, search: &mut CallerSearch) {
        let position = self.linker.resolved_position(&passing.chain);
        if let Some(confidence) = position.root
            && !runs_off_loop(self.linker, caller.site)
        {
            let inferred = u8::from(confidence < Confidence::High);
            search.callers.push(Caller { steps: caller.steps.saturating_add(inferred), ..caller });
        }
        for site in position.drivers {
            let arg = Some(PASSED_ELSEWHERE);
            let inferred = if position.uncertain_drivers.contains(&site) { LOW_STEPS } else { 0 };
            let steps = caller.steps.saturating_add(inferred);
            search.callers.push(Caller { site, env: EnvId::NONE, arg, kind: CallerKind::Runs, steps, ..caller });
        }
    }
}
