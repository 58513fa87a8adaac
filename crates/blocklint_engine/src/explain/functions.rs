//! One function as a whole, in sentences.

use blocklint_analysis::{BlockingPath, BodyExplanation, BodyRef, BodyUse, Explainer, Root, RootKind, StopReason};
use blocklint_core::{Context, Place};
use blocklint_facts::Flow;
use blocklint_output::{ExplainedFunction, Remark};

use super::MOST_LISTED;
use super::no_finding_text::stops;
use super::sites::{body, context_words, place, place_of};

/// A function whose findings are still numbers.
pub(super) struct ToldFunction {
    pub(super) told: ExplainedFunction,
    /// Findings that stand in it.
    pub(super) inside: Vec<usize>,
    /// Findings elsewhere whose path leads through it.
    pub(super) passing: Vec<usize>,
}

/// Returns a function in words.
pub(super) fn explained_function(explainer: &Explainer<'_, '_>, of: BodyRef) -> ToldFunction {
    let linker = explainer.linker();
    let about = explainer.explain_body(of);
    let uses: Vec<Remark> = about.uses.iter().take(MOST_LISTED).map(|one| use_in_words(explainer, *one)).collect();
    let mut reaches: Vec<Remark> =
        about.blocking_paths.iter().take(MOST_LISTED).map(|one| reached_in_words(explainer, one)).collect();
    if about.blocking_paths.len() > MOST_LISTED {
        reaches.push(Remark::new(format!("and {} more calls that block", about.blocking_paths.len() - MOST_LISTED)));
    }
    let mut duty = duty(explainer, &about);
    if about.blocking_paths.is_empty() && about.findings.is_empty() && about.findings_through.is_empty() {
        duty.push(Remark::new("nothing that it runs is known to hold its thread"));
    }
    // Its callers are listed among its uses, and that there are none is said above.
    let ends = about.stop_reasons.iter().flat_map(|above| match above {
        StopReason::NoCaller => Vec::new(),
        StopReason::Called(_) => vec![Remark::new("none of its callers is reached from async code")],
        _ => stops(explainer, None, of, above),
    });
    duty.extend(ends.take(MOST_LISTED));
    ToldFunction {
        told: ExplainedFunction {
            name: body(linker, of),
            place: place(linker, of.file, linker.program.body(of).name_span),
            duty,
            more_uses: about.uses.len() - uses.len(),
            uses,
            reaches,
            findings: Vec::new(),
        },
        inside: about.findings,
        passing: about.findings_through,
    }
}

/// Returns why a function must not block, or why it may, and what counts against its findings.
fn duty(explainer: &Explainer<'_, '_>, about: &BodyExplanation) -> Vec<Remark> {
    let linker = explainer.linker();
    let mut found = Vec::new();
    match (about.root, &about.registered) {
        (Some(root), _) => found.push(Remark::new(root_in_words(root))),
        (None, Some((path, context))) if *context != Context::EventLoop => {
            let path = linker.library.text(*path);
            found.push(Remark::new(format!("may block: `{path}` runs it in {}", context_words(*context))));
        }
        (None, _) => found.push(Remark::new("is judged where it is called: nothing says that it must not block")),
    }
    if linker.is_never_built(about.body.file) {
        found
            .push(Remark::new("is not part of the program: no `mod` declares its file, so the compiler never sees it"));
    }
    if about.is_for_tests {
        found.push(Remark::new("is there for tests only: what they alone reach is left aside"));
    } else if let Some(signal) = about.aside_signal {
        found.push(Remark::new(format!("is left out of what counts: {} ({})", signal.says, signal.name)));
    }
    let flow = linker.program.body(about.body).flow;
    let is_entered = about.registered.is_some() || about.root.is_some_and(|root| root.kind != RootKind::Coroutine);
    if about.uses.is_empty() && !is_entered {
        let what = if flow == Flow::Coroutine {
            "nothing in the project is known to await it"
        } else {
            "nothing in the project is known to call it"
        };
        found.push(Remark::new(what));
    }
    found
}

fn root_in_words(root: Root) -> String {
    let runtime = root.runtime.map_or_else(String::new, |runtime| format!(" ({runtime})"));
    match root.kind {
        RootKind::Coroutine => format!("must not block: its code runs on the event loop{runtime}"),
        RootKind::Registered => format!("must not block: a library runs it on the event loop{runtime}"),
        RootKind::Promised => "must not block: a comment promises it (`blocklint: nonblocking`)".to_owned(),
        RootKind::Literal | RootKind::Computing => {
            format!("must not block: it is handed to the event loop where it stands{runtime}")
        }
        RootKind::Dispatched => {
            "must not block: it is one of several callables that code of an event loop chooses among".to_owned()
        }
        RootKind::Composed => "may run on the event loop: it is not known where its chain is subscribed to".to_owned(),
        RootKind::Assembly => {
            format!("must not block: it puts a publisher together, or answers later, for the event loop{runtime}")
        }
    }
}

fn use_in_words(explainer: &Explainer<'_, '_>, one: BodyUse) -> Remark {
    let linker = explainer.linker();
    let (says, at): (String, Place) = match one {
        BodyUse::Kept(file, span) => ("kept there".to_owned(), place(linker, file, span)),
        BodyUse::Called(site)
        | BodyUse::Awaited(site)
        | BodyUse::Made(site)
        | BodyUse::HandedOver(site, _)
        | BodyUse::PassedOn(site) => {
            let around = body(linker, linker.program.body_of_site(site));
            let says = match one {
                BodyUse::Awaited(_) => format!("awaited by {around}"),
                BodyUse::Made(_) => format!("made by {around}, and not run there"),
                BodyUse::HandedOver(_, context) => format!("handed to {} by {around}", context_words(context)),
                BodyUse::PassedOn(site) => {
                    format!(
                        "given by {around} to `{}`, of which it is not known what it does with it",
                        linker.written_site(site)
                    )
                }
                _ => format!("called by {around}"),
            };
            (says, place_of(linker, site))
        }
    };
    let test = if explainer.is_use_in_test(one) { ", for tests" } else { "" };
    Remark::at(format!("{says}{test}"), at)
}

/// `` `time.sleep` (sleep, confidence high) through load → read ``.
fn reached_in_words(explainer: &Explainer<'_, '_>, one: &BlockingPath) -> Remark {
    let linker = explainer.linker();
    let Some(last) = one.trace.last() else { return Remark::new(String::new()) };
    let through: Vec<&str> = one.trace.iter().skip(1).map(|step| blocklint_core::body_name(&step.function)).collect();
    let through = if through.is_empty() { String::new() } else { format!(" through {}", through.join(" → ")) };
    let says = format!("`{}` ({}, confidence {}){through}", last.call, one.effect, one.confidence);
    Remark::at(says, place(linker, last.file, last.span))
}
