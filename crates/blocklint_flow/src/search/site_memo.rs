//! Cache of the search's answers about sites: many labels reach the same site, and each of them needs the same answers.

use blocklint_link::effect::guard::{Guard, OwnImplementation};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::callers::loop_check::runs_off_loop;
use crate::callers::{Caller, Node};
use crate::graph::marks::QuestionId;
use crate::guards::constant_branch::never_runs;
use crate::guards::rust_getter::getter_guard;
use crate::judge::Judge;
use crate::judge::climbing::SiteSignals;
use crate::judge::rare_choice::guard_of_rare_choice;
use crate::search::Search;

/// The cached answers about one site.
#[derive(Default)]
pub(crate) struct SiteAnswers {
    never_runs: Option<bool>,
    runs_off_loop: Option<bool>,
    /// The answers of signals.
    pub(crate) signals: SiteSignals,
    guard: Option<Option<Guard>>,
    rare_choice: Option<Option<Guard>>,
}

/// A site with its cached answers, each of which is computed on first use.
pub(crate) struct SiteMemo<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    judge: &'l Judge,
    site: SiteRef,
    answers: &'s mut SiteAnswers,
}

impl SiteMemo<'_, '_, '_> {
    /// True if a constant condition around the site is never met ([`never_runs`]).
    pub(crate) fn never_runs(&mut self) -> bool {
        *self.answers.never_runs.get_or_insert_with(|| never_runs(self.linker, self.site))
    }

    /// True if the site does not run on an event loop ([`runs_off_loop`]).
    pub(crate) fn runs_off_loop(&mut self) -> bool {
        *self.answers.runs_off_loop.get_or_insert_with(|| runs_off_loop(self.linker, self.site))
    }

    /// Returns the inferred steps that signals add because of the code around the site.
    pub(crate) fn steps(&mut self) -> u8 {
        self.judge.steps_at(self.linker, &mut self.answers.signals, self.site)
    }

    /// Returns the signals that add these steps.
    pub(crate) fn doubts(&self) -> SmallVec<[QuestionId; 1]> {
        self.answers.signals.doubts.clone()
    }

    /// Returns the condition of the innermost branch around the site.
    pub(crate) fn guard(&mut self) -> Option<Guard> {
        let (linker, site) = (self.linker, self.site);
        let find = || linker.branch_guard(site).or_else(|| getter_guard(linker, site));
        self.answers.guard.get_or_insert_with(find).clone()
    }

    /// Returns the condition around the site that a parameter is one of many texts ([`guard_of_rare_choice`]).
    pub(crate) fn guard_of_rare_choice(&mut self) -> Option<Guard> {
        self.answers.rare_choice.get_or_insert_with(|| guard_of_rare_choice(self.linker, self.site)).clone()
    }
}

/// The effect of a call's receiver on a label: the inferred steps that it adds, and the class condition that is left.
/// `None` if the receiver rules the label out.
pub(crate) type ReceiverEffects =
    FxHashMap<(Caller, Node, Option<OwnImplementation>), Option<(u8, Option<OwnImplementation>)>>;

/// The answers that a search caches about sites and calls.
#[derive(Default)]
pub(crate) struct SearchMemo {
    pub(crate) sites: FxHashMap<SiteRef, SiteAnswers>,
    pub(crate) receiver_effects: ReceiverEffects,
}

impl<'l, 'a> Search<'l, 'a> {
    /// Returns a site with its cached answers.
    pub(crate) fn memo_of(&mut self, site: SiteRef) -> SiteMemo<'_, 'l, 'a> {
        SiteMemo { linker: self.linker, judge: self.judge, site, answers: self.memo.sites.entry(site).or_default() }
    }
}
