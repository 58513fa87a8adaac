//! Findings of a finished search, in five steps: collect candidates, judge them, name their causes, group them by place and rule,
//! number those that are equal. No paths are found here, and nothing is worded.

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

use self::causes::name_causes;
use self::collect::collect;
use self::group::group;
use self::judged::judge;
use self::number::sort_and_number;
use crate::Options;
use crate::rules::called_instead_of_handed_over::called_for_a_chain;
use crate::rules::large_response_on_loop::{other_path, shows_by_code};
use crate::rules::mistakes::MistakeSearch;
use crate::rules::native_call_blocks_hub::blocked_hubs;
use crate::rules::pool_starvation::enters;
use crate::rules::unbounded_offload::Offloads;

/// The graph of a finished search, and the paths and causes that are read off it.
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
    /// Finds best paths and causes.
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

/// Returns findings and causes of a finished search.
pub(crate) fn findings(
    solved: &SolvedGraph<'_, '_>,
    net: Option<&mut PathNetwork>,
) -> (Vec<RawFinding>, Vec<RawCause>) {
    let SolvedGraph { linker, suppressions, graph, .. } = *solved;
    let callers = Callers::new(linker);
    let mut places = collect(solved);
    let reached_by = ReachedBy::new(linker, &callers);
    let joined = judge(solved, &callers, &reached_by, &mut places);
    let units = Units::new(linker, SwitchEvidence { shows: shows_by_code, other_path });
    let find_hubs = || blocked_hubs(linker, suppressions, solved.judge, graph, &solved.causes, &units);
    let hubs = linker.attempt(WorkUnit::Step("native calls that greenlets reach"), find_hubs).unwrap_or_default();
    let causes = name_causes(solved, &places, &hubs);
    let mut offloads = Offloads::new(linker, &callers, graph);
    let reach = linker.reach();
    let mut search =
        MistakeSearch { linker, suppressions, units: &units, callers: &callers, reach, offloads: &mut offloads };
    let mut misused = search.findings();
    misused.extend(hubs);
    drop_reported_as_misuse(linker, &mut places, &misused);
    let mut found = group(solved, places, &joined, &mut offloads, net);
    let rule = WorkUnit::Rule(RuleCode::CALLED_INSTEAD_OF_HANDED_OVER);
    linker.attempt(rule, || called_for_a_chain(linker, suppressions, &mut found));
    found.extend(misused);
    sort_and_number(linker, &mut found);
    if solved.options.account {
        for finding in &mut found {
            let entries = linker.attempt(WorkUnit::Body(finding.root), || match finding.handed {
                true => reached_by.of_handed(finding.root, finding.site),
                false => reached_by.of(finding.root),
            });
            finding.reached_by = entries.unwrap_or_default();
        }
    }
    (found, causes)
}

/// Drops candidates at calls that are reported because they are called instead of handed over: one finding is enough.
fn drop_reported_as_misuse(linker: &Linker<'_>, places: &mut CandidatesByPlace, misused: &[RawFinding]) {
    places.retain(|(site, ..), _| {
        let Some(_guard) = linker.enter_unit_of_site(*site) else { return false };
        !misused.iter().any(|one| {
            (one.site == *site || enters(linker, *site, one.site))
                && matches!(
                    one.mistake,
                    Mistake::CalledInsteadOfHandedOver { .. } | Mistake::Starves(Starved::OverAwait { .. })
                )
        })
    });
}

/// True if one run of its body may run a site many times.
pub(crate) fn is_repeated(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    facts.in_loop(linker.program.site(site).at.region)
}
