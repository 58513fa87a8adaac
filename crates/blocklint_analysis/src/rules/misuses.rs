//! Findings that no blocking call at the end of a path makes: calls instead of handovers, large responses, late patches, locks,
//! pools and what is made anew.

use crate::rules::called_instead::{gives_coroutine, handed_results};
use crate::rules::large_response::LargeResponse;
use crate::rules::large_response::{large_responses, slow_call};
use crate::rules::late_patch::late_imports;
use crate::rules::lock_over_await::{guards_over_await, is_test_site};
use crate::rules::unbounded_offload::Offloads;
use crate::rules::unbounded_offload::elsewhere::CalledHere;
use blocklint_core::{Confidence, Context, Effect, Hold, Language, RuleCode, Runtime, Severity};
use blocklint_facts::SiteKind;
use blocklint_flow::callers::Callers;
use blocklint_flow::entries::publisher_factory::factory_given;
use blocklint_flow::graph::raw_finding::{Mending, RawFinding, RawStep, What};
use blocklint_flow::graph::trace::place_of;
use blocklint_flow::search::locks::{held_over_await, holder_name};
use blocklint_flow::search::suppressions::{Misuse, Suppressions};
use blocklint_link::linker::Linker;
use blocklint_link::linker::work::Unit;
use blocklint_link::models::unit_facts::Units;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_models::{Creates, Role};
use rustc_hash::FxHashSet;

/// A blocking call whose value is an argument of a chain's factory (`just(f())`) runs before there is a chain: that is
/// said once, instead of what it does to the thread.
pub(crate) fn called_for_a_chain(
    linker: &Linker<'_>,
    cuts: &Suppressions,
    rule: blocklint_core::RuleCode,
    found: &mut Vec<RawFinding>,
) {
    let mut said: FxHashSet<SiteRef> = FxHashSet::default();
    found.retain_mut(|finding| {
        // What is short is no mistake of the chain.
        let is_held = finding.what == What::Holds && finding.severity > Severity::Note;
        if finding.handed || !is_held || linker.program.language(finding.file) != Language::Java {
            return true;
        }
        let Some(taker) = factory_given(linker, finding.site) else { return true };
        finding.rule = rule;
        finding.what = What::CalledInstead { taker: linker.written_site(taker) };
        finding.severity = match linker.program.is_test(finding.file) {
            true => Severity::Error.lowered(),
            false => Severity::Error,
        };
        if finding.suppressed.is_none() {
            finding.suppressed = cuts.hides(linker.program, finding.site, finding.span.start, finding.root, rule);
        }
        said.insert(finding.site)
    });
}

/// Mistakes that are no effect of a call.
pub(crate) fn misuses<'a>(
    linker: &Linker<'a>,
    cuts: &Suppressions,
    units: &Units,
    callers: &Callers<'_, 'a>,
    offloads: &mut Offloads<'_, '_, 'a>,
) -> Vec<RawFinding> {
    let reach = linker.reach();
    let mut found = Vec::new();
    if let Some(rule) = cuts.rule_of_misuse(Misuse::CalledInsteadOfHandedOver) {
        for one in linker.attempt(Unit::Rule(rule), || handed_results(linker, reach)).into_iter().flatten() {
            let what = What::CalledInstead { taker: linker.written_site(one.taker) };
            let call = linker.library.text(one.path).to_string();
            let severity = match linker.program.is_test(one.called.file) {
                true => Severity::Error.lowered(),
                false => Severity::Error,
            };
            let mut finding = misuse(linker, cuts, rule, what, one.called, call, severity, one.confidence);
            finding.mending.passes = one.passes;
            finding.mending.gives_coroutine = gives_coroutine(linker, one.called);
            found.push(finding);
        }
    }
    if let Some(rule) = cuts.rule_of_misuse(Misuse::LateMonkeyPatch) {
        for one in linker.attempt(Unit::Rule(rule), || late_imports(linker, units)).into_iter().flatten() {
            let what = What::LatePatch { taken: one.taken.clone(), is_module: one.is_module, patch: one.patch };
            let mut finding =
                misuse(linker, cuts, rule, what, one.site, one.taken.clone(), Severity::Warning, one.confidence);
            if one.way.is_empty() {
                found.push(finding);
                continue;
            }
            finding.trace = one.way.iter().map(|&site| import_step(linker, site, &one.taken)).collect();
            found.push(finding);
        }
    }
    if let Some(rule) = cuts.rule_of_misuse(Misuse::LargeResponse) {
        for one in linker.attempt(Unit::Rule(rule), || large_responses(linker, units)).into_iter().flatten() {
            found.push(large_response(linker, cuts, rule, one));
        }
    }
    if let Some(rule) = cuts.rule_of_misuse(Misuse::LockHeldOverAwait) {
        let all = || held_over_await(linker).into_iter().chain(guards_over_await(linker)).collect::<Vec<_>>();
        for one in linker.attempt(Unit::Rule(rule), all).into_iter().flatten() {
            let reentrant = linker.library.role(one.ty) == Some(Role::ReentrantLock);
            let what = What::LockOverAwait { awaited: linker.written_site(one.awaited), reentrant };
            let call = linker.library.text(one.ty).to_string();
            let severity = match is_test_site(linker, one.taken) {
                true => Severity::Warning.lowered(),
                false => Severity::Warning,
            };
            let mut finding = misuse(linker, cuts, rule, what, one.taken, call, severity, Confidence::High);
            // `lock.acquire()` takes the lock that stands before the name.
            let facts = linker.program.facts(one.taken.file);
            if facts.language == Language::Python
                && linker.program.site(one.taken).kind == SiteKind::Call
                && let Some(lock) = linker.receiver_form(one.taken)
                && let Some(first) = finding.trace.first_mut()
            {
                first.written = linker.written(one.taken.file, lock);
            }
            found.push(finding);
        }
    }
    let made_anew = || crate::rules::made_anew::made_anew(linker, callers, reach);
    for one in linker.attempt(Unit::Step("what is made anew again and again"), made_anew).into_iter().flatten() {
        let misuse_of = match one.creates {
            Creates::Threads => Misuse::ThreadsMadeAnew,
            Creates::Connections | Creates::Pool => Misuse::ConnectionsMadeAnew,
        };
        let Some(rule) = cuts.rule_of_misuse(misuse_of) else { continue };
        let what = What::MadeAnew { creates: one.creates, anew: one.anew };
        let call = linker.library.text(one.path).to_string();
        found.push(misuse(linker, cuts, rule, what, one.site, call, one.severity, one.confidence));
    }
    if let Some(rule) = cuts.rule_of_misuse(Misuse::PoolStarved) {
        let all = || {
            let holds = crate::rules::pool_starvation::pool_holds(linker, reach);
            holds.into_iter().chain(crate::rules::own_job::own_jobs(linker, reach)).collect::<Vec<_>>()
        };
        for one in linker.attempt(Unit::Rule(rule), all).into_iter().flatten() {
            let call = linker.library.text(one.path).to_string();
            let what = What::Starves(one.starved);
            found.push(misuse(linker, cuts, rule, what, one.site, call, one.severity, one.confidence));
        }
    }
    let handed = linker.attempt(Unit::Step("work that is handed over without a bound"), || {
        crate::rules::unbounded_offload::offloads(offloads)
    });
    for one in handed.into_iter().flatten() {
        // What starves a pool is that rule's.
        let misuse_of = if one.takes.is_some() { Misuse::PoolStarved } else { Misuse::UnboundedOffload };
        let Some(rule) = cuts.rule_of_misuse(misuse_of) else { continue };
        let takes = one.takes.map(|path| linker.library.text(path).to_string());
        let what = What::Offloads { unbounded: one.unbounded, takes };
        let call = linker.library.text(one.path).to_string();
        let mut finding = misuse(linker, cuts, rule, what, one.site, call.clone(), one.severity, one.confidence);
        if let Some(behind) = one.behind {
            let owner = linker.qualified_name(linker.program.body_of_site(behind));
            finding.trace[0].call = owner.clone();
            finding.trace.push(RawStep {
                file: behind.file,
                span: linker.program.site(behind).span,
                function: owner,
                call,
                written: linker.written_site(behind),
            });
        }
        found.push(finding);
    }
    if let Some(rule) = cuts.rule_of(Effect::Cpu, false, Context::EventLoop) {
        let here = linker.attempt(Unit::Step("calculations that others hand over"), || {
            crate::rules::unbounded_offload::elsewhere::called_here(offloads)
        });
        found.extend(here.into_iter().flatten().map(|one| called_on_a_loop(linker, cuts, rule, one)));
    }
    found
}

/// A calculation that somebody else hands to a thread.
fn called_on_a_loop(linker: &Linker<'_>, cuts: &Suppressions, rule: RuleCode, one: CalledHere) -> RawFinding {
    let call = linker.qualified_name(one.function);
    let other = holder_name(linker, one.elsewhere);
    let mut finding = misuse(linker, cuts, rule, What::Holds, one.site, call, Severity::Warning, Confidence::Medium);
    finding.effect = Some(Effect::Cpu);
    finding.context = Some(Context::EventLoop);
    finding.note = Some(format!("`{other}` hands the same to a thread"));
    finding
}

/// A response that may be large: it stands at the route, or at the call that renders.
fn large_response(
    linker: &Linker<'_>,
    cuts: &Suppressions,
    rule: blocklint_core::RuleCode,
    one: LargeResponse,
) -> RawFinding {
    let endpoint = linker.qualified_name(one.endpoint);
    let what = What::LargeResponse {
        way: one.way,
        endpoint: blocklint_core::body_name(&endpoint).to_owned(),
        source: one.source.map(|source| linker.written_site(source)),
        is_unseen: one.is_unseen,
        bound: one.bound,
        fields: one.fields,
        levels: one.levels,
        versions: one.versions,
        class: one.class,
        model: one.model,
    };
    let mut finding =
        misuse(linker, cuts, rule, what, one.site, slow_call(one.way).to_owned(), one.severity, one.confidence);
    finding.root = one.endpoint;
    finding.context = Some(blocklint_core::Context::EventLoop);
    finding.trace[0].function = endpoint;
    finding.trace[0].written = slow_call(one.way).to_owned();
    if finding.suppressed.is_none() {
        finding.suppressed = cuts.hides(linker.program, one.site, finding.span.start, one.endpoint, rule);
    }
    finding
}

/// A step of a trace that is an import.
fn import_step(linker: &Linker<'_>, site: SiteRef, taken: &str) -> RawStep {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    RawStep {
        file: site.file,
        span: row.span,
        function: linker.module_name(site.file),
        call: taken.to_owned(),
        written: format!("import {}", facts.text(row.name)),
    }
}

/// Java: whether the schedulers that an edit makes are there.
fn of_schedulers(linker: &Linker<'_>, file: FileId) -> Mending {
    let mut mending = Mending::default();
    if let (Language::Java, Some(of)) = (linker.program.language(file), Runtime::publishers(Some(Runtime::Reactor))) {
        mending.pool = linker.has_version_for(file, &of.workers_path());
    }
    mending
}

#[expect(clippy::too_many_arguments, reason = "a finding has that many sides")]
fn misuse(
    linker: &Linker<'_>,
    cuts: &Suppressions,
    rule: blocklint_core::RuleCode,
    what: What,
    site: SiteRef,
    call: String,
    severity: Severity,
    confidence: Confidence,
) -> RawFinding {
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
        what,
        effect: None,
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
        mending: of_schedulers(linker, site.file),
        holds_gil: false,
        occurrence: 0,
        reasons: Vec::new(),
        partly_silenced: Vec::new(),
        doubts: Vec::new(),
        aside: None,
        suppressed: cuts.hides(linker.program, site, span.start, body, rule),
    }
}
