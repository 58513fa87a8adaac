//! Findings of a finished search, in five steps: collect candidates, judge them, collect their causes, group them by
//! place and rule, and number equal ones. The graph is complete before, and `blocklint_rules` words the findings
//! afterwards.

mod causes;
mod collect;
mod group;
mod judged;
pub(crate) mod must_not_block;
mod number;
mod partly_silenced;
mod reasons;

use blocklint_core::{Mistake, RuleCode, Starved};
use blocklint_flow::callers::Callers;
use blocklint_flow::graph::Graph;
use blocklint_flow::graph::all_paths::PathNetwork;
use blocklint_flow::graph::best_path::Paths;
use blocklint_flow::graph::causes::Causes;
use blocklint_flow::graph::raw_finding::RawCause;
use blocklint_flow::judge::Judge;
use blocklint_flow::judge::candidate::CandidatesByPlace;
use blocklint_flow::lifecycle::reached_by::ReachedBy;
use blocklint_flow::search::suppressions::Suppressions;
use blocklint_link::linker::Linker;
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::models::unit_facts::{SwitchEvidence, Units};
use blocklint_link::program::ids::SiteRef;

use crate::raw_finding::RawFinding;

use self::causes::collect_causes;
use self::collect::collect_candidates;
use self::group::group_candidates;
use self::judged::judge_candidates;
use self::number::sort_and_number;
use crate::Options;
use crate::rules::called_instead_of_handed_over::turn_into_findings_of_chains;
use crate::rules::large_response_on_loop::{other_path, shows_by_code};
use crate::rules::mistakes::MistakeSearch;
use crate::rules::native_call_blocks_hub::find_blocked_hubs;
use crate::rules::pool_starvation::enters_result_of;
use crate::rules::unbounded_offload::Offloads;

/// The graph of a finished search, with the best paths and causes that are computed from it.
pub(crate) struct SolvedGraph<'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) suppressions: &'l Suppressions,
    pub(crate) judge: &'l Judge,
    pub(crate) graph: &'l Graph<'a>,
    pub(crate) options: Options,
    pub(crate) paths: Paths,
    pub(crate) causes: Causes,
}

impl<'l, 'a> SolvedGraph<'l, 'a> {
    /// Computes best paths and causes of a graph.
    pub(crate) fn new(
        linker: &'l Linker<'a>,
        suppressions: &'l Suppressions,
        judge: &'l Judge,
        graph: &'l Graph<'a>,
        options: Options,
    ) -> Self {
        let (paths, causes) = (Paths::new(linker, graph), Causes::new(linker, graph));
        SolvedGraph { linker, suppressions, judge, graph, options, paths, causes }
    }
}

/// Returns the findings and causes of a finished search. Adds all paths of findings to `path_network`.
pub(crate) fn findings(
    solved: &SolvedGraph<'_, '_>,
    path_network: Option<&mut PathNetwork>,
) -> (Vec<RawFinding>, Vec<RawCause>) {
    let SolvedGraph { linker, suppressions, graph, .. } = *solved;
    let callers = Callers::new(linker);
    let mut places = collect_candidates(solved);
    let reached_by = ReachedBy::new(linker, &callers);
    let joined = judge_candidates(solved, &callers, &reached_by, &mut places);
    let units = Units::new(linker, SwitchEvidence { shows: shows_by_code, other_path });
    let find_hubs = || find_blocked_hubs(linker, suppressions, solved.judge, graph, &solved.causes, &units);
    let hubs = linker.attempt(WorkUnit::Step("native calls that greenlets reach"), find_hubs).unwrap_or_default();
    let causes = collect_causes(solved, &places, &hubs);
    let mut offloads = Offloads::new(linker, &callers, graph);
    let reach = linker.reach();
    let mut search =
        MistakeSearch { linker, suppressions, units: &units, callers: &callers, reach, offloads: &mut offloads };
    let mut mistakes = search.findings();
    mistakes.extend(hubs);
    drop_reported_as_mistake(linker, &mut places, &mistakes);
    let mut findings = group_candidates(solved, places, &joined, &mut offloads, path_network);
    let rule = WorkUnit::Rule(RuleCode::CALLED_INSTEAD_OF_HANDED_OVER);
    linker.attempt(rule, || turn_into_findings_of_chains(linker, suppressions, &mut findings));
    findings.extend(mistakes);
    sort_and_number(linker, &mut findings);
    if solved.options.records_reasons {
        for finding in &mut findings {
            let entries = linker.attempt(WorkUnit::Body(finding.root), || {
                if finding.handed {
                    reached_by.entries_of_registration(finding.root, finding.site)
                } else {
                    reached_by.entries_of(finding.root)
                }
            });
            finding.reached_by = entries.unwrap_or_default();
        }
    }
    (findings, causes)
}

/// Drops candidates at calls that are reported as called instead of handed over, or as holding a connection over an
/// `await`, because one finding for a call is enough.
fn drop_reported_as_mistake(linker: &Linker<'_>, places: &mut CandidatesByPlace, mistakes: &[RawFinding]) {
    places.retain(|(site, ..), _| {
        let Some(_work) = linker.enter_unit_of_site(*site) else { return false };
        !mistakes.iter().any(|reported| {
            (reported.site == *site || enters_result_of(linker, *site, reported.site))
                && matches!(
                    reported.mistake,
                    Mistake::CalledInsteadOfHandedOver { .. } | Mistake::PoolStarvation(Starved::OverAwait { .. })
                )
        })
    });
}

/// True if a site is in a loop.
pub(crate) fn is_repeated(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    facts.is_in_loop(linker.program.site(site).at.region)
}
