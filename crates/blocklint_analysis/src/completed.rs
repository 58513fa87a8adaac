//! Futures that are known to be done where they are asked for their value, `if (f.isSuccess()) use(f.get())`, and those that
//! only say that a thread has begun.

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Form, FormId};

use crate::ids::SiteRef;
use crate::link::Link;
use crate::names;
use crate::targets::Target;
use crate::value::EnvId;

impl<'a> Link<'a> {
    /// Whether the future that a call stands on was asked before, in the same body, if it is done.
    pub(crate) fn is_done_there(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Java {
            return false;
        }
        let Some(receiver) = self.receiver_form(site) else { return false };
        self.calls_before(site, names::java::DONE_TESTS).any(|asked| {
            self.receiver_form(SiteRef { file: site.file, site: asked }).is_some_and(|of| {
                is_same(facts, of, receiver)
                    || self.reads_same(site.file, of, receiver)
                    || self.reads_same(site.file, receiver, of)
            })
        })
    }
}

impl<'a> Link<'a> {
    /// Whether a wait is for the sign of life of a thread that the same block has just started: what ends it, `method`, is
    /// only ever given literals. `thread.start(); ready.result()`, and the thread begins with `ready.set_result(None)`.
    pub(crate) fn is_handshake(&self, site: SiteRef, method: &str) -> bool {
        let facts = self.program.facts(site.file);
        let Some(receiver) = self.receiver_form(site) else { return false };
        let here = facts.site(site.site).at;
        let started = self.sites_under(site.file, &[names::STARTS_THREAD]).any(|before| {
            let row = facts.site(before);
            let targets = || self.targets(SiteRef { file: site.file, site: before }, EnvId::NONE);
            row.at.region == here.region
                && row.at.position < here.position
                && targets().list.iter().any(|target| matches!(target, Target::Row { .. }))
        });
        if !started {
            return false;
        }
        let ending = [method];
        let mut ends = self.sites_under(site.file, &ending).filter(|&end| {
            let of = self.receiver_form(SiteRef { file: site.file, site: end });
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
}

/// Whether two forms read the same variable, or a field of one name: the other body has another name for the object.
fn is_same_name(facts: &FileFacts, a: FormId, b: FormId) -> bool {
    match (facts.form(a), facts.form(b)) {
        (Form::Var(a), Form::Var(b)) => a == b,
        (Form::Attr(_, x), Form::Attr(_, y)) => x == y,
        _ => false,
    }
}

/// Whether two forms read the same variable or field.
pub(crate) fn is_same(facts: &FileFacts, a: FormId, b: FormId) -> bool {
    match (facts.form(a), facts.form(b)) {
        (Form::Var(a), Form::Var(b)) => a == b,
        (Form::Attr(a, x), Form::Attr(b, y)) => x == y && is_same(facts, a, b),
        (Form::This, Form::This) => true,
        _ => false,
    }
}
