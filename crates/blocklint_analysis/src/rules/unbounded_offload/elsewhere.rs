//! Calculations that the project hands over to a thread in one place and calls directly in a coroutine in another
//! (Rust, rule `cpu-bound`). The handover shows that the author expects the calculation to be long.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Context, Effect, Language, Mistake, RuleCode, Severity};
use blocklint_facts::{BodyFlags, BodyId, BodyKind, ExitKind, FileFacts, Flow, Form, FormId, SiteId, SiteKind};
use blocklint_flow::search::locks::name_of_function_holding;
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::values::value::EnvId;
use rustc_hash::FxHashMap;

use super::{CalculationMemo, Offloads, calculates, find_handovers_in};
use crate::rules::mistakes::MistakeSearch;

/// Returns the findings for calculations that a coroutine calls and other code hands over.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let linker = search.linker;
    let step = WorkUnit::Step("calculations that other code passes to threads");
    let direct_calls = linker.attempt(step, || find_direct_calls(search.offloads)).unwrap_or_default();
    let finding = |direct: DirectCall| {
        let call = linker.qualified_name(direct.function);
        let (mistake, severity) = ((RuleCode::CPU_BOUND, Mistake::BlockingCall), Severity::Warning);
        let mut finding = search.finding(mistake, direct.site, call, severity, Confidence::Medium);
        finding.effect = Some(Effect::Cpu);
        finding.context = Some(Context::EventLoop);
        finding.note =
            Some(format!("`{}` runs the same in a thread", name_of_function_holding(linker, direct.handover)));
        finding
    };
    direct_calls.into_iter().map(finding).collect()
}

/// A direct call of a function that other code hands over to a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectCall {
    /// The call in a coroutine.
    pub(crate) site: SiteRef,
    /// The function that it calls.
    pub(crate) function: BodyRef,
    /// The call that runs the function on a thread.
    pub(crate) handover: SiteRef,
}

/// Returns all direct calls of functions that other code hands over, in order.
fn find_direct_calls(offloads: &mut Offloads<'_, '_, '_>) -> Vec<DirectCall> {
    let linker = offloads.linker;
    let mut memo = CalculationMemo::default();
    let mut handed_over: FxHashMap<BodyRef, SiteRef> = FxHashMap::default();
    // All files are searched, also in a search of a few files, because a handover elsewhere explains a call in them.
    for handover in find_handovers_in(linker, &[Language::Rust], |site| !is_aside(linker, site)) {
        for function in handover.tasks.iter().flat_map(|&task| functions_of_task(linker, task)) {
            let first_site = handed_over.entry(function).or_insert(handover.site);
            *first_site = (*first_site).min(handover.site);
        }
    }
    let mut direct_calls = Vec::new();
    for (function, handover) in handed_over {
        // A function with a label has findings of its own.
        let is_labelled = offloads.waits.contains(&function) || offloads.calculating.contains(&function);
        if is_labelled || !(calculates(linker, function, &mut memo) || only_calls_library(linker, function)) {
            continue;
        }
        for &site in offloads.callers.call_sites(function).iter() {
            let facts = linker.program.facts(site.file);
            let site_facts = linker.program.site(site);
            let body = facts.body(facts.body_of(site_facts.at));
            let is_call = site_facts.kind == SiteKind::Call && body.flow == Flow::Coroutine;
            if is_call
                && linker.is_reported(site.file)
                && !is_aside(linker, site)
                && linker.targets(site, EnvId::NONE).steps < LOW_STEPS
                && !offloads.times.frequency_of_site(site).is_once()
            {
                direct_calls.push(DirectCall { site, function, handover });
            }
        }
    }
    direct_calls.sort_by_key(|direct| (direct.site, direct.handover));
    direct_calls.dedup_by_key(|direct| direct.site);
    direct_calls
}

/// True if a site is in a test or in a command line program.
fn is_aside(linker: &Linker<'_>, site: SiteRef) -> bool {
    let body = linker.program.body_of_site(site);
    linker.program.is_test(site.file)
        || linker.program.is_command_line(site.file)
        || linker.program.body(body).flags.has(BodyFlags::TEST)
        || linker.is_for_tests(body)
}

/// Returns the functions that a task runs: the task itself, or if it is a closure, the functions whose results it
/// returns.
fn functions_of_task(linker: &Linker<'_>, task: BodyRef) -> Vec<BodyRef> {
    if linker.program.body(task).kind != BodyKind::Lambda {
        return vec![task];
    }
    let exits = linker.program.exits_in(task).filter(|exit| exit.kind == ExitKind::Return && exit.value.is_some());
    let values: Vec<FormId> = exits.map(|exit| exit.value).collect();
    values.into_iter().filter_map(|form| function_of_result(linker, task, form)).collect()
}

/// Returns the synchronous function of the project whose result a form is, if it is the only target.
fn function_of_result(linker: &Linker<'_>, task: BodyRef, form: FormId) -> Option<BodyRef> {
    let facts = linker.program.facts(task.file);
    let site = call_of_result(facts, form)?;
    let targets = linker.targets(task.file.site_ref(site), EnvId::NONE);
    match targets.list[..] {
        [Target::Body { body, kind: TargetKind::Call, .. }] => {
            let body_facts = linker.program.body(body);
            (body_facts.flow == Flow::Sync && body_facts.kind == BodyKind::Function).then_some(body)
        }
        _ => None,
    }
}

/// Returns the call whose result a form is, also with `?`.
fn call_of_result(facts: &FileFacts, form: FormId) -> Option<SiteId> {
    match facts.form(form) {
        Form::Result(site) => Some(site),
        Form::Try(inner) => call_of_result(facts, inner),
        _ => None,
    }
}

/// True if a function makes a single call, of a library function without a row, and returns its result.
fn only_calls_library(linker: &Linker<'_>, function: BodyRef) -> bool {
    let (facts, function_id) = linker.program.facts_and_id(function);
    let of_body = |body: BodyId| body == function_id;
    let mut calls = facts.sites.iter().enumerate().filter(|(_, site_facts)| {
        of_body(facts.body_of(site_facts.at)) && matches!(site_facts.kind, SiteKind::Call | SiteKind::New)
    });
    let (Some((only, _)), None) = (calls.next(), calls.next()) else { return false };
    let site = SiteId(only as u32);
    let returns_it = linker.program.exits_in(function).any(|exit| call_of_result(facts, exit.value) == Some(site));
    let call = function.file.site_ref(site);
    let is_unknown = |target: &Target| match *target {
        Target::Row { path, .. } => {
            let text = linker.library.text(path);
            linker.library.calls(path).is_empty()
                && !["std::", "core::", "alloc::"].iter().any(|own| text.starts_with(own))
        }
        _ => false,
    };
    returns_it && matches!(&linker.targets(call, EnvId::NONE).list[..], [only] if is_unknown(only))
}
