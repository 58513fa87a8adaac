//! Cache of answers about sites: each label of each body that a site calls asks the same questions.

use blocklint_link::effect::guard::{Guard, OwnImplementation};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::callers::loop_check::off_the_loop;
use crate::callers::{Caller, Node};
use crate::graph::marks::AskId;
use crate::guards::constant_branch::never_runs;
use crate::guards::rust_getter::getter_guard;
use crate::judge::Judge;
use crate::judge::climbing::SiteSignals;
use crate::judge::rare_choice::guard_of_rare_choice;
use crate::search::Search;

/// Answers about the surroundings of a site, as far as they were asked.
#[derive(Default)]
pub(crate) struct AtSite {
    never_runs: Option<bool>,
    off_the_loop: Option<bool>,
    /// The answers of signals.
    pub(crate) heard: SiteSignals,
    guard: Option<Option<Guard>>,
    rare_choice: Option<Option<Guard>>,
}

/// The site a search asks about.
pub(crate) struct SearchedSite<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    judge: &'l Judge,
    site: SiteRef,
    known: &'s mut AtSite,
}

impl SearchedSite<'_, '_, '_> {
    /// [`Linker::never_runs`].
    pub(crate) fn never_runs(&mut self) -> bool {
        *self.known.never_runs.get_or_insert_with(|| never_runs(self.linker, self.site))
    }

    /// [`Linker::off_the_loop`].
    pub(crate) fn off_the_loop(&mut self) -> bool {
        *self.known.off_the_loop.get_or_insert_with(|| off_the_loop(self.linker, self.site))
    }

    /// Returns the inferred steps for where it stands.
    pub(crate) fn steps(&mut self) -> u8 {
        self.judge.steps_at(self.linker, &mut self.known.heard, self.site)
    }

    /// Returns the signals that add these steps.
    pub(crate) fn doubts(&self) -> SmallVec<[AskId; 1]> {
        self.known.heard.doubts.clone()
    }

    /// Returns the condition of the innermost branch around it.
    pub(crate) fn guard(&mut self) -> Option<Guard> {
        let (linker, site) = (self.linker, self.site);
        let find = || linker.branch_guard(site).or_else(|| getter_guard(linker, site));
        self.known.guard.get_or_insert_with(find).clone()
    }

    /// [`Linker::guard_of_rare_choice`].
    pub(crate) fn guard_of_rare_choice(&mut self) -> Option<Guard> {
        self.known.rare_choice.get_or_insert_with(|| guard_of_rare_choice(self.linker, self.site)).clone()
    }
}

/// The parts of labels that receivers leave.
pub(crate) type Received =
    FxHashMap<(Caller, Node, Option<OwnImplementation>), Option<(u8, Option<OwnImplementation>)>>;

/// All that a search remembers of sites and calls.
#[derive(Default)]
pub(crate) struct Remembered {
    pub(crate) sites: FxHashMap<SiteRef, AtSite>,
    pub(crate) received: Received,
}

impl<'l, 'a> Search<'l, 'a> {
    /// Returns a site to ask about.
    pub(crate) fn place(&mut self, site: SiteRef) -> SearchedSite<'_, 'l, 'a> {
        SearchedSite {
            linker: self.linker,
            judge: self.judge,
            site,
            known: self.remembered.sites.entry(site).or_default(),
        }
    }
}
