//! When a root runs: in tests, at start-up or exit, or while serving.

use blocklint_core::Language;
use blocklint_facts::{Flow, SiteKind};
use blocklint_models::Selector;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::callers::Callers;
use crate::ids::{BodyRef, SiteRef};
use crate::link::Link;
use crate::rust_life::Life;
use crate::value::{EnvId, Val};

/// When code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Only in tests.
    Test,
    /// Only before serving, or while stopping.
    StartUp,
    /// Once in the life of a program, in a task beside others.
    Once,
    /// In a command of a command line.
    Command,
    /// While serving: a registration says so.
    Serving,
    /// Nobody knows: a driven `main` usually is the service.
    Unknown,
}

impl When {
    /// When code runs that is entered both then and then: one entry while serving is enough, and what nobody knows
    /// may be one.
    pub(crate) fn and(self, other: When) -> When {
        match (self, other) {
            (When::Serving, _) | (_, When::Serving) => When::Serving,
            (When::Unknown, _) | (_, When::Unknown) => When::Unknown,
            (When::Test, When::Test) => When::Test,
            (When::Command, When::Command) => When::Command,
            (When::Once, _) | (_, When::Once) => When::Once,
            // Tests and start-up together are neither alone, but none of them serves.
            _ => When::StartUp,
        }
    }

    /// Whether it delays nobody who is served.
    pub(crate) fn is_aside(self) -> bool {
        matches!(self, When::Test | When::StartUp | When::Once | When::Command)
    }
}

/// Scopes of bodies, remembered.
pub(crate) struct Scopes<'s, 'l, 'a> {
    link: &'l Link<'a>,
    callers: &'s Callers<'l, 'a>,
    /// `None` while it is asked for.
    memo: FxHashMap<BodyRef, Option<When>>,
    life: Life<'s, 'l, 'a>,
}

impl<'s, 'l, 'a> Scopes<'s, 'l, 'a> {
    pub(crate) fn new(link: &'l Link<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        Scopes { link, callers, memo: FxHashMap::default(), life: Life::new(link, callers) }
    }

    /// When a body runs: by its file, by what registers it, else when everything that calls it does.
    pub(crate) fn of(&mut self, body: BodyRef) -> When {
        self.within(body, 6).unwrap_or(When::Unknown)
    }

    /// When a site of a body runs: what follows in the body may be served already.
    pub(crate) fn of_site(&mut self, body: BodyRef, site: SiteRef) -> When {
        match self.link.program.language(site.file) {
            Language::Rust => self.life.of_site(site),
            _ => self.of(body),
        }
    }

    /// The same; `None` where only those call it that are asked for already.
    fn within(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        if let Some(&known) = self.memo.get(&body) {
            return known;
        }
        // A cycle tells nothing: its other callers decide.
        self.memo.insert(body, None);
        let when = self.find(body, depth);
        match when {
            Some(_) => self.memo.insert(body, when),
            None => self.memo.remove(&body),
        };
        when
    }

    fn find(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        if self.link.is_for_tests(body) {
            return Some(When::Test);
        }
        if let Some(when) = registered(self.link, body) {
            return Some(when);
        }
        if self.link.program.is_command_line(body.file) {
            return Some(When::Command);
        }
        let Some(depth) = depth.checked_sub(1) else { return Some(When::Unknown) };
        let known = self.callers.call_sites(body);
        let sites: SmallVec<[SiteRef; 8]> =
            if known.is_empty() { self.sites_by_name(body) } else { known.iter().copied().take(65).collect() };
        if sites.is_empty() || sites.len() > 64 {
            return Some(When::Unknown);
        }
        let mut all: Option<When> = None;
        for site in sites {
            let caller = self.link.program.body_of_site(site);
            let facts = self.link.program.facts(caller.file);
            // A call at a module's top level or in a plain function says nothing of when a coroutine is driven.
            let is_root = matches!(facts.body(caller.body).flow, Flow::Coroutine | Flow::AsyncGenerator);
            let when = if is_root || registered(self.link, caller).is_some() {
                self.within(caller, depth)
            } else {
                Some(When::Unknown)
            };
            all = match (all, when) {
                (Some(known), Some(when)) => Some(known.and(when)),
                (known, when) => known.or(when),
            };
        }
        all
    }

    /// The calls of any method under the name of a body whose callers are not known (a protocol's, one of a table's):
    /// more than can mean it, so what holds for all of them holds for it.
    fn sites_by_name(&self, body: BodyRef) -> SmallVec<[SiteRef; 8]> {
        let program = self.link.program;
        let facts = program.facts(body.file);
        let row = facts.body(body.body);
        if row.class.is_none() || facts.text(row.name).starts_with("__") {
            return SmallVec::new();
        }
        let Some(name) = program.global(body.file, row.name) else { return SmallVec::new() };
        let called = program.sites_named(name).filter(|site| {
            let facts = program.facts(site.file);
            facts.site(site.site).kind == SiteKind::Call
        });
        called.take(65).collect()
    }
}

/// What a registration says: a decorator or a call that takes the body.
pub(crate) fn registered(link: &Link<'_>, body: BodyRef) -> Option<When> {
    let mut found = None;
    for path in link.decorator_paths(body) {
        for row in link.library.handovers(path).iter() {
            if matches!(row.selector, Selector::Via(_)) && !row.wraps {
                found = Some(if row.phase.is_some() { When::StartUp } else { When::Serving });
            }
        }
    }
    if found.is_some() {
        return found;
    }
    for (site, arg) in link.given_body(body) {
        for val in link.values.members(link.callee(site, EnvId::NONE).value) {
            let (Val::External(path) | Val::Method { path, .. }) = val else { continue };
            for row in link.library.handovers(path).iter() {
                let Selector::Argument(argument) = &row.selector else { continue };
                if link.is_argument(site, arg, argument) && !row.wraps {
                    let when = if row.phase.is_some() { When::StartUp } else { When::Serving };
                    found = Some(match found {
                        Some(When::Serving) => When::Serving,
                        _ => when,
                    });
                }
            }
        }
    }
    found
}
