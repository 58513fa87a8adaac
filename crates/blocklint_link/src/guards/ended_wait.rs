//! Waits that end at once: `process.kill(); process.wait()`, and the handshake with a thread that was just started.

use blocklint_facts::{FileFacts, Form, FormId};

use crate::calls::targets::Target;
use crate::lang;
use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::syntax::forms::is_same;
use crate::syntax::regions::is_region_in;
use crate::values::value::EnvId;

impl Linker<'_> {
    /// True if a wait is a handshake with a thread that the same block has just started, because all calls of `method`,
    /// which ends the wait, pass only literals: `thread.start(); ready.result()`, and the thread begins with
    /// `ready.set_result(None)`.
    pub(crate) fn is_handshake(&self, site: SiteRef, method: &str) -> bool {
        let facts = self.program.facts(site.file);
        let Some(receiver) = self.receiver_form(site) else { return false };
        let at = self.program.site(site).at;
        let is_started = self.sites_with_names(site.file, &[lang::words::THREAD_START]).any(|before| {
            let site_facts = facts.site(before);
            let targets = || self.targets(site.file.site_ref(before), EnvId::NONE);
            site_facts.at.region == at.region
                && site_facts.at.position < at.position
                && targets().list.iter().any(|target| matches!(target, Target::Row { .. }))
        });
        if !is_started {
            return false;
        }
        let ending = [method];
        let mut ends = self.sites_with_names(site.file, &ending).filter(|&end| {
            let ended = self.receiver_form(site.file.site_ref(end));
            ended.is_some_and(|ended| is_same_name(facts, ended, receiver))
        });
        let passes_literals = |end| {
            facts.args_of(end).iter().all(|arg| {
                matches!(
                    facts.form(arg.value),
                    Form::None | Form::Bool(_) | Form::Int(_) | Form::Float(_) | Form::Str(_)
                )
            })
        };
        ends.next().is_some_and(passes_literals) && ends.all(passes_literals)
    }

    /// True if a call before the wait always ends the same object: `process.kill(); process.wait()`.
    pub(crate) fn is_ended_before(&self, site: SiteRef, method: &str) -> bool {
        let facts = self.program.facts(site.file);
        let Some(receiver) = self.receiver_form(site) else { return false };
        let at = self.program.site(site).at;
        self.calls_before(site, &[method]).any(|call| {
            let ended = self.receiver_form(site.file.site_ref(call));
            ended.is_some_and(|ended| is_same(facts, ended, receiver))
                && is_region_in(facts, at.region, facts.site(call).at.region)
        })
    }
}

/// True if two forms read the same variable, or fields with the same name. The objects of the fields are not compared,
/// because another body has another name for the object.
fn is_same_name(facts: &FileFacts, a: FormId, b: FormId) -> bool {
    match (facts.form(a), facts.form(b)) {
        (Form::Var(a), Form::Var(b)) => a == b,
        (Form::Attr(_, x), Form::Attr(_, y)) => x == y,
        _ => false,
    }
}
