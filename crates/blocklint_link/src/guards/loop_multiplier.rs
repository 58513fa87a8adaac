//! Loops that multiply the brief holds inside of them to one long hold.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{
    AltKind, ExitKind, FileFacts, Form, FormId, ParamKind, Region, RegionId, RegionKind, Site, SiteFlags, SiteId,
    SiteKind, VarKind,
};

use crate::linker::Linker;
use crate::program::ids::{FileId, SiteRef};
use crate::syntax::regions::{around, is_region_in};

/// The most elements of a written list whose loop does not multiply a hold.
const MAX_SHORT_LIST: usize = 4;

/// The number of iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// Many iterations, or an unknown number.
    Many,
    /// Few iterations; an outer loop may have many.
    Few,
    /// Few iterations, also together with the outer loops.
    FewInAll,
}

impl Linker<'_> {
    /// True if a loop around a site multiplies its brief hold to a long one. A loop that contains an `await` does not,
    /// because the `await` releases the thread.
    pub fn multiplies_hold(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let mut next = self.program.site(site).at.region;
        while let Some(id) = next.get() {
            let region = facts.region(id);
            match region.kind {
                RegionKind::Body => return false,
                RegionKind::Loop => {
                    match lang::semantics(facts.language).loop_rounds(self, site, id) {
                        Rounds::Many => {}
                        Rounds::Few => {
                            next = region.parent;
                            continue;
                        }
                        Rounds::FewInAll => return false,
                    }
                    let releases_thread = |row: &Site| match row.kind {
                        SiteKind::Iterate => row.flags.has(SiteFlags::ASYNC) && row.callee == region.test,
                        _ => row.flags.has(SiteFlags::AWAITED) && is_region_in(facts, row.at.region, id),
                    };
                    return !facts.sites.iter().any(|site_facts| releases_thread(&site_facts));
                }
                _ => next = region.parent,
            }
        }
        false
    }

    /// True if a loop iterates over a literal list of at most four elements (Rust).
    pub(crate) fn is_short_literal(&self, file: FileId, iterated: FormId) -> bool {
        let facts = self.program.facts(file);
        let is_short = |form: FormId| match facts.form(form) {
            Form::Display(_, list) => facts.list(list).len() <= MAX_SHORT_LIST,
            _ => false,
        };
        match facts.form(iterated) {
            Form::Var(var) => facts.only_value_of(var).is_some_and(|only| is_short(only.value)),
            _ => is_short(iterated),
        }
    }

    /// True if a branch that tests a call returns, so that a loop around the call is a search for the first success
    /// among few.
    pub(crate) fn returns_on_success(&self, site: SiteRef) -> bool {
        let (facts, site_id) = self.program.facts_and_id(site);
        let at = self.program.site(site).at;
        facts.regions.iter().enumerate().any(|(index, region)| {
            region.kind == RegionKind::Then
                && region.parent == at.region
                && region.test.get().is_some_and(|test| tests_call(facts, test, site_id))
                && facts.exits.iter().any(|exit| {
                    exit.kind == ExitKind::Return && exit.at.region.get().is_some_and(|branch| branch.index() == index)
                })
        })
    }

    /// True if a branch in the region `within` tests a call and returns, so that the loop ends at the first success.
    pub(crate) fn ends_search(&self, site: SiteRef, within: RegionId) -> bool {
        let (facts, site_id) = self.program.facts_and_id(site);
        let body = site.file.body_ref(facts.region(within).body);
        self.program.exits_in(body).any(|exit| {
            let is_return = exit.kind == ExitKind::Return && is_region_in(facts, exit.at.region, within);
            is_return
                && around(facts, exit.at.region).any(|id| {
                    let region = facts.region(id);
                    region.kind == RegionKind::Then
                        && region.test.is_some()
                        && facts.form(region.test) == Form::Result(site_id)
                })
        })
    }

    /// True if no loop multiplies the hold of a site, by its name, or because it reads an attribute, which is mostly
    /// loaded once (Python).
    pub(crate) fn stays_short(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        facts.language == Language::Python
            && (site_facts.kind == SiteKind::Read
                || lang::python::conventions::stays_short(facts.text(site_facts.name)))
    }
}

/// True if a loop iterates over the result of a method that returns few elements, by its name (Java).
pub(crate) fn iterates_over_few(facts: &FileFacts, region: Region) -> bool {
    match facts.form(region.test) {
        Form::Result(call) => lang::java::names::returns_few_elements(facts.text(facts.site(call).name)),
        _ => false,
    }
}

/// True if a loop iterates over a `*args` parameter, which has few elements (Python).
pub(crate) fn iterates_over_varargs(facts: &FileFacts, region: Region) -> bool {
    let Form::Var(var) = facts.form(region.test) else { return false };
    let var_facts = facts.var(var);
    match var_facts.kind {
        VarKind::Param(index) => {
            facts.params_of(var_facts.body).get(index as usize).is_some_and(|param| param.kind == ParamKind::VarArgs)
        }
        _ => false,
    }
}

/// True if a test is a call, or a conjunction with the call as an operand: `found and ready`.
fn tests_call(facts: &FileFacts, test: FormId, site: SiteId) -> bool {
    match facts.form(test) {
        Form::Result(call) => call == site,
        Form::Alt(AltKind::And, list) => facts.list(list).iter().any(|&part| tests_call(facts, part, site)),
        _ => false,
    }
}
