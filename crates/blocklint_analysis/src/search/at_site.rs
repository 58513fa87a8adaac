//! What is remembered of one search: a site is reached by each label of each body that it calls, and mostly says the same to all.

use rustc_hash::FxHashMap;

use crate::entries::callers::{Caller, Node};
use crate::labels::label::{Guard, Own};
use crate::link::Link;
use crate::program::ids::SiteRef;
use crate::search::Search;

/// What stands around a site, as far as it was asked.
#[derive(Default)]
pub(crate) struct AtSite {
    never_runs: Option<bool>,
    off_the_loop: Option<bool>,
    told_to_end: Option<bool>,
    after_failure: Option<bool>,
    made_where_it_lacks: Option<bool>,
    after_failed_import: Option<bool>,
    for_a_terminal: Option<bool>,
    after_own_end: Option<bool>,
    rare: Option<u8>,
    guard: Option<Option<Guard>>,
    rare_choice: Option<Option<Guard>>,
}

/// The site a search asks about.
pub(crate) struct Place<'s, 'l, 'a> {
    link: &'l Link<'a>,
    site: SiteRef,
    known: &'s mut AtSite,
}

impl Place<'_, '_, '_> {
    /// [`Link::never_runs`].
    pub(crate) fn never_runs(&mut self) -> bool {
        *self.known.never_runs.get_or_insert_with(|| self.link.never_runs(self.site))
    }

    /// [`Link::off_the_loop`].
    pub(crate) fn off_the_loop(&mut self) -> bool {
        *self.known.off_the_loop.get_or_insert_with(|| self.link.off_the_loop(self.site))
    }

    /// [`Link::is_told_to_end`].
    pub(crate) fn is_told_to_end(&mut self) -> bool {
        *self.known.told_to_end.get_or_insert_with(|| self.link.is_told_to_end(self.site))
    }

    /// [`Link::is_after_failure`].
    pub(crate) fn is_after_failure(&mut self) -> bool {
        *self.known.after_failure.get_or_insert_with(|| self.link.is_after_failure(self.site))
    }

    /// [`Link::is_made_where_it_lacks`].
    pub(crate) fn is_made_where_it_lacks(&mut self) -> bool {
        *self.known.made_where_it_lacks.get_or_insert_with(|| self.link.is_made_where_it_lacks(self.site))
    }

    /// [`Link::is_after_failed_import`].
    pub(crate) fn is_after_failed_import(&mut self) -> bool {
        *self.known.after_failed_import.get_or_insert_with(|| self.link.is_after_failed_import(self.site))
    }

    /// [`Link::is_for_a_terminal`].
    pub(crate) fn is_for_a_terminal(&mut self) -> bool {
        *self.known.for_a_terminal.get_or_insert_with(|| self.link.is_for_a_terminal(self.site))
    }

    /// [`Link::is_after_own_end`].
    pub(crate) fn is_after_own_end(&mut self) -> bool {
        *self.known.after_own_end.get_or_insert_with(|| self.link.is_after_own_end(self.site))
    }

    /// [`Link::rare_steps`].
    pub(crate) fn rare_steps(&mut self) -> u8 {
        *self.known.rare.get_or_insert_with(|| self.link.rare_steps(self.site))
    }

    /// The condition of the innermost branch around it.
    pub(crate) fn guard(&mut self) -> Option<Guard> {
        let (link, site) = (self.link, self.site);
        let find = || link.branch_guard(site).or_else(|| link.getter_guard(site));
        self.known.guard.get_or_insert_with(find).clone()
    }

    /// [`Link::guard_of_rare_choice`].
    pub(crate) fn guard_of_rare_choice(&mut self) -> Option<Guard> {
        self.known.rare_choice.get_or_insert_with(|| self.link.guard_of_rare_choice(self.site)).clone()
    }
}

/// What receivers leave of labels.
pub(crate) type Received = FxHashMap<(Caller, Node, Option<Own>), Option<(u8, Option<Own>)>>;

/// All that a search remembers of sites and calls.
#[derive(Default)]
pub(crate) struct Remembered {
    sites: FxHashMap<SiteRef, AtSite>,
    pub(crate) received: Received,
}

impl<'l, 'a> Search<'l, 'a> {
    /// A site to ask about.
    pub(crate) fn place(&mut self, site: SiteRef) -> Place<'_, 'l, 'a> {
        Place { link: self.link, site, known: self.remembered.sites.entry(site).or_default() }
    }
}
