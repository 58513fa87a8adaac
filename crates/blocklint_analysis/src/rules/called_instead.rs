//! Calls whose result is handed over where the callable was meant: `to_thread(work())`.

use blocklint_core::{Confidence, Language};
use blocklint_facts::{BodyKind, Flow, Form, SiteKind};
use blocklint_models::{Passes, RowEffect, Runs, Selector, Uses};

use crate::link::Link;
use crate::link::reach::Reach;
use crate::link::targets::Target;
use crate::link::value::{EnvId, Val, Why};
use crate::program::ids::{BodyRef, PathId, SiteRef};

/// One such call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandedResult {
    /// The call whose result is handed over.
    pub(crate) called: SiteRef,
    /// The call that takes it.
    pub(crate) taker: SiteRef,
    /// The path of the taker's row.
    pub(crate) path: PathId,
    /// How sure it is that the result is no callable.
    pub(crate) confidence: Confidence,
    /// The taker passes further arguments on to the callable.
    pub(crate) passes: bool,
}

impl<'a> Link<'a> {
    /// All such calls of the program, in order.
    pub(crate) fn handed_results(&self, reach: &Reach) -> Vec<HandedResult> {
        let sites = [Language::Python, Language::Rust]
            .into_iter()
            .flat_map(|language| self.sites_of_rows(reach, language, Uses::HANDOVER, &[SiteKind::Call], |paths| paths));
        let gives_result = |site: &SiteRef| {
            let facts = self.program.facts(site.file);
            facts.args_of(site.site).into_iter().any(|arg| match facts.form(arg.value) {
                Form::Result(inner) => facts.site(inner).kind == SiteKind::Call,
                _ => false,
            })
        };
        sites.filter(gives_result).flat_map(|site| self.handed_at(site)).collect()
    }

    fn handed_at(&self, site: SiteRef) -> Vec<HandedResult> {
        let facts = self.program.facts(site.file);
        let mut found: Vec<HandedResult> = Vec::new();
        for target in &self.targets(site, EnvId::NONE).list {
            let Target::Row { path, .. } = *target else { continue };
            for row in self.library.handovers(path).iter() {
                let Selector::Argument(argument) = &row.selector else { continue };
                if row.wraps || !self.conditions_shown(&row.when, &row.unless, site, EnvId::NONE) {
                    continue;
                }
                let Some(form) = self.argument(site, argument) else { continue };
                let Form::Result(inner) = facts.form(form) else { continue };
                let called = SiteRef { file: site.file, site: inner };
                if facts.site(inner).kind != SiteKind::Call || found.iter().any(|one| one.called == called) {
                    continue;
                }
                // Where a coroutine runs it may be given as one.
                let takes_coroutines = match self.handover_context(row.row, site, true) {
                    Runs::In(context) => context != blocklint_core::Context::Worker,
                    Runs::Caller | Runs::Chain => continue,
                };
                if let Some(confidence) = self.is_no_callable(called, takes_coroutines) {
                    let passes = row.passes == Some(Passes::Rest);
                    found.push(HandedResult { called, taker: site, path, confidence, passes });
                }
            }
        }
        found
    }

    /// Whether a call gives a coroutine or something else to await.
    pub(crate) fn gives_coroutine(&self, called: SiteRef) -> bool {
        let value = self.result(called, EnvId::NONE);
        self.values.members(value.value).iter().any(|val| matches!(val, Val::Coroutine { .. } | Val::Awaitable(_)))
    }

    /// How sure it is that a call gives nothing that can be called; `None` where it may.
    fn is_no_callable(&self, called: SiteRef, takes_coroutines: bool) -> Option<Confidence> {
        let targets = self.targets(called, EnvId::NONE);
        let is_stub = |target: &Target| match *target {
            Target::Body { body, .. } => {
                self.program.facts(body.file).body(body.body).class.is_some() && self.is_stub(body)
            }
            _ => false,
        };
        let is_open = targets.list.iter().any(|target| is_stub(target) || matches!(target, Target::Overrides { .. }));
        if is_open || targets.list.is_empty() {
            return None;
        }
        let steps = if targets.steps == 0 { Confidence::High } else { Confidence::Medium };
        if targets.list.iter().all(|target| matches!(*target, Target::Body { body, .. } if self.gives_nothing(body))) {
            return Some(steps);
        }
        let value = self.result(called, EnvId::NONE);
        let members = self.values.members(value.value);
        let says_nothing = members.iter().all(|val| matches!(val, Val::Unknown(Why::Result)));
        if says_nothing {
            // A blocking call of which nothing else is known is what somebody wanted to run elsewhere.
            let holds = targets.list.iter().all(|target| match *target {
                Target::Row { path, .. } => {
                    self.library.calls(path).effect().any(|row| matches!(row.effect, Some(RowEffect::Holds(_))))
                }
                _ => false,
            });
            return holds.then_some(Confidence::Medium);
        }
        let no_callable = |val: &Val| match *val {
            Val::None | Val::Tuple(_) | Val::Iter { .. } => true,
            Val::Coroutine { .. } | Val::Awaitable(_) => !takes_coroutines,
            Val::Library { ty, .. } => {
                let call = self.library.member(ty, "__call__");
                self.library.ty(ty).is_some() && self.library.calls(call).is_empty() && !self.may_call(ty)
            }
            _ => false,
        };
        members.iter().all(no_callable).then_some(steps)
    }

    /// Whether a function ends without giving a value.
    fn gives_nothing(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        facts.body(body.body).flow == Flow::Sync
            && facts.body(body.body).kind == BodyKind::Function
            && facts.text(facts.body(body.body).name) != "__init__"
            && !facts.exits.iter().any(|exit| facts.body_of(exit.at) == body.body && exit.value.is_some())
    }
}
