//! The explanation of a function: the reason why it must not block or may, its uses, and the blocking calls that it
//! reaches.

use blocklint_analysis::{BlockingPath, BodyExplanation, BodyRef, BodyUse, Explainer, Root, RootKind, StopReason};
use blocklint_core::{Context, Place};
use blocklint_facts::Flow;
use blocklint_output::{ExplainedFunction, Remark};

use super::MAX_LISTED;
use super::no_finding_text::stop_texts;
use super::sites::{body_text, context_words, place, place_of_site};

/// The explanation of a function, with its findings as indices.
pub(super) struct FunctionAnswer {
    pub(super) explained: ExplainedFunction,
    /// The findings in it.
    pub(super) inside: Vec<usize>,
    /// The findings in other functions whose paths pass through it.
    pub(super) passing: Vec<usize>,
}

/// Returns the explanation of a function.
pub(super) fn explained_function(explainer: &Explainer<'_, '_>, body: BodyRef) -> FunctionAnswer {
    let linker = explainer.linker();
    let explanation = explainer.explain_body(body);
    let uses: Vec<Remark> =
        explanation.uses.iter().take(MAX_LISTED).map(|body_use| use_text(explainer, *body_use)).collect();
    let mut reaches: Vec<Remark> =
        explanation.blocking_paths.iter().take(MAX_LISTED).map(|reached| reached_text(explainer, reached)).collect();
    if explanation.blocking_paths.len() > MAX_LISTED {
        reaches
            .push(Remark::new(format!("and {} more calls that block", explanation.blocking_paths.len() - MAX_LISTED)));
    }
    let mut duty = duty_remarks(explainer, &explanation);
    if explanation.blocking_paths.is_empty()
        && explanation.findings.is_empty()
        && explanation.findings_through.is_empty()
    {
        duty.push(Remark::new("none of its calls is known to hold its thread"));
    }
    // `uses` has its callers, and `duty_remarks` says if there are none.
    let ends = explanation.stop_reasons.iter().flat_map(|above| match above {
        StopReason::NoCaller => Vec::new(),
        StopReason::Called(_) => vec![Remark::new("none of its callers is reached from async code")],
        _ => stop_texts(explainer, None, body, above),
    });
    duty.extend(ends.take(MAX_LISTED));
    FunctionAnswer {
        explained: ExplainedFunction {
            name: body_text(linker, body),
            place: place(linker, body.file, linker.program.body(body).name_span),
            duty,
            more_uses: explanation.uses.len() - uses.len(),
            uses,
            reaches,
            findings: Vec::new(),
        },
        inside: explanation.findings,
        passing: explanation.findings_through,
    }
}

/// Returns the reasons why a function must not block or may block, and why its findings are left aside.
fn duty_remarks(explainer: &Explainer<'_, '_>, explanation: &BodyExplanation) -> Vec<Remark> {
    let linker = explainer.linker();
    let mut remarks = Vec::new();
    match (explanation.root, &explanation.registered) {
        (Some(root), _) => remarks.push(Remark::new(root_text(root))),
        (None, Some((path, context))) if *context != Context::EventLoop => {
            let path = linker.library.text(*path);
            remarks.push(Remark::new(format!("may block: `{path}` runs it in {}", context_words(*context))));
        }
        (None, _) => remarks.push(Remark::new("is judged at its callers: nothing says that it must not block")),
    }
    if linker.is_never_built(explanation.body.file) {
        remarks
            .push(Remark::new("is not part of the program: no `mod` declares its file, so the compiler never sees it"));
    }
    if explanation.is_for_tests {
        remarks.push(Remark::new("is only for tests: findings that only tests reach are left aside"));
    } else if let Some(signal) = explanation.aside_signal {
        remarks.push(Remark::new(format!("does not count: {} ({})", signal.says, signal.name)));
    }
    let flow = linker.program.body(explanation.body).flow;
    let is_entered =
        explanation.registered.is_some() || explanation.root.is_some_and(|root| root.kind != RootKind::Coroutine);
    if explanation.uses.is_empty() && !is_entered {
        let text = if flow == Flow::Coroutine {
            "nothing in the project is known to await it"
        } else {
            "nothing in the project is known to call it"
        };
        remarks.push(Remark::new(text));
    }
    remarks
}

fn root_text(root: Root) -> String {
    let runtime = root.runtime.map_or_else(String::new, |runtime| format!(" ({runtime})"));
    match root.kind {
        RootKind::Coroutine => format!("must not block: its code runs on the event loop{runtime}"),
        RootKind::Registered => format!("must not block: a library runs it on the event loop{runtime}"),
        RootKind::Promised => "must not block: a comment promises it (`blocklint: nonblocking`)".to_owned(),
        RootKind::Literal | RootKind::Computing => {
            format!("must not block: the code around passes it to the event loop{runtime}")
        }
        RootKind::Dispatched => {
            "must not block: it is one of several callables that event-loop code chooses from".to_owned()
        }
        RootKind::Composed => "may run on the event loop: the place that subscribes to its chain is unknown".to_owned(),
        RootKind::Assembly => {
            format!("must not block: it builds a publisher, or answers later, for the event loop{runtime}")
        }
    }
}

fn use_text(explainer: &Explainer<'_, '_>, body_use: BodyUse) -> Remark {
    let linker = explainer.linker();
    let (text, place_of_use): (String, Place) = match body_use {
        BodyUse::Kept(file, span) => ("kept there".to_owned(), place(linker, file, span)),
        BodyUse::Called(site)
        | BodyUse::Awaited(site)
        | BodyUse::Made(site)
        | BodyUse::HandedOver(site, _)
        | BodyUse::PassedOn(site) => {
            let around = body_text(linker, linker.program.body_of_site(site));
            let text = match body_use {
                BodyUse::Awaited(_) => format!("awaited by {around}"),
                BodyUse::Made(_) => format!("created by {around}, and not run there"),
                BodyUse::HandedOver(_, context) => format!("passed to {} by {around}", context_words(context)),
                BodyUse::PassedOn(site) => {
                    format!("passed by {around} to `{}`, whose use of it is unknown", linker.written_site(site))
                }
                _ => format!("called by {around}"),
            };
            (text, place_of_site(linker, site))
        }
    };
    let test = if explainer.is_use_in_test(body_use) { ", for tests" } else { "" };
    Remark::at(format!("{text}{test}"), place_of_use)
}

/// Returns a reached call with its path: `` `time.sleep` (sleep, confidence high) through load → read ``.
fn reached_text(explainer: &Explainer<'_, '_>, reached: &BlockingPath) -> Remark {
    let linker = explainer.linker();
    let Some(last) = reached.trace.last() else { return Remark::new(String::new()) };
    let through: Vec<&str> =
        reached.trace.iter().skip(1).map(|step| blocklint_core::body_name(&step.function)).collect();
    let through = if through.is_empty() { String::new() } else { format!(" through {}", through.join(" → ")) };
    let text = format!("`{}` ({}, confidence {}){through}", last.call, reached.effect, reached.confidence);
    Remark::at(text, place(linker, last.file, last.span))
}
