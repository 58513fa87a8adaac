//! Calls whose result is handed over where the callable was meant: `to_thread(work())`.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Language, Mistake, RuleCode, Severity};
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

/// The rule of this file.
const RULE: RuleCode = RuleCode::CALLED_INSTEAD_OF_HANDED_OVER;

/// One such call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandedResult {
    /// The call whose result is handed over.
    pub(crate) called: SiteRef,
    /// The call that takes it.
    pub(crate) taker: SiteRef,
    /// The path of the taker's row.
    pub(crate) path: PathId,
    /// How sure it is that the result is no callable.
    pub(crate) confidence: Confidence,
    /// The taker passes further arguments on to the callable.
    pub(crate) passes: bool,
}

/// Returns the findings of this rule.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let linker = search.linker;
    let all = search.attempt(RULE, || handed_results(linker, search.reach));
    let finding = |one: HandedResult| {
        let mistake = Mistake::CalledInsteadOfHandedOver { taker: linker.written_site(one.taker) };
        let call = linker.library.text(one.path).to_string();
        let mut finding =
            search.finding((RULE, mistake), one.called, call, severity(linker, one.called), one.confidence);
        finding.row_advice.forwards_arguments = one.passes;
        finding.row_advice.returns_coroutine = returns_coroutine(linker, one.called);
        finding
    };
    all.into_iter().map(finding).collect()
}

/// Turns blocking calls whose value is an argument of a chain's factory (`just(f())`) into findings of this rule: they run before there is
/// a chain.
pub(crate) fn called_for_a_chain(linker: &Linker<'_>, suppressions: &Suppressions, found: &mut Vec<RawFinding>) {
    let mut said: FxHashSet<SiteRef> = FxHashSet::default();
    found.retain_mut(|finding| {
        // A short call is no mistake of the chain.
        let is_held = finding.mistake == Mistake::Holds && finding.severity > Severity::Note;
        if finding.handed || !is_held || linker.program.language(finding.file) != Language::Java {
            return true;
        }
        let Some(taker) = chain_factory_of(linker, finding.site) else { return true };
        finding.rule = RULE;
        finding.mistake = Mistake::CalledInsteadOfHandedOver { taker: linker.written_site(taker) };
        finding.severity = severity(linker, finding.site);
        if finding.suppressed.is_none() {
            finding.suppressed =
                suppressions.hides(linker.program, finding.site, finding.span.start, finding.root, RULE);
        }
        said.insert(finding.site)
    });
}

/// Returns the severity of a call that runs too early: less in a test.
fn severity(linker: &Linker<'_>, called: SiteRef) -> Severity {
    if linker.program.is_test(called.file) { Severity::Warning } else { Severity::Error }
}

/// Returns all such calls of the program, in order.
pub(crate) fn handed_results(linker: &Linker<'_>, reach: &LibraryReach) -> Vec<HandedResult> {
    let sites = [Language::Python, Language::Rust]
        .into_iter()
        .flat_map(|language| linker.sites_of_rows(reach, language, Uses::HANDOVER, &[SiteKind::Call], |paths| paths));
    let gives_result = |site: &SiteRef| {
        if !linker.is_reported(site.file) {
            return false;
        }
        let facts = linker.program.facts(site.file);
        linker.program.args_of(*site).into_iter().any(|arg| match facts.form(arg.value) {
            Form::Result(inner) => facts.site(inner).kind == SiteKind::Call,
            _ => false,
        })
    };
    sites.filter(gives_result).flat_map(|site| handed_at(linker, site)).collect()
}

fn handed_at(linker: &Linker<'_>, site: SiteRef) -> Vec<HandedResult> {
    let facts = linker.program.facts(site.file);
    let mut found: Vec<HandedResult> = Vec::new();
    for target in &linker.targets(site, EnvId::NONE).list {
        let Target::Row { path, .. } = *target else { continue };
        for row in linker.library.handovers(path).iter() {
            let Selector::Argument(argument) = &row.selector else { continue };
            if row.wraps || !linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE) {
                continue;
            }
            let Some(form) = linker.argument(site, argument) else { continue };
            let Form::Result(inner) = facts.form(form) else { continue };
            let called = site.file.site_ref(inner);
            if facts.site(inner).kind != SiteKind::Call || found.iter().any(|one| one.called == called) {
                continue;
            }
            // Where a coroutine runs it may be given as one.
            let takes_coroutines = match linker.handover_context(row.row, site, true) {
                Runs::In(context) => context != blocklint_core::Context::Worker,
                Runs::Caller | Runs::Chain => continue,
            };
            if returns_own_object(linker, called, path) {
                continue;
            }
            if let Some(confidence) = is_no_callable(linker, called, takes_coroutines) {
                let passes = row.passes == Some(Passes::Rest);
                found.push(HandedResult { called, taker: site, path, confidence, passes });
            }
        }
    }
    found
}

/// True if a call returns a coroutine or something else to await.
pub(crate) fn returns_coroutine(linker: &Linker<'_>, called: SiteRef) -> bool {
    let value = linker.result(called, EnvId::NONE);
    linker.values.members(value.value).iter().any(|val| matches!(val, Val::Coroutine { .. } | Val::Awaitable(_)))
}

/// True if a call returns an object of the library that takes it. Libraries accept their own objects in place of
/// functions: `graph.add_node("research", subgraph.compile())`. (Python)
fn returns_own_object(linker: &Linker<'_>, called: SiteRef, taker: PathId) -> bool {
    if linker.program.language(called.file) != Language::Python {
        return false;
    }
    let root = |path: PathId| linker.library.text(path).split('.').next().unwrap_or_default().to_owned();
    let own = root(taker);
    let value = linker.result(called, EnvId::NONE);
    linker.values.members(value.value).iter().any(|val| matches!(*val, Val::Library { ty, .. } if root(ty) == own))
}

/// Returns how sure it is that a call's result cannot be called; `None` if it may be a callable.
fn is_no_callable(linker: &Linker<'_>, called: SiteRef, takes_coroutines: bool) -> Option<Confidence> {
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
    let is_without_callers = members.iter().all(|val| matches!(val, Val::Unknown(Why::Result)));
    if is_without_callers {
        // A blocking call of which nothing else is known was probably meant to run elsewhere.
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
            linker.library.ty(ty).is_some() && linker.library.calls(call).is_empty() && !linker.may_call(ty)
        }
        _ => false,
    };
    members.iter().all(no_callable).then_some(steps)
}

/// True if a function ends without giving a value.
fn returns_no_value(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    linker.program.body(body).flow == Flow::Sync
        && linker.program.body(body).kind == BodyKind::Function
        && facts.text(linker.program.body(body).name) != "__init__"
        && !linker.program.exits_in(body).any(|exit| exit.value.is_some())
}
