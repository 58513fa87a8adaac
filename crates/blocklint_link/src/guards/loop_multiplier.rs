//! Loops that make one long hold of the short ones in them, and those that do not.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{
    AltKind, ExitKind, FileFacts, Form, FormId, ParamKind, Region, RegionId, RegionKind, SiteFlags, SiteId, SiteKind,
    VarKind,
};

use crate::linker::Linker;
use crate::program::ids::{FileId, SiteRef};
use crate::syntax::regions::{around, lies_in};

/// How often a loop goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// As far as is known, often.
    Many,
    /// A few times; a loop around it may go round often.
    Few,
    /// A few times, also with the loops around it.
    FewInAll,
}

impl Linker<'_> {
    /// True if a loop around a site adds up its short holds to a long one. The thread is not released in between, as an
    /// `await` in the same loop would do.
    pub fn multiplies_hold(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let mut at = self.program.site(site).at.region;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            match region.kind {
                RegionKind::Body => return false,
                RegionKind::Loop => {
                    match lang::semantics(facts.language).loop_rounds(self, site, id) {
                        Rounds::Many => {}
                        Rounds::Few => {
                            at = region.parent;
                            continue;
                        }
                        Rounds::FewInAll => return false,
                    }
                    let gives_back = |row: &blocklint_facts::Site| match row.kind {
                        SiteKind::Iterate => row.flags.has(SiteFlags::ASYNC) && row.callee == region.test,
                        _ => row.flags.has(SiteFlags::AWAITED) && lies_in(facts, row.at.region, id),
                    };
                    return !facts.sites.iter().any(|row| gives_back(&row));
                }
                _ => at = region.parent,
            }
        }
        false
    }

    /// True if a loop of Rust iterates over a short literal list.
    pub(crate) fn is_written_out(&self, file: FileId, iterated: FormId) -> bool {
        let facts = self.program.facts(file);
        let is_short = |form: FormId| match facts.form(form) {
            Form::Display(_, list) => facts.list(list).len() <= 4,
            _ => false,
        };
        match facts.form(iterated) {
            Form::Var(var) => facts.only_value_of(var).is_some_and(|only| is_short(only.value)),
            _ => is_short(iterated),
        }
    }

    /// True if a branch that asks this call returns. A loop around it then searches for the first hit among a few.
    pub(crate) fn ends_loop(&self, site: SiteRef) -> bool {
        let (facts, site_id) = self.program.facts_and_id(site);
        let here = self.program.site(site).at;
        facts.regions.iter().enumerate().any(|(at, region)| {
            region.kind == RegionKind::Then
                && region.parent == here.region
                && region.test.get().is_some_and(|test| asks(facts, test, site_id))
                && facts.exits.iter().any(|exit| {
                    exit.kind == ExitKind::Return && exit.at.region.get().is_some_and(|of| of.index() == at)
                })
        })
    }

    /// True if a branch in the region `within` tests the call of a site and returns, so that the loop goes on to the
    /// first hit only.
    pub(crate) fn ends_search(&self, site: SiteRef, within: RegionId) -> bool {
        let (facts, site_id) = self.program.facts_and_id(site);
        let body = site.file.body_ref(facts.region(within).body);
        self.program.exits_in(body).any(|exit| {
            let inside = exit.kind == ExitKind::Return && lies_in(facts, exit.at.region, within);
            inside
                && around(facts, exit.at.region).any(|id| {
                    let region = facts.region(id);
                    region.kind == RegionKind::Then
                        && region.test.is_some()
                        && facts.form(region.test) == Form::Result(site_id)
                })
        })
    }

    /// True if a site stays short in a loop of any length: by its name, or because it reads an attribute, which was
    /// mostly loaded with the rest (Python).
    pub(crate) fn stays_short(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let row = self.program.site(site);
        facts.language == Language::Python
            && (row.kind == SiteKind::Read || lang::python::conventions::stays_short(facts.text(row.name)))
    }
}

/// True if a loop of Java iterates over something that has few elements by its name.
pub(crate) fn goes_through_few(facts: &FileFacts, region: Region) -> bool {
    match facts.form(region.test) {
        Form::Result(call) => lang::java::names::returns_few_elements(facts.text(facts.site(call).name)),
        _ => false,
    }
}

/// True if a loop of Python iterates over the positional arguments of a call (`*sinks`): a few.
pub(crate) fn goes_through_arguments(facts: &FileFacts, region: Region) -> bool {
    let Form::Var(var) = facts.form(region.test) else { return false };
    let row = facts.var(var);
    match row.kind {
        VarKind::Param(index) => {
            facts.params_of(row.body).get(index as usize).is_some_and(|param| param.kind == ParamKind::VarArgs)
        }
        _ => false,
    }
}

/// True if a test is this call, or several tests that must all hold and one of which is this call.
fn asks(facts: &FileFacts, test: FormId, site: SiteId) -> bool {
    match facts.form(test) {
        Form::Result(call) => call == site,
        Form::Alt(AltKind::And, list) => facts.list(list).iter().any(|&part| asks(facts, part, site)),
        _ => false,
    }
}
