//! Java: calls that are made for few of those that come by, or hardly ever: by a setting, for what is there, for what is not kept yet.

use blocklint_core::Language;
use blocklint_facts::{AltKind, Form, FormId, RegionKind};

use crate::completed::is_same;
use crate::ids::{FileId, SiteRef};
use crate::link::{LOW_STEPS, Link};
use crate::names::java;

/// What a call for a key that is not kept yet adds: any other doubt is one too many.
const PER_KEY: u8 = 2;

impl<'a> Link<'a> {
    /// The inferred steps for what stands before a call of Java, or around it.
    pub(crate) fn rare_steps_in_java(&self, site: SiteRef) -> u8 {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Java {
            return 0;
        }
        let row = facts.site(site.site);
        if java::looks_up_host(facts.text(row.name)) && (self.demands_address(site) || self.is_given_address(site)) {
            return LOW_STEPS;
        }
        let per_key = self.runs_first_time(site).is_some_and(|found| found.per_key);
        let mut at = row.at.region;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            if region.kind == RegionKind::Then
                && region.test.is_some()
                && (self.asks_for_setting(site.file, region.test) || self.asks_if_made(site, region.test))
            {
                return LOW_STEPS;
            }
            at = region.parent;
        }
        if per_key { PER_KEY } else { 0 }
    }

    /// Whether a call before, in the same body, fails for a host that is no written address.
    fn demands_address(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let here = facts.site(site.site).at;
        let body = facts.body_of(here);
        facts.sites.iter().any(|other| {
            other.at.position < here.position
                && facts.body_of(other.at) == body
                && java::demands_address(facts.text(other.name))
        })
    }

    /// Whether the host is what a socket is bound or connected to.
    fn is_given_address(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        facts.args_of(site.site).iter().any(|arg| match facts.form(arg.value) {
            Form::Result(call) => java::gives_address(facts.text(facts.site(call).name)),
            _ => false,
        })
    }

    /// Whether a test asks a program's settings if something is wanted: `if (config.isDnsEnabled())`.
    fn asks_for_setting(&self, file: FileId, test: FormId) -> bool {
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Alt(AltKind::And, list) => facts.list(list).iter().any(|&part| self.asks_for_setting(file, part)),
            Form::Result(call) => {
                let row = facts.site(call);
                if !facts.args_of(call).is_empty() || !java::asks_if_wanted(facts.text(row.name)) {
                    return false;
                }
                let Some(of) = self.receiver_form(SiteRef { file, site: call }) else { return false };
                let holder = match facts.form(of) {
                    Form::Var(var) => facts.text(facts.var(var).name),
                    Form::Attr(_, name) | Form::Name(name) => facts.text(name),
                    Form::Result(from) => facts.text(facts.site(from).name),
                    _ => return false,
                };
                java::holds_settings(holder)
            }
            _ => false,
        }
    }

    /// Whether a test asks if what a call stands on has been made: `if (client.isInitialized()) client.get().close();`.
    fn asks_if_made(&self, site: SiteRef, test: FormId) -> bool {
        let facts = self.program.facts(site.file);
        let Form::Result(call) = facts.form(test) else { return false };
        if !java::asks_if_made(facts.text(facts.site(call).name)) {
            return false;
        }
        let Some(asked) = self.receiver_form(SiteRef { site: call, ..site }) else { return false };
        let mut at = site;
        for _ in 0..4 {
            let Some(receiver) = self.receiver_form(at) else { return false };
            if is_same(facts, receiver, asked) {
                return true;
            }
            let Form::Result(before) = facts.form(receiver) else { return false };
            at = SiteRef { site: before, ..site };
        }
        false
    }
}
