//! [`MistakeSearch`], which the rules of [`MISTAKES`](crate::rules::MISTAKES) use: the data that they share, and the
//! construction of their findings.

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

/// The data that the rules about mistakes share.
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

    /// Returns the results of a search for one rule. Empty if the search panics or takes too long.
    pub(crate) fn attempt<T>(&self, rule: RuleCode, search: impl FnOnce() -> Vec<T>) -> Vec<T> {
        self.linker.attempt(WorkUnit::Rule(rule), search).unwrap_or_default()
    }

    /// Returns the finding of a mistake at a site. `call` is the public name of the callee.
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
            row_advice: scheduler_advice(linker, site.file),
            holds_gil: false,
            occurrence: 0,
            reasons: Vec::new(),
            reached_by: Vec::new(),
            partly_suppressed: Vec::new(),
            doubts: Vec::new(),
            aside: None,
            suppressed: self.suppressions.find_suppression(linker.program, site, span.start, body, rule),
        }
    }
}

/// Returns advice that says if the project's version of the library has the scheduler that an edit needs (Java).
fn scheduler_advice(linker: &Linker<'_>, file: FileId) -> RowAdvice {
    let mut row_advice = RowAdvice::default();
    if let (Language::Java, Some(publishers)) =
        (linker.program.language(file), Runtime::publishers(Some(Runtime::Reactor)))
    {
        row_advice.pool_availability = linker.version_availability(file, &publishers.workers_path());
    }
    row_advice
}
