//! Rule `called-instead-of-handed-over`: a call hands the result of a function over instead of the function, as in
//! `to_thread(work())`, so the function blocks the calling thread.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Context, Language, Mistake, RuleCode, Severity};
use blocklint_facts::{BodyKind, Flow, Form, SiteKind};
use blocklint_flow::entries::publisher_factory::chain_factory_of;
use blocklint_flow::search::suppressions::Suppressions;
use blocklint_link::calls::targets::Target;
use blocklint_link::imports::library_reach::LibraryReach;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, PathId, SiteRef};
use blocklint_link::values::value::{EnvId, Val, Why};
use blocklint_models::{Passes, RowEffect, Runs, Selector, Uses};
use rustc_hash::FxHashSet;

use crate::rules::mistakes::MistakeSearch;

const RULE: RuleCode = RuleCode::CALLED_INSTEAD_OF_HANDED_OVER;

/// A call whose result is handed over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandedResult {
    /// The call whose result is handed over.
    pub(crate) called: SiteRef,
    /// The call that takes the result.
    pub(crate) taker: SiteRef,
    /// The path of the taker's row.
    pub(crate) path: PathId,
    /// The confidence that the result is not callable.
    pub(crate) confidence: Confidence,
    /// True if the taker forwards its further arguments to the callable.
    pub(crate) forwards_arguments: bool,
}

/// Returns the findings of this rule.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let linker = search.linker;
    let results = search.attempt(RULE, || find_handed_results(linker, search.reach));
    let finding = |handed: HandedResult| {
        let mistake = Mistake::CalledInsteadOfHandedOver { taker: linker.written_site(handed.taker) };
        let call = linker.library.text(handed.path).to_string();
        let mut finding =
            search.finding((RULE, mistake), handed.called, call, severity(linker, handed.called), handed.confidence);
        finding.row_advice.forwards_arguments = handed.forwards_arguments;
        finding.row_advice.returns_coroutine = returns_coroutine(linker, handed.called);
        finding
    };
    results.into_iter().map(finding).collect()
}

/// Turns findings of blocking calls whose value is an argument of a chain factory (`Mono.just(load())`) into findings
/// of this rule, because such calls run before the chain exists (Java).
pub(crate) fn turn_into_findings_of_chains(
    linker: &Linker<'_>,
    suppressions: &Suppressions,
    findings: &mut Vec<RawFinding>,
) {
    let mut reported: FxHashSet<SiteRef> = FxHashSet::default();
    findings.retain_mut(|finding| {
        // Notes stay as they are, because a short call does no harm there.
        let is_held = finding.mistake == Mistake::BlockingCall && finding.severity > Severity::Note;
        if finding.handed || !is_held || linker.program.language(finding.file) != Language::Java {
            return true;
        }
        let Some(taker) = chain_factory_of(linker, finding.site) else { return true };
        finding.rule = RULE;
        finding.mistake = Mistake::CalledInsteadOfHandedOver { taker: linker.written_site(taker) };
        finding.severity = severity(linker, finding.site);
        if finding.suppressed.is_none() {
            finding.suppressed =
                suppressions.find_suppression(linker.program, finding.site, finding.span.start, finding.root, RULE);
        }
        reported.insert(finding.site)
    });
}

/// Returns the severity of a call that runs too early, which is lower in a test.
fn severity(linker: &Linker<'_>, called: SiteRef) -> Severity {
    if linker.program.is_test(called.file) { Severity::Warning } else { Severity::Error }
}

/// Returns all calls of the program whose result is handed over, in order.
pub(crate) fn find_handed_results(linker: &Linker<'_>, reach: &LibraryReach) -> Vec<HandedResult> {
    let sites = [Language::Python, Language::Rust]
        .into_iter()
        .flat_map(|language| linker.sites_of_rows(reach, language, Uses::HANDOVER, &[SiteKind::Call], |paths| paths));
    let has_result_argument = |site: &SiteRef| {
        if !linker.is_reported(site.file) {
            return false;
        }
        let facts = linker.program.facts(site.file);
        linker.program.args_of(*site).into_iter().any(|arg| match facts.form(arg.value) {
            Form::Result(inner) => facts.site(inner).kind == SiteKind::Call,
            _ => false,
        })
    };
    sites.filter(has_result_argument).flat_map(|site| handed_results_at(linker, site)).collect()
}

/// Returns the calls whose results a site hands over.
fn handed_results_at(linker: &Linker<'_>, site: SiteRef) -> Vec<HandedResult> {
    let facts = linker.program.facts(site.file);
    let mut results: Vec<HandedResult> = Vec::new();
    for target in &linker.targets(site, EnvId::NONE).list {
        let Target::Row { path, .. } = *target else { continue };
        for matched in linker.library.handovers(path).iter() {
            let Selector::Argument(argument) = &matched.selector else { continue };
            if matched.wraps || !linker.conditions_hold(&matched.when, &matched.unless, site, EnvId::NONE) {
                continue;
            }
            let Some(form) = linker.argument(site, argument) else { continue };
            let Form::Result(inner) = facts.form(form) else { continue };
            let called = site.file.site_ref(inner);
            if facts.site(inner).kind != SiteKind::Call || results.iter().any(|known| known.called == called) {
                continue;
            }
            // If the callable runs on a loop, the taker also accepts a coroutine.
            let takes_coroutines = match linker.handover_context(matched.row, site, true) {
                Runs::In(context) => context != Context::Worker,
                Runs::Caller | Runs::Chain => continue,
            };
            if returns_own_object(linker, called, path) {
                continue;
            }
            if let Some(confidence) = confidence_of_no_callable(linker, called, takes_coroutines) {
                let forwards_arguments = matched.passes == Some(Passes::Rest);
                results.push(HandedResult { called, taker: site, path, confidence, forwards_arguments });
            }
        }
    }
    results
}

/// True if a call returns a coroutine or another awaitable.
pub(crate) fn returns_coroutine(linker: &Linker<'_>, called: SiteRef) -> bool {
    let value = linker.result(called, EnvId::NONE);
    linker.values.members(value.value).iter().any(|val| matches!(val, Val::Coroutine { .. } | Val::Awaitable(_)))
}

/// True if a call returns an object of the library that takes it. Libraries accept their own objects in place of
/// functions: `graph.add_node("research", subgraph.compile())` (Python).
fn returns_own_object(linker: &Linker<'_>, called: SiteRef, taker: PathId) -> bool {
    if linker.program.language(called.file) != Language::Python {
        return false;
    }
    let root = |path: PathId| linker.library.text(path).split('.').next().unwrap_or_default().to_owned();
    let own = root(taker);
    let value = linker.result(called, EnvId::NONE);
    linker.values.members(value.value).iter().any(|val| matches!(*val, Val::Library { ty, .. } if root(ty) == own))
}

/// Returns the confidence that the result of a call is not callable; `None` if it may be callable.
fn confidence_of_no_callable(linker: &Linker<'_>, called: SiteRef, takes_coroutines: bool) -> Option<Confidence> {
    let targets = linker.targets(called, EnvId::NONE);
    let is_stub = |target: &Target| match *target {
        Target::Body { body, .. } => linker.program.body(body).class.is_some() && linker.is_stub(body),
        _ => false,
    };
    let is_open = targets.list.iter().any(|target| is_stub(target) || matches!(target, Target::Overrides { .. }));
    if is_open || targets.list.is_empty() {
        return None;
    }
    let steps = if targets.steps == 0 { Confidence::High } else { Confidence::Medium };
    if targets.list.iter().all(|target| matches!(*target, Target::Body { body, .. } if returns_no_value(linker, body)))
    {
        return Some(steps);
    }
    let value = linker.result(called, EnvId::NONE);
    let members = linker.values.members(value.value);
    let is_unknown = members.iter().all(|val| matches!(val, Val::Unknown(Why::Result)));
    if is_unknown {
        // The author probably meant a blocking call to run elsewhere, even if its result is unknown.
        let holds = targets.list.iter().all(|target| match *target {
            Target::Row { path, .. } => {
                linker.library.calls(path).effect().any(|row| matches!(row.effect, Some(RowEffect::Holds(_))))
            }
            _ => false,
        });
        return holds.then_some(Confidence::Medium);
    }
    let no_callable = |val: &Val| match *val {
        Val::None | Val::Tuple(_) | Val::Iter { .. } => true,
        Val::Coroutine { .. } | Val::Awaitable(_) => !takes_coroutines,
        Val::Library { ty, .. } => {
            let call = linker.library.member(ty, "__call__");
            linker.library.ty(ty).is_some() && linker.library.calls(call).is_empty() && !linker.may_be_callable(ty)
        }
        _ => false,
    };
    members.iter().all(no_callable).then_some(steps)
}

/// True if a function returns no value.
fn returns_no_value(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    linker.program.body(body).flow == Flow::Sync
        && linker.program.body(body).kind == BodyKind::Function
        && facts.text(linker.program.body(body).name) != "__init__"
        && !linker.program.exits_in(body).any(|exit| exit.value.is_some())
}
