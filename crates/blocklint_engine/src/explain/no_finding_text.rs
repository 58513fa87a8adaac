//! The reasons why a site belongs to no finding, as sentences.

use blocklint_analysis::{BodyRef, EndReason, Explainer, Explanation, Linker, StopReason, Why};
use blocklint_core::{Context, Language};
use blocklint_facts::{Flow, SiteKind};
use blocklint_output::Remark;

use super::MAX_LISTED;
use super::sites::{body_text, context_words, place, place_of_site};

/// Returns the remarks about one end of the search at a site.
pub(super) fn end_remarks(explainer: &Explainer<'_, '_>, site: &Explanation<'_>, end: &EndReason) -> Vec<Remark> {
    let linker = explainer.linker();
    let text = |path| linker.library.text(path).to_string();
    let single = |text: String| vec![Remark::new(text)];
    match end {
        EndReason::UnknownCallee(why) => single(unknown_callee_text(linker, site, *why)),
        EndReason::NoModel(path) => {
            single(format!("no model describes `{}`, so it is assumed to hold no thread", text(*path)))
        }
        EndReason::NoEffect(path) => single(format!("no model row says that `{}` holds its thread", text(*path))),
        EndReason::Harmless(path) => single(format!("the model says that `{}` holds no thread", text(*path))),
        EndReason::Asynchronous(path) => {
            single(format!("`{}` is asynchronous: the event loop runs other tasks while it is awaited", text(*path)))
        }
        EndReason::ConditionsNotMet(path) => {
            single(format!("`{}` holds no thread as it is called here: none of its rows applies", text(*path)))
        }
        EndReason::ZeroTimeout(path) => {
            single(format!("`{}` has a timeout of zero here: it does not wait", text(*path)))
        }
        EndReason::Lock(path) => {
            single(format!("`{}` takes a lock of this process, which alone is not reported", text(*path)))
        }
        EndReason::Registers(body, Context::EventLoop) => single(format!(
            "registers {} to run on the event loop, where it is judged separately",
            body_text(linker, *body)
        )),
        EndReason::Registers(body, context) => single(format!(
            "registers {} to run in {}, where it holds no event loop",
            body_text(linker, *body),
            context_words(*context)
        )),
        EndReason::SuppressedInCallee(body, span) => vec![Remark::at(
            format!("a comment in {} suppresses its findings", body_text(linker, *body)),
            place(linker, body.file, *span),
        )],
        EndReason::Unconsumed(path) => single(format!(
            "`{}` works when its result is consumed, and no known code consumes it on an event loop",
            text(*path)
        )),
        EndReason::Makes(body, Flow::Coroutine) => single(format!(
            "creates a coroutine of `{}`: its body runs where the coroutine is awaited",
            linker.qualified_name(*body)
        )),
        EndReason::Makes(body, Flow::Sync) => {
            single(format!("`{}` is only created here, not run", linker.qualified_name(*body)))
        }
        EndReason::Makes(body, Flow::Generator | Flow::AsyncGenerator) => single(format!(
            "creates a generator of `{}`: its body runs where the generator is iterated",
            linker.qualified_name(*body)
        )),
        EndReason::Awaits(body, findings) => awaited_remarks(explainer, *body, findings),
        EndReason::NothingBlocking(body) => {
            single(format!("no call of {} is known to hold its thread", body_text(linker, *body)))
        }
        EndReason::HandsOver(passed) => {
            let callable = match (passed.written.as_str(), linker.program.language(site.site.file)) {
                ("<lambda>", Language::Rust) => "a closure".to_owned(),
                ("<lambda>", _) => "a lambda".to_owned(),
                (written, _) => format!("`{written}`"),
            };
            single(match passed.context {
                Context::EventLoop => {
                    format!("passes {callable} to the event loop; nothing that it runs is known to hold the thread")
                }
                context => {
                    format!("passes {callable} to {}: its work there holds no event loop", context_words(context))
                }
            })
        }
        EndReason::RunsNoCode => vec![plain_remark(explainer, site)],
        EndReason::RuledOut(body) => single(format!(
            "{} can block its thread, but not with the arguments that are passed here",
            body_text(linker, *body)
        )),
        EndReason::Suppressed(file, span) => vec![Remark::at("a comment ends it here", place(linker, *file, *span))],
        EndReason::Allowed(body) => {
            single(format!("the thread of {} may be held in this way", body_text(linker, *body)))
        }
        EndReason::StopsAtBody(body, above) => stop_texts(explainer, Some(site.owner), *body, above),
    }
}

/// Returns the remark about a site without a target.
pub(super) fn plain_remark(explainer: &Explainer<'_, '_>, site: &Explanation<'_>) -> Remark {
    let linker = explainer.linker();
    let row = linker.program.site(site.site);
    let text = match row.kind {
        SiteKind::Call | SiteKind::New | SiteKind::Macro => "it runs no code of the project and no modelled call",
        SiteKind::Import => "an import; the code that a module runs at its first import is not followed",
        SiteKind::Await => "`await` releases the thread; the awaited call is judged where it is created",
        _ => "it leads to no code of the project and no modelled call",
    };
    Remark::new(text)
}

fn unknown_callee_text(linker: &Linker<'_>, site: &Explanation<'_>, why: Why) -> String {
    let written = linker.written_site(site.site);
    match site.receiver {
        Some(receiver) if linker.values.is_unknown(receiver) => {
            format!("the receiver of `{written}` is unknown: {}", why.as_str())
        }
        _ => format!("the callee of `{written}` is unknown: {}", why.as_str()),
    }
}

fn awaited_remarks(explainer: &Explainer<'_, '_>, body: BodyRef, findings: &[usize]) -> Vec<Remark> {
    let linker = explainer.linker();
    let name = body_text(linker, body);
    let raw_findings = findings.iter().filter_map(|&index| explainer.solved().findings.get(index));
    let mut reasons: Vec<Remark> = raw_findings
        .take(MAX_LISTED)
        .map(|raw| {
            let text = format!("{name} has its own finding: {} `{}`", raw.rule, raw.call);
            Remark::at(text, place(linker, raw.file, raw.span))
        })
        .collect();
    if reasons.is_empty() {
        reasons.push(Remark::new(format!("{name} is judged separately, and nothing was found in it")));
    }
    reasons
}

/// Returns the reasons why a label does not reach the callers of a body. `owner` is the body of the explained site;
/// `None` if a function is explained.
pub(super) fn stop_texts(
    explainer: &Explainer<'_, '_>,
    owner: Option<BodyRef>,
    body: BodyRef,
    above: &StopReason,
) -> Vec<Remark> {
    let linker = explainer.linker();
    let name = match owner {
        None => "it".to_owned(),
        Some(owner) if body == owner => body_text(linker, body),
        Some(_) => format!("goes up to {}, which", body_text(linker, body)),
    };
    let at_site = |text: String, site| vec![Remark::at(text, place_of_site(linker, site))];
    match above {
        StopReason::NoCaller => {
            let facts = linker.program.body(body);
            vec![Remark::at(format!("{name} has no known caller"), place(linker, body.file, facts.name_span))]
        }
        StopReason::TopLevel => vec![Remark::new(format!("{name} runs when it is imported"))],
        StopReason::Called(sites) => {
            let called = |site| {
                let around = body_text(linker, linker.program.body_of_site(site));
                Remark::at(
                    format!("{name} is called by {around}, from which nothing reaches async code"),
                    place_of_site(linker, site),
                )
            };
            let mut remarks: Vec<Remark> = sites.iter().take(MAX_LISTED).map(|&site| called(site)).collect();
            if sites.len() > MAX_LISTED {
                let more = sites.len() - MAX_LISTED;
                remarks.push(Remark::new(format!("{name} is called at {more} more places of this kind")));
            }
            remarks
        }
        StopReason::Made(site) => at_site(format!("{name} is only created there, and no known code runs it"), *site),
        StopReason::HandedOver(site, context) => at_site(
            format!("{name} is passed to {} there, where it holds no event loop", context_words(*context)),
            *site,
        ),
        StopReason::PassedOn(site) => {
            at_site(format!("{name} is passed to `{}`, whose use of it is unknown", linker.written_site(*site)), *site)
        }
        StopReason::Kept(file, span) => {
            let text = format!("{name} is stored there, and no known code calls it from there");
            vec![Remark::at(text, place(linker, *file, *span))]
        }
        StopReason::Registered(path, context) => {
            let path = linker.library.text(*path);
            vec![Remark::new(format!("{name} is registered by `{path}` to run in {}", context_words(*context)))]
        }
        StopReason::Suppressed(file, span) => {
            let text = format!("{name} is called there under a comment that suppresses it");
            vec![Remark::at(text, place(linker, *file, *span))]
        }
        StopReason::RuledOut(site) => at_site(format!("{name} is called there with arguments that rule it out"), *site),
        StopReason::Allowed(root) => {
            let root = body_text(linker, *root);
            vec![Remark::new(format!("{name} is called by {root}, whose thread may be held in this way"))]
        }
    }
}
