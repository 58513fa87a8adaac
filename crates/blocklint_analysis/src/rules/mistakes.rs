//! The search for mistakes that no blocking call at the end of a path makes, and the finding of one: each rule has a file of its own,
//! which [`MISTAKES`](crate::rules::MISTAKES) lists.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Hold, Language, Mistake, RuleCode, Runtime, Severity};
use blocklint_flow::callers::Callers;
use blocklint_flow::graph::raw_finding::RawStep;
use blocklint_flow::graph::trace::place_of;
use blocklint_flow::search::suppressions::Suppressions;
use blocklint_link::imports::library_reach::LibraryReach;
use blocklint_link::linker::Linker;
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::models::unit_facts::Units;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_mending::RowAdvice;

use crate::rules::MISTAKES;
use crate::rules::unbounded_offload::Offloads;

/// A search for mistakes, with all that its rules ask.
pub(crate) struct MistakeSearch<'s, 'o, 'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) suppressions: &'s Suppressions,
    pub(crate) units: &'s Units,
    pub(crate) callers: &'o Callers<'l, 'a>,
    /// The libraries whose values can be in a file.
    pub(crate) reach: &'s LibraryReach,
    pub(crate) offloads: &'s mut Offloads<'o, 'l, 'a>,
}

impl MistakeSearch<'_, '_, '_, '_> {
    /// Returns the findings of all rules in [`MISTAKES`].
    pub(crate) fn findings(&mut self) -> Vec<RawFinding> {
        MISTAKES.iter().flat_map(|rule| rule(self)).collect()
    }

    /// Returns the results of a search for one rule; none where that fails.
    pub(crate) fn attempt<T>(&self, rule: RuleCode, search: impl FnOnce() -> Vec<T>) -> Vec<T> {
        self.linker.attempt(WorkUnit::Rule(rule), search).unwrap_or_default()
    }

    /// Returns the finding of a mistake at a site. `call` is what is called there, as people know it.
    pub(crate) fn finding(
        &self,
        (rule, mistake): (RuleCode, Mistake),
        site: SiteRef,
        call: String,
        severity: Severity,
        confidence: Confidence,
    ) -> RawFinding {
        let linker = self.linker;
        let body = linker.program.body_of_site(site);
        let span = place_of(linker, site);
        let step = RawStep {
            file: site.file,
            span,
            function: linker.qualified_name(body),
            call: call.clone(),
            written: linker.written_site(site),
        };
        RawFinding {
            rule,
            severity,
            confidence,
            mistake,
            effect: None,
            weight: None,
            context: None,
            runtime: linker.runtime_of(site.file),
            root: body,
            root_kind: None,
            handed: false,
            hold: Hold::Unstated,
            fails: None,
            file: site.file,
            span,
            site,
            callee: call.clone(),
            trace: vec![step],
            causes: Vec::new(),
            also: Vec::new(),
            call,
            repeats: false,
            held_by: None,
            note: None,
            twins: Vec::new(),
            row_advice: of_schedulers(linker, site.file),
            holds_gil: false,
            occurrence: 0,
            reasons: Vec::new(),
            reached_by: Vec::new(),
            partly_silenced: Vec::new(),
            doubts: Vec::new(),
            aside: None,
            suppressed: self.suppressions.hides(linker.program, site, span.start, body, rule),
        }
    }
}

/// Returns whether the schedulers that an edit makes are there. [Java]
fn of_schedulers(linker: &Linker<'_>, file: FileId) -> RowAdvice {
    let mut row_advice = RowAdvice::default();
    if let (Language::Java, Some(of)) = (linker.program.language(file), Runtime::publishers(Some(Runtime::Reactor))) {
        row_advice.pool_availability = linker.version_availability(file, &of.workers_path());
    }
    row_advice
}
