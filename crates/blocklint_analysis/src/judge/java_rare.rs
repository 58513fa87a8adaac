//! Java: calls that a setting asks for.

use blocklint_facts::{AltKind, Form, FormId, RegionKind};

use crate::idioms;
use crate::link::Link;
use crate::link::names::java;
use crate::program::ids::{FileId, SiteRef};

impl<'a> Link<'a> {
    /// Whether a branch around a call, or around the literal that it stands in, asks for something.
    pub(crate) fn is_asked_around(&self, site: SiteRef, asks: impl Fn(&Self, FormId) -> bool) -> bool {
        let facts = self.program.facts(site.file);
        self.regions_outward(site).into_iter().any(|id| {
            let region = facts.region(id);
            region.kind == RegionKind::Then && region.test.is_some() && asks(self, region.test)
        })
    }

    /// Whether a call stands where a program's settings ask for it.
    pub(crate) fn is_switched_on(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let mut at = facts.site(site.site).at.region;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            if region.kind == RegionKind::Then && region.test.is_some() && self.asks_for_setting(site.file, region.test)
            {
                return true;
            }
            at = region.parent;
        }
        false
    }

    /// Whether a test asks a program's settings if something is wanted: `if (config.isDnsEnabled())`.
    pub(crate) fn asks_for_setting(&self, file: FileId, test: FormId) -> bool {
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Alt(AltKind::And, list) => facts.list(list).iter().any(|&part| self.asks_for_setting(file, part)),
            Form::Result(call) => {
                let row = facts.site(call);
                if idioms::java::asks_for_details(facts.text(row.name))
                    || idioms::java::asks_for_mode(facts.text(row.name))
                {
                    return true;
                }
                if !facts.args_of(call).is_empty() || !java::asks_if_wanted(facts.text(row.name)) {
                    return false;
                }
                let Some(of) = self.receiver_form(SiteRef { file, site: call }) else { return false };
                let holder = match facts.form(of) {
                    Form::Var(var) => facts.text(facts.var(var).name),
                    Form::Attr(_, name) | Form::Name(name) => facts.text(name),
                    Form::Result(from)
                        if self
                            .class_of_settings(SiteRef { file, site: from })
                            .is_some_and(idioms::java::keeps_settings) =>
                    {
                        return true;
                    }
                    Form::Result(from) => facts.text(facts.site(from).name),
                    _ => return false,
                };
                java::holds_settings(holder)
            }
            _ => false,
        }
    }
}
