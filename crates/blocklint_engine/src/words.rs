//! Converts raw findings to findings with messages, and plans their edits.

use std::sync::Arc;

use blocklint_analysis::{FileId, Linker, PathAvailability, RawCause, RawEntry, RawFinding, RawStep, RootKind, Solved};
use blocklint_core::{
    Cause, Finding, Mistake, Place, ReachedBy, Refusal, Step, Suppression, SuppressionSource, fingerprint,
};
use blocklint_facts::{BodyKind, Flow};
use blocklint_mending::RowAdvice;
use blocklint_rules::{Advice, AsyncHelpers, Availability, Owner, OwnerKind, SiteForm, Subject, Twin};

use crate::fixing::chains::refusal as refusal_of_chain;
use crate::fixing::planned_edit::{PlannedEdit, plan_edit, reason_not_alone};

/// Returns the findings in reported files with their planned edits. With `traces`, also findings whose trace or cause
/// is in a reported file. Places have no rows and columns yet.
pub(crate) fn findings_with_remedies(
    linker: &Linker<'_>,
    solved: &Solved,
    traces: bool,
) -> Vec<(Finding, Result<PlannedEdit, Refusal>)> {
    let reported = |file: FileId| linker.program.files[file.index()].reported;
    let touches_reported = |raw: &RawFinding| {
        let mut causes = raw.causes.iter().filter_map(|&at| solved.causes.get(at as usize));
        raw.trace.iter().any(|step| reported(step.file)) || causes.any(|cause| reported(cause.file))
    };
    solved
        .findings
        .iter()
        .filter(|raw| reported(raw.file) || traces && touches_reported(raw))
        .filter_map(|raw| linker.attempt_site(raw.site, || finding_and_remedy(linker, solved, raw)).flatten())
        .collect()
}

pub(crate) fn place_of(linker: &Linker<'_>, file: FileId, span: blocklint_core::Span) -> Place {
    Place::unlocated(Arc::clone(&linker.program.files[file.index()].path), span)
}

pub(crate) fn raw_to_finding(linker: &Linker<'_>, solved: &Solved, raw: &RawFinding) -> Option<Finding> {
    finding_and_remedy(linker, solved, raw).map(|(finding, _)| finding)
}

fn finding_and_remedy(
    linker: &Linker<'_>,
    solved: &Solved,
    raw: &RawFinding,
) -> Option<(Finding, Result<PlannedEdit, Refusal>)> {
    let rule = blocklint_rules::rule(raw.rule)?;
    let program = linker.program;
    let source = &program.files[raw.file.index()];
    // On greenlets the finding is at the blocking call itself, and the trace leads to it.
    let on_greenlet = matches!(raw.mistake, Mistake::NativeCallBlocksHub { .. });
    let first = if on_greenlet { raw.trace.last() } else { raw.trace.first() }?;
    let owner_name = owner_name(linker, raw);
    let also: Vec<(blocklint_core::RuleCode, &str)> =
        raw.also.iter().filter_map(|&(rule, at)| Some((rule, solved.causes.get(at as usize)?.call.as_str()))).collect();
    let operation = match raw.mistake {
        Mistake::BlockingCall if !raw.handed => {
            linker.words_for_operation(raw.site, blocklint_core::last_name(&first.call))
        }
        _ => None,
    };
    let mut subject = Subject {
        rule,
        mistake: &raw.mistake,
        language: program.language(raw.file),
        runtime: raw.runtime,
        call: &raw.call,
        written: &first.written,
        is_direct: on_greenlet || raw.trace.len() == 1,
        site: site_form(linker, raw),
        owner: Owner { kind: owner_kind(linker, raw), name: &owner_name },
        hold: raw.hold,
        duration: raw.weight.and_then(|weight| weight.duration),
        fails: raw.fails,
        twin: raw.twins.first().map(|twin| Twin { path: &twin.path, is_local: twin.is_local }),
        holds_gil: raw.holds_gil,
        is_repeated: raw.repeats,
        held_by: raw.held_by.as_ref().map(|held| blocklint_core::last_name(&held.function)),
        operation: operation.as_deref(),
        note: raw.note.as_deref(),
        more_causes: raw.causes.len().saturating_sub(1 + also.len()) as u32,
        other_rule_causes: &also,
        why_not_alone: None,
        older_workers: matches!(raw.row_advice.pool_availability, PathAvailability::Since { .. }),
    };
    let advice = Advice { taker: linker.library_method_taking(raw.root), ..rule_advice(&raw.row_advice) };
    let remedy =
        plan_edit(linker, raw, solved.with_aside, blocklint_rules::choose_remedy(&subject, &advice), |bound| {
            blocklint_rules::choose_remedy(&subject, &Advice { bound: Some(bound), ..advice.clone() })
        });
    subject.why_not_alone = reason_not_alone(linker, raw, &remedy);
    let words = subject.words();
    let causes: Vec<Cause> =
        raw.causes.iter().filter_map(|&at| solved.causes.get(at as usize)).map(|c| cause(linker, c)).collect();
    let body = program.body_of_site(raw.site);
    let function = linker.qualified_name(body);
    let finding = Finding {
        rule: raw.rule,
        severity: raw.severity,
        confidence: raw.confidence,
        message: words.message,
        notes: words.notes.into_iter().chain(partly_suppressed_note(raw)).collect(),
        help: words.help,
        place: place_of(linker, raw.file, raw.span),
        effect: raw.effect,
        weight: raw.weight,
        context: raw.context,
        runtime: raw.runtime,
        fingerprint: fingerprint(raw.rule, &source.relative, &function, &raw.callee, raw.occurrence),
        function,
        hold: raw.hold,
        trace: raw.trace.iter().map(|raw| step(linker, raw)).collect(),
        held_by: raw.held_by.as_ref().map(|raw| step(linker, raw)),
        causes,
        fix: None,
        unfixed: None,
        aside: raw.aside,
        confirmed: None,
        reached_by: raw.reached_by.iter().map(|raw| reached_by(linker, raw)).collect(),
        reasons: raw.reasons.iter().map(|raw| reason(linker, raw)).collect(),
        suppression: raw.suppressed.clone().map(|reason| Suppression { reason, source: SuppressionSource::Comment }),
    };
    Some((finding, remedy))
}

/// Returns a note about comments that suppress other causes of a finding, and the comment that would suppress all of
/// them.
fn partly_suppressed_note(raw: &RawFinding) -> Option<String> {
    let (first, more) = raw.partly_suppressed.split_first()?;
    let functions = match more.len() {
        0 => format!("`{first}`"),
        1 => format!("`{first}` and `{}`", more[0]),
        count => format!("`{first}` and {count} other functions"),
    };
    Some(format!(
        "a comment in {functions} suppresses another cause of it; `blocklint: ignore[{}]` on this line suppresses all \
         of them",
        raw.rule
    ))
}

fn reason(linker: &Linker<'_>, raw: &blocklint_analysis::Reason) -> blocklint_core::Reason {
    let place = raw.place.map(|(file, span)| place_of(linker, file, span));
    blocklint_core::Reason { name: raw.name, says: raw.says, makes: raw.makes, place }
}

/// Returns an entry point that reaches a finding. Its place is the name of the function, or a call at the top level of
/// a file.
fn reached_by(linker: &Linker<'_>, raw: &RawEntry) -> ReachedBy {
    let (file, span) = match raw.top_level {
        Some(site) => (site.file, linker.program.site(site).span),
        None => (raw.body.file, linker.program.body(raw.body).name_span),
    };
    ReachedBy {
        kind: raw.kind,
        entry: linker.qualified_name(raw.body),
        route: raw.route.clone(),
        place: place_of(linker, file, span),
    }
}

/// Converts the advice of a model row to the advice that rules use.
fn rule_advice(row_advice: &RowAdvice) -> Advice {
    Advice {
        rewrite: row_advice.rewrite.as_ref().map(|template| template.0.clone()),
        kind: row_advice.kind,
        lazy: row_advice.lazy,
        forwards_arguments: row_advice.forwards_arguments,
        returns_coroutine: row_advice.returns_coroutine,
        bound: None,
        taker: None,
        twin_returns_same: row_advice.twin_returns_same,
        twin_availability: availability(&row_advice.twin_availability),
        pool_availability: availability(&row_advice.pool_availability),
        chain: row_advice.chain.as_ref().map(|chain| match chain {
            Ok(chain) => Ok(AsyncHelpers { hops_in_loop: chain.hops_in_loop }),
            Err(unchained) => Err(refusal_of_chain(unchained)),
        }),
    }
}

fn availability(available: &PathAvailability) -> Availability {
    match available {
        PathAvailability::Unknown => Availability::Unknown,
        PathAvailability::Yes => Availability::Available,
        PathAvailability::WithFeature { package, feature } => {
            Availability::MissingFeature(format!("feature `{feature}` of `{package}`"))
        }
        PathAvailability::Since { library, since, has } => {
            Availability::NeedsNewerVersion(format!("`{library}` {since}, but the build has {has}"))
        }
        PathAvailability::OtherRuntime(other) => Availability::AmbiguousRuntime(other.clone()),
        PathAvailability::No => Availability::Unavailable,
    }
}

fn step(linker: &Linker<'_>, raw: &RawStep) -> Step {
    Step {
        place: place_of(linker, raw.file, raw.span),
        function: raw.function.clone(),
        call: raw.call.clone(),
        written: raw.written.clone(),
    }
}

fn cause(linker: &Linker<'_>, raw: &RawCause) -> Cause {
    Cause {
        place: place_of(linker, raw.file, raw.span),
        function: raw.function.clone(),
        call: raw.call.clone(),
        reach: raw.reach,
    }
}

fn site_form(linker: &Linker<'_>, raw: &RawFinding) -> SiteForm {
    use blocklint_facts::SiteKind;
    if raw.handed {
        return SiteForm::HandOver;
    }
    match linker.program.site(raw.site).kind {
        SiteKind::Call | SiteKind::New | SiteKind::Macro => SiteForm::Call,
        _ => SiteForm::Implicit,
    }
}

fn owner_kind(linker: &Linker<'_>, raw: &RawFinding) -> OwnerKind {
    // The owner is the function that is handed over, and not the body that hands it over.
    if raw.handed {
        return OwnerKind::Callback;
    }
    let row = linker.program.body(raw.root);
    match (raw.root_kind, row.kind, row.flow) {
        (_, BodyKind::AsyncBlock, _) => OwnerKind::AsyncBlock,
        (_, BodyKind::Lambda, Flow::Coroutine) => OwnerKind::AsyncClosure,
        (_, BodyKind::Lambda, _) => OwnerKind::CallbackLiteral,
        (_, _, Flow::Coroutine) => OwnerKind::AsyncFunction,
        (_, _, Flow::AsyncGenerator) => OwnerKind::AsyncGenerator,
        (Some(RootKind::Promised), _, _) => OwnerKind::Marked,
        (None, _, _) => OwnerKind::Plain,
        _ => OwnerKind::Callback,
    }
}

/// Returns the name of the root in its file, or the name of the callable if the finding is at a handover.
fn owner_name(linker: &Linker<'_>, raw: &RawFinding) -> String {
    if raw.handed
        && let Some(first) = raw.trace.first()
    {
        return blocklint_core::body_name(&first.call).to_owned();
    }
    linker.name_inside_file(raw.root)
}
