//! Code that runs only after something failed: in the handler of an exception, or where errors were collected by handlers.

use blocklint_core::Language;
use blocklint_facts::{
    AltKind, At, ExitKind, FileFacts, Flow, Form, FormId, Region, RegionId, RegionKind, SiteId, SiteKind, VarId,
};
use smallvec::SmallVec;

use crate::code::forms;
use crate::code::regions::{around, lies_in};
use crate::entries::callers::Callers;
use crate::graph::Way;
use crate::idioms;
use crate::link::Link;
use crate::link::names;
use crate::program::ids::{BodyRef, FileId, SiteRef};

impl Link<'_> {
    /// Whether a site stands in the handler of an exception that is a failure, not one of the ways in which code asks.
    pub(crate) fn is_after_failure(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let region = facts.site(site.site).at.region;
        let Some(handler) = handler_around(facts, region) else {
            return self.is_where_errors_are(site.file, region) || self.is_removed_before_exception(site);
        };
        match facts.form(handler.test) {
            Form::Display(_, list) => {
                let types = facts.list(list);
                types.iter().all(|&ty| self.is_failure(site, ty)) || self.is_of_broken_data(site, types)
            }
            _ => handler.test.is_none() || self.is_failure(site, handler.test),
        }
    }

    /// Whether all calls of a coroutine stand where something failed, or in coroutines of which that holds.
    pub(crate) fn runs_after_failure(&self, callers: &Callers<'_, '_>, body: BodyRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(body.file);
        if facts.language != Language::Python || facts.body(body.body).flow != Flow::Coroutine {
            return false;
        }
        callers.few_call_sites(body).is_some_and(|sites| {
            sites.iter().all(|&site| {
                let caller = self.program.body_of_site(site);
                self.is_after_failure(site) || caller != body && self.runs_after_failure(callers, caller, depth)
            })
        })
    }

    /// Whether a site removes something in a branch that ends with an exception: `if is_bad: remove(path); raise BadFile()`.
    fn is_removed_before_exception(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        let is_branch = |id: RegionId| matches!(facts.region(id).kind, RegionKind::Then | RegionKind::Else);
        if facts.language != Language::Python
            || !idioms::python::removes(facts.text(row.name))
            || !row.at.region.get().is_some_and(is_branch)
        {
            return false;
        }
        let in_branch =
            (0..facts.sites.len() as u32).map(SiteId).filter(|&id| facts.site(id).at.region == row.at.region);
        let last = in_branch.max_by_key(|&id| facts.site(id).at.position);
        last.is_some_and(|last| {
            let raised = facts.site(last);
            raised.kind == SiteKind::Call && raised.at.position > row.at.position && self.is_raised(site.file, last)
        })
    }

    /// Python: whether all that a way does is to remove a file when something ends, whatever came of it: in a `finally`. An
    /// `await` there would be left out where the task is cancelled.
    pub(crate) fn removes_at_the_end(&self, ways: &[Way]) -> bool {
        self.called_at_the_end(ways).is_some_and(idioms::python::removes_one)
            && ways.iter().any(|way| self.is_in_finally(way.site))
            && !self.repeats(ways)
    }

    fn is_in_finally(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        around(facts, facts.site(site.site).at.region).any(|id| facts.region(id).kind == RegionKind::Finally)
    }

    /// Whether a place is reached only where something was collected that handlers alone collect: `if errors: path.unlink()`
    /// in a `finally`, where `except` says `errors["base"] = "unknown"`.
    fn is_where_errors_are(&self, file: FileId, region: RegionId) -> bool {
        let facts = self.program.facts(file);
        let (mut at, mut asked) = (region, SmallVec::<[VarId; 2]>::new());
        while let Some(id) = at.get() {
            let region = facts.region(id);
            match region.kind {
                RegionKind::Then => match facts.form(region.test) {
                    Form::Var(var) => asked.push(var),
                    Form::Alt(AltKind::And, list) => {
                        asked.extend(facts.list(list).iter().filter_map(|&part| match facts.form(part) {
                            Form::Var(var) => Some(var),
                            _ => None,
                        }));
                    }
                    _ => {}
                },
                RegionKind::Finally => return asked.iter().any(|&var| self.is_filled_in_handlers(file, var)),
                _ => {}
            }
            at = region.parent;
        }
        false
    }

    /// Whether handlers put something into a variable, and nobody else does.
    fn is_filled_in_handlers(&self, file: FileId, var: VarId) -> bool {
        let facts = self.program.facts(file);
        let into = |target: FormId| match facts.form(target) {
            Form::Subscript(base, _) => facts.form(base) == Form::Var(var),
            form => form == Form::Var(var),
        };
        let is_empty = |value: FormId| match facts.form(value) {
            Form::Display(_, list) | Form::Pairs(list) => facts.list(list).is_empty(),
            form => matches!(form, Form::None | Form::Bool(false)),
        };
        let filled = || facts.assigns.iter().filter(|row| into(row.target) && !is_empty(row.value));
        filled().next().is_some() && filled().all(|row| handler_around(facts, row.at.region).is_some())
    }

    /// Whether exceptions together say that what was read is not what was written: `except (JSONDecodeError, KeyError)`.
    /// One of them alone may be an answer.
    fn is_of_broken_data(&self, site: SiteRef, types: &[FormId]) -> bool {
        let facts = self.program.facts(site.file);
        let name = |&ty: &FormId| exception_name(facts, ty);
        types.iter().all(|ty| name(ty).is_some_and(idioms::python::may_be_of_broken_data))
            && types.iter().any(|ty| name(ty).is_some_and(idioms::python::is_of_broken_data))
    }

    fn is_failure(&self, site: SiteRef, exception: FormId) -> bool {
        let facts = self.program.facts(site.file);
        exception_name(facts, exception).is_some_and(|name| names::is_failure(facts.language, name))
    }
}

/// The last name of an exception's type.
fn exception_name(facts: &FileFacts, exception: FormId) -> Option<&str> {
    forms::last_name(facts, exception).map(|name| facts.text(name))
}

/// The guarded part of a `try` that failed in one way where a place is reached: the place stands in its handler, or behind a
/// guarded part that returns.
pub(crate) fn tried_before(facts: &FileFacts, at: At, is_meant: fn(&str) -> bool) -> Option<RegionId> {
    if let Some(handler) = handler_around(facts, at.region).filter(|&handler| catches_only(facts, handler, is_meant)) {
        let is_guarded = |region: &Region| {
            region.kind == RegionKind::Try && region.body == handler.body && region.group == handler.group
        };
        return facts.regions.iter().position(|region| is_guarded(&region)).map(|nth| RegionId(nth as u32));
    }
    facts.exits.iter().find_map(|exit| {
        let id = exit.at.region.get()?;
        let guarded = facts.region(id);
        let is_left = exit.kind == ExitKind::Return
            && guarded.kind == RegionKind::Try
            && exit.at.position < at.position
            && !lies_in(facts, at.region, id)
            && guarded.parent.is_some()
            && lies_in(facts, at.region, guarded.parent)
            && all_catch_only(facts, guarded, is_meant);
        is_left.then_some(id)
    })
}

/// Whether a handler catches nothing but exceptions of some names.
fn catches_only(facts: &FileFacts, handler: Region, is_meant: fn(&str) -> bool) -> bool {
    let is_one = |ty: FormId| exception_name(facts, ty).is_some_and(is_meant);
    match facts.form(handler.test) {
        Form::Display(_, list) => facts.list(list).iter().all(|&ty| is_one(ty)),
        _ => is_one(handler.test),
    }
}

/// Whether that holds for all handlers of a `try`.
fn all_catch_only(facts: &FileFacts, guarded: Region, is_meant: fn(&str) -> bool) -> bool {
    let mut handlers = facts
        .regions
        .iter()
        .filter(|region| {
            region.kind == RegionKind::Handler && region.body == guarded.body && region.group == guarded.group
        })
        .peekable();
    handlers.peek().is_some() && handlers.all(|handler| catches_only(facts, handler, is_meant))
}

/// The nearest exception handler around a place.
pub(crate) fn handler_around(facts: &FileFacts, region: RegionId) -> Option<Region> {
    let mut at = region;
    while let Some(id) = at.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::Handler {
            return Some(region);
        }
        at = region.parent;
    }
    None
}
