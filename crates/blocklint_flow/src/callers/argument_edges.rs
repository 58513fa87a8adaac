//! Callers of a callable that is passed as an argument, or that is the default of a parameter in a call which passes none.

use blocklint_core::{Context, Language};
use blocklint_facts::{Flow, SiteKind};
use blocklint_link::calls::param_summary::ParamUse;
use blocklint_link::calls::targets::Target;
use blocklint_link::linker::LOW_STEPS;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::values::value::EnvId;

use crate::callers::loop_check::off_the_loop;
use crate::callers::trail::{Subject, Trail};
use crate::callers::{Caller, CallerKind, Callers, FoundCallers, NOT_AT_THE_SITE, Node};

impl Callers<'_, '_> {
    /// Adds the callers for which the subject is the default of a parameter.
    pub(crate) fn default(&self, subject: Subject, file: FileId, param: u32, found: &mut FoundCallers) {
        let linker = self.linker;
        let facts = linker.program.facts(file);
        let Some((body, index)) = facts.bodies.iter().enumerate().find_map(|(at, body)| {
            let index = param.checked_sub(body.params.start).filter(|index| *index < body.params.len)?;
            Some((file.body_ref(blocklint_facts::BodyId(at as u32)), index))
        }) else {
            return;
        };
        let default = linker.eval(linker.signature_scope(body), facts.params[param as usize].default);
        if !self.value_contains(subject, default.value) || !linker.summary(body, index).called {
            return;
        }
        for &site in self.call_sites(body).iter() {
            if linker.passed_argument(site, body, index).is_none() {
                found.callers.push(Caller {
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

    /// The subject is the n-th argument of a site.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn argument(
        &self,
        subject: Subject,
        site: SiteRef,
        arg: u32,
        env: EnvId,
        steps: u8,
        trails: &mut Vec<Trail>,
        found: &mut FoundCallers,
    ) {
        let linker = self.linker;
        if !found.passed.insert((site, arg, env)) {
            return;
        }
        let facts = linker.program.facts(site.file);
        let kind = linker.program.site(site).kind;
        let passing = linker.argument_use(site, arg, env);
        let targets = linker.targets(site, env);
        let inferred = targets.unknown && kind == SiteKind::Call || passing.assumed;
        let steps = steps.max(targets.steps).saturating_add(u8::from(inferred));
        let flow = match subject {
            Subject::Body(node) => linker.program.body(node.body).flow,
            Subject::Row(_) => Flow::Sync,
        };
        // An iterator of the project that is consumed.
        let gives_elements = || matches!(subject, Subject::Body(node) if linker.is_of_iteration(node.body));
        let is_call = flow == Flow::Sync && (passing.called || passing.consumed && gives_elements());
        let is_consumed = passing.consumed && matches!(flow, Flow::Generator);
        if is_call || is_consumed {
            found.callers.push(Caller {
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
            if context == Context::EventLoop && flow == Flow::Sync && !linker.stands_with_workers(site) {
                found.callers.push(Caller {
                    site,
                    env,
                    arg: Some(arg),
                    kind: CallerKind::HandsToLoop(runtime),
                    with_receiver: false,
                    steps,
                    shared: targets.list.len() > 1,
                });
            }
        }
        if passing.on_chain && flow == Flow::Sync {
            self.on_chain(
                &passing,
                Caller {
                    site,
                    env,
                    arg: Some(arg),
                    kind: CallerKind::HandsToLoop(passing.chain_runtime),
                    with_receiver: false,
                    steps,
                    shared: targets.list.len() > 1,
                },
                found,
            );
        }
        if passing.returned {
            trails.push(Trail::ResultOf(site, env));
        }
        // `Self { job: work }`: who calls the field.
        let given = linker.program.args_of(site)[arg as usize].name;
        if facts.language == Language::Rust && kind == SiteKind::New && given.is_some() {
            trails.extend(linker.program.global(site.file, given).map(Trail::Named));
        }
        // Closures of the callee that use it outlive the call.
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
            for &(inside, of) in &summary.in_closures {
                let closure = Node { body: body.file.body_ref(inside), env: bound };
                let mut creators = self.creators.borrow_mut();
                let list = creators.entry(closure).or_default();
                if !list.contains(&site) {
                    list.push(site);
                }
                drop(creators);
                match of {
                    ParamUse::Call(at) | ParamUse::Consume(at) => {
                        self.call(subject, body.file.site_ref(at), bound, trails, found);
                    }
                    ParamUse::Arg(at, index) => {
                        let at = body.file.site_ref(at);
                        self.argument(subject, at, index, bound, steps, trails, found);
                    }
                    ParamUse::Return(_) | ParamUse::Store(_) => {}
                }
            }
        }
    }

    /// The subject is an operator's callable: it runs where the chain is subscribed to.
    fn on_chain(
        &self,
        passing: &blocklint_link::calls::targets::ArgumentUse,
        caller: Caller,
        found: &mut FoundCallers,
    ) {
        let position = self.linker.resolved_position(&passing.chain);
        if let Some(confidence) = position.root
            && !off_the_loop(self.linker, caller.site)
        {
            let inferred = u8::from(confidence < blocklint_core::Confidence::High);
            found.callers.push(Caller { steps: caller.steps.saturating_add(inferred), ..caller });
        }
        for site in position.drivers {
            let arg = Some(NOT_AT_THE_SITE);
            let inferred = if position.uncertain_drivers.contains(&site) { LOW_STEPS } else { 0 };
            let steps = caller.steps.saturating_add(inferred);
            found.callers.push(Caller { site, env: EnvId::NONE, arg, kind: CallerKind::Runs, steps, ..caller });
        }
    }
}
