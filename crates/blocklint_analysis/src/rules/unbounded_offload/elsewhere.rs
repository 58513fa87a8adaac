//! Rust: a calculation that one place of the project hands to a thread and a coroutine calls by itself. The calculation
//! is not known to be long, but the hand-over shows that its author took it to be.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Context, Effect, Language, Mistake, RuleCode, Severity};
use blocklint_facts::{BodyFlags, BodyId, BodyKind, ExitKind, FileFacts, Flow, Form, FormId, SiteKind};
use blocklint_flow::search::locks::name_of_function_holding;
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::values::value::EnvId;
use rustc_hash::FxHashMap;

use super::{Calculating, Offloads, calculates, offloads_at};
use crate::rules::mistakes::MistakeSearch;

/// Returns the findings of such calculations: they hold the thread.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let linker = search.linker;
    let step = WorkUnit::Step("calculations that others hand over");
    let all = linker.attempt(step, || called_here(search.offloads)).unwrap_or_default();
    let finding = |one: CalledHere| {
        let call = linker.qualified_name(one.function);
        let (mistake, severity) = ((RuleCode::CPU_BOUND, Mistake::Holds), Severity::Warning);
        let mut finding = search.finding(mistake, one.site, call, severity, Confidence::Medium);
        finding.effect = Some(Effect::Cpu);
        finding.context = Some(Context::EventLoop);
        finding.note = Some(format!("`{}` runs the same in a thread", name_of_function_holding(linker, one.elsewhere)));
        finding
    };
    all.into_iter().map(finding).collect()
}

/// One such call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalledHere {
    /// The call in a coroutine.
    pub(crate) site: SiteRef,
    /// The function that it calls.
    pub(crate) function: BodyRef,
    /// The call that runs the same in a thread.
    pub(crate) elsewhere: SiteRef,
}

/// Returns all such calls of the program, in order.
fn called_here(judge: &mut Offloads<'_, '_, '_>) -> Vec<CalledHere> {
    let linker = judge.linker;
    let mut known = Calculating::default();
    let mut handed: FxHashMap<BodyRef, SiteRef> = FxHashMap::default();
    // Also where only a few files are looked at: what a thread is handed elsewhere is said of a call in them.
    for one in offloads_at(linker, &[Language::Rust], |site| !is_aside(linker, site)) {
        for function in one.tasks.iter().flat_map(|&task| functions_of(linker, task)) {
            handed.entry(function).and_modify(|site| *site = (*site).min(one.site)).or_insert(one.site);
        }
    }
    let mut found = Vec::new();
    for (function, elsewhere) in handed {
        // A function that is known to block has a finding of its own.
        let is_known = judge.waits.contains(&function) || judge.calculating.contains(&function);
        if is_known || !(calculates(linker, function, &mut known) || is_left_to_a_library(linker, function)) {
            continue;
        }
        for &site in judge.callers.call_sites(function).iter() {
            let facts = linker.program.facts(site.file);
            let row = linker.program.site(site);
            let body = facts.body(facts.body_of(row.at));
            let is_call = row.kind == SiteKind::Call && body.flow == Flow::Coroutine;
            if is_call
                && linker.is_reported(site.file)
                && !is_aside(linker, site)
                && linker.targets(site, EnvId::NONE).steps < LOW_STEPS
                && !judge.times.frequency_of_site(site).is_once()
            {
                found.push(CalledHere { site, function, elsewhere });
            }
        }
    }
    found.sort_by_key(|one| (one.site, one.elsewhere));
    found.dedup_by_key(|one| one.site);
    found
}

fn is_aside(linker: &Linker<'_>, site: SiteRef) -> bool {
    let body = linker.program.body_of_site(site);
    linker.program.is_test(site.file)
        || linker.program.is_command_line(site.file)
        || linker.program.body(body).flags.has(BodyFlags::TEST)
        || linker.is_for_tests(body)
}

/// Returns the functions that a task is: itself, or the result of a call that a closure returns.
fn functions_of(linker: &Linker<'_>, task: BodyRef) -> Vec<BodyRef> {
    if linker.program.body(task).kind != BodyKind::Lambda {
        return vec![task];
    }
    let exits = linker.program.exits_in(task).filter(|exit| exit.kind == ExitKind::Return && exit.value.is_some());
    let given: Vec<FormId> = exits.map(|exit| exit.value).collect();
    given.into_iter().filter_map(|form| function_of_result(linker, task, form)).collect()
}

/// Returns the one synchronous function of the project whose result a form is.
fn function_of_result(linker: &Linker<'_>, task: BodyRef, form: FormId) -> Option<BodyRef> {
    let facts = linker.program.facts(task.file);
    let site = result_in(facts, form)?;
    let targets = linker.targets(task.file.site_ref(site), EnvId::NONE);
    match targets.list[..] {
        [Target::Body { body, kind: TargetKind::Call, .. }] => {
            let of = linker.program.body(body);
            (of.flow == Flow::Sync && of.kind == BodyKind::Function).then_some(body)
        }
        _ => None,
    }
}

fn result_in(facts: &FileFacts, form: FormId) -> Option<blocklint_facts::SiteId> {
    match facts.form(form) {
        Form::Result(site) => Some(site),
        Form::Try(inner) => result_in(facts, inner),
        _ => None,
    }
}

/// True if a function only calls one function of a library that no model describes, and returns its result.
fn is_left_to_a_library(linker: &Linker<'_>, function: BodyRef) -> bool {
    let (facts, function_id) = linker.program.facts_and_id(function);
    let of_body = |body: BodyId| body == function_id;
    let mut calls = facts
        .sites
        .iter()
        .enumerate()
        .filter(|(_, row)| of_body(facts.body_of(row.at)) && matches!(row.kind, SiteKind::Call | SiteKind::New));
    let (Some((only, _)), None) = (calls.next(), calls.next()) else { return false };
    let site = blocklint_facts::SiteId(only as u32);
    let gives = linker.program.exits_in(function).any(|exit| result_in(facts, exit.value) == Some(site));
    let at = function.file.site_ref(site);
    let is_unknown = |target: &Target| match *target {
        Target::Row { path, .. } => {
            let text = linker.library.text(path);
            linker.library.calls(path).is_empty()
                && !["std::", "core::", "alloc::"].iter().any(|own| text.starts_with(own))
        }
        _ => false,
    };
    gives && matches!(&linker.targets(at, EnvId::NONE).list[..], [only] if is_unknown(only))
}
