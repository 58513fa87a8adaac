//! Waits that are over at once: `process.kill(); process.wait()`, and the wait for the first sign of a thread that was just started.

use blocklint_facts::{FileFacts, Form, FormId};

use crate::calls::targets::Target;
use crate::lang;
use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::syntax::forms::is_same;
use crate::syntax::regions::lies_in;
use crate::values::value::EnvId;

impl Linker<'_> {
    /// True if a wait is for the sign of life of a thread that the same block has just started: all calls of `method`, which ends the
    /// wait, pass only literals. `thread.start(); ready.result()`, and the thread begins with `ready.set_result(None)`.
    pub(crate) fn is_handshake(&self, site: SiteRef, method: &str) -> bool {
        let facts = self.program.facts(site.file);
        let Some(receiver) = self.receiver_form(site) else { return false };
        let here = self.program.site(site).at;
        let started = self.sites_under(site.file, &[lang::words::THREAD_START]).any(|before| {
            let row = facts.site(before);
            let targets = || self.targets(site.file.site_ref(before), EnvId::NONE);
            row.at.region == here.region
                && row.at.position < here.position
                && targets().list.iter().any(|target| matches!(target, Target::Row { .. }))
        });
        if !started {
            return false;
        }
        let ending = [method];
        let mut ends = self.sites_under(site.file, &ending).filter(|&end| {
            let of = self.receiver_form(site.file.site_ref(end));
            of.is_some_and(|of| is_same_name(facts, of, receiver))
        });
        let gives_literal = |end| {
            facts.args_of(end).iter().all(|arg| {
                matches!(
                    facts.form(arg.value),
                    Form::None | Form::Bool(_) | Form::Int(_) | Form::Float(_) | Form::Str(_)
                )
            })
        };
        ends.next().is_some_and(gives_literal) && ends.all(gives_literal)
    }

    /// True if the same object was ended right before, under no other condition: `process.kill()`, `process.wait()`.
    pub(crate) fn is_ended_before(&self, site: SiteRef, method: &str) -> bool {
        let facts = self.program.facts(site.file);
        let Some(receiver) = self.receiver_form(site) else { return false };
        let here = self.program.site(site).at;
        self.calls_before(site, &[method]).any(|call| {
            let ended = self.receiver_form(site.file.site_ref(call));
            ended.is_some_and(|ended| is_same(facts, ended, receiver))
                && lies_in(facts, here.region, facts.site(call).at.region)
        })
    }
}

/// True if two forms read the same variable, or a field of one name: the other body has another name for the object.
fn is_same_name(facts: &FileFacts, a: FormId, b: FormId) -> bool {
    match (facts.form(a), facts.form(b)) {
        (Form::Var(a), Form::Var(b)) => a == b,
        (Form::Attr(_, x), Form::Attr(_, y)) => x == y,
        _ => false,
    }
}
