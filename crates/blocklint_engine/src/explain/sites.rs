//! The explanation of a call site: its receiver, arguments, targets and model rows, as texts.

use blocklint_analysis::{ArgumentValue, Explainer, Explanation, FileId, LabelHold, RootKind, RowMatch, TargetKind};
use blocklint_analysis::{BodyRef, Linker, RunTarget, SiteRef, TestedRow};
use blocklint_core::{Context, Hold, Language, Place};
use blocklint_facts::{BodyKind, Flow, Form, SiteFlags, SiteKind};
use blocklint_models::{CallRow, HandoverContext, HandoverRow, RowEffect, Runs, Selector, Via};
use blocklint_output::{ExplainedRow, ExplainedSite, ExplainedTarget, Outcome, Remark};

use super::values::{literal_text, value_text};
use super::{MAX_LISTED, conditions, no_finding_text};
use crate::words;

/// Returns the explanation of a site. The findings are part of the explanation of its line.
pub(super) fn explained_site(explainer: &Explainer<'_, '_>, site: &Explanation<'_>) -> ExplainedSite {
    let linker = explainer.linker();
    let facts = linker.program.facts(site.site.file);
    let row = linker.program.site(site.site);
    let arguments = site.arguments.iter().map(|(argument, value)| {
        let text = match value {
            ArgumentValue::Absent => "not given".to_owned(),
            ArgumentValue::Unpacked => "perhaps among the unpacked arguments".to_owned(),
            ArgumentValue::Literal(constant) => literal_text(constant),
            ArgumentValue::Parameter(name, None) => format!("parameter `{name}`"),
            ArgumentValue::Parameter(name, Some(default)) => {
                format!("parameter `{name}`, {} by default", literal_text(default))
            }
            ArgumentValue::Value(written, of) if linker.values.is_unknown(*of) => format!("`{written}`"),
            ArgumentValue::Value(written, of) => format!("`{written}`, {}", value_text(linker, *of)),
        };
        (blocklint_models::written::argument(argument), text)
    });
    ExplainedSite {
        place: place(linker, site.site.file, site.span),
        written: site_text(linker, site.site),
        kind: kind_text(row.kind, row.flags.has(SiteFlags::ASYNC)).to_owned(),
        owner: owner_text(explainer, site),
        receiver: site.receiver.filter(|_| row.kind != SiteKind::Import).map(|of| value_text(linker, of)),
        arguments: arguments.collect(),
        targets: site.targets.iter().map(|target| run_target(linker, target)).collect(),
        rows: site.rows.iter().map(|of| explained_row(of, facts.language)).collect(),
        outcomes: outcomes(explainer, site),
    }
}

pub(super) fn place(linker: &Linker<'_>, file: FileId, span: blocklint_core::Span) -> Place {
    words::place_of(linker, file, span)
}

/// Returns the place of a site.
pub(super) fn place_of_site(linker: &Linker<'_>, site: SiteRef) -> Place {
    place(linker, site.file, linker.program.site(site).span)
}

/// Returns the names of a site as they are written: `self.store.read`.
fn site_text(linker: &Linker<'_>, site: SiteRef) -> String {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    match (row.kind, facts.form(row.callee)) {
        (SiteKind::Write, _) => format!("{}.{}", linker.written(site.file, row.callee), facts.text(row.name)),
        (SiteKind::Import, Form::Import(import)) => {
            let import = facts.import(import);
            let parts = [facts.text(import.module), facts.text(import.name)];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let separator = if facts.language == Language::Rust { "::" } else { "." };
            parts.join(separator)
        }
        _ => linker.written_site(site),
    }
}

fn kind_text(kind: SiteKind, is_async: bool) -> &'static str {
    match kind {
        SiteKind::Call => "call",
        SiteKind::New => "construction",
        SiteKind::Macro => "macro",
        SiteKind::Decorate => "decorator",
        SiteKind::Read => "attribute",
        SiteKind::Write => "assignment to",
        SiteKind::Enter if is_async => "async with",
        SiteKind::Enter => "with",
        SiteKind::Leave => "end of with",
        SiteKind::Iterate if is_async => "async iteration over",
        SiteKind::Iterate => "iteration over",
        SiteKind::Subscript => "subscript of",
        SiteKind::Operator => "operator on",
        SiteKind::Await => "await of",
        SiteKind::Import => "import",
        SiteKind::Drop => "drop of",
        SiteKind::Test => "truth test of",
        SiteKind::Compare => "comparison of",
        SiteKind::Format => "formatting of",
    }
}

/// Returns the kind and name of a body: ``async function `app.handler` ``.
pub(super) fn body_text(linker: &Linker<'_>, body: BodyRef) -> String {
    let row = linker.program.body(body);
    let name = linker.qualified_name(body);
    let kind = match (row.kind, row.flow) {
        (BodyKind::Module, _) => "module",
        (BodyKind::Class, _) => "class",
        (BodyKind::AsyncBlock, _) => "async block",
        (BodyKind::GeneratorExpression, _) => "generator expression",
        (BodyKind::Initialiser, _) => "initialiser",
        (BodyKind::Lambda, Flow::Coroutine) => "async closure",
        (BodyKind::Lambda, _) if linker.program.language(body.file) == Language::Rust => "closure",
        (BodyKind::Lambda, _) => "lambda",
        (BodyKind::Function, Flow::Coroutine) => "async function",
        (BodyKind::Function, Flow::AsyncGenerator) => "async generator",
        (BodyKind::Function, Flow::Generator) => "generator",
        (BodyKind::Function, Flow::Sync) if row.class.is_some() => "method",
        (BodyKind::Function, Flow::Sync) => "function",
    };
    format!("{kind} `{name}`")
}

fn owner_text(explainer: &Explainer<'_, '_>, site: &Explanation<'_>) -> String {
    let text = body_text(explainer.linker(), site.owner);
    match site.root.map(|root| root.kind) {
        Some(RootKind::Coroutine) | None => text,
        Some(RootKind::Registered | RootKind::Literal | RootKind::Computing) => {
            format!("{text}, which runs on the event loop")
        }
        Some(RootKind::Dispatched) => {
            format!("{text}, one of several callables that event-loop code chooses from")
        }
        Some(RootKind::Composed) => format!("{text}, which may run on the event loop"),
        Some(RootKind::Assembly) => format!("{text}, which runs wherever its result is composed"),
        Some(RootKind::Promised) => format!("{text}, marked `blocklint: nonblocking`"),
    }
}

fn run_target(linker: &Linker<'_>, target: &RunTarget) -> ExplainedTarget {
    match target {
        RunTarget::Body { body: of, kind: by, awaited, by_argument, confidence } => {
            let row = linker.program.body(*of);
            let edge = edge_text(*by, row.flow, *awaited);
            ExplainedTarget {
                name: linker.qualified_name(*of),
                edge: match by_argument {
                    Some(written) => format!("{edge} of its argument `{written}`"),
                    None => edge,
                },
                confidence: *confidence,
                place: Some(place(linker, of.file, row.name_span)),
            }
        }
        RunTarget::Library { path, property, confidence } => ExplainedTarget {
            name: linker.library.text(*path).to_string(),
            edge: if *property { "property" } else { "call" }.to_owned(),
            confidence: *confidence,
            place: None,
        },
    }
}

fn edge_text(edge: TargetKind, flow: Flow, awaited: bool) -> String {
    match (edge, flow) {
        (TargetKind::Call, _) => "call".to_owned(),
        (TargetKind::Consume, _) => "runs an object that was created earlier".to_owned(),
        (TargetKind::Init, _) => "first import".to_owned(),
        (TargetKind::Construct, Flow::Coroutine) if awaited => "await".to_owned(),
        (TargetKind::Construct, Flow::Coroutine) => "creates a coroutine".to_owned(),
        (TargetKind::Construct, Flow::Generator) => "creates a generator".to_owned(),
        (TargetKind::Construct, Flow::AsyncGenerator) => "creates an async generator".to_owned(),
        (TargetKind::Construct, Flow::Sync) => "creates an instance".to_owned(),
        (TargetKind::HandOver(context, _), _) => format!("handover to {}", context_words(context)),
    }
}

/// Returns the name of a kind of thread.
pub(super) fn context_words(context: Context) -> &'static str {
    match context {
        Context::EventLoop => "the event loop",
        Context::Greenlet => "a greenlet",
        Context::Worker => "a worker",
        Context::Unknown => "a thread that is not known",
    }
}

fn explained_row(tried: &TestedRow<'_>, language: Language) -> ExplainedRow {
    let shown = tried.conditions.iter().map(|condition| {
        (conditions::condition_text(condition, language), condition.shown == blocklint_analysis::ConditionResult::Yes)
    });
    let conditions = shown.collect();
    let (path, text, (file, line)) = match tried.row {
        RowMatch::Call(row) => (row.path, call_row_text(&row, tried), row.origin()),
        RowMatch::Handover(row) => (row.path, handover_row_text(&row), row.origin()),
    };
    ExplainedRow { path: path.to_owned(), says: text, file: file.to_owned(), line, conditions, decides: tried.decides }
}

/// Returns the text of a `[[call]]` row: its effect, and the time for which it holds a thread if the row decides that.
fn call_row_text(row: &CallRow, tried: &TestedRow<'_>) -> String {
    let mut text = match row.effect {
        Some(RowEffect::Holds(effect)) => effect.to_string(),
        Some(RowEffect::Harmless) if row.is_async == Some(true) => "asynchronous, holds no thread".to_owned(),
        Some(RowEffect::Harmless) => "holds no thread".to_owned(),
        None if row.is_async == Some(true) => "asynchronous".to_owned(),
        None if row.lazy => "works when its result is consumed".to_owned(),
        None => "does not say if it holds a thread".to_owned(),
    };
    if row.lazy && row.effect.is_some() {
        text.push_str(", when its result is consumed");
    }
    match tried.hold {
        None | Some(LabelHold::Fixed(Hold::Unstated)) => {}
        Some(LabelHold::Fixed(Hold::Brief)) => text.push_str(", briefly"),
        Some(LabelHold::Fixed(Hold::Seconds(seconds))) => text.push_str(&format!(", holds up to {seconds} s")),
        Some(LabelHold::Fixed(Hold::Unbounded)) => text.push_str(", without bound"),
        Some(LabelHold::Param { .. }) => match &tried.hold_parameter {
            Some(name) => text.push_str(&format!(", for the time in parameter `{name}`")),
            None => text.push_str(", for the time that its caller passes"),
        },
    }
    text
}

/// Returns the text of a `[[handover]]` row: the callable that runs, and where.
fn handover_row_text(row: &HandoverRow) -> String {
    let runs = |runs: &Runs| match runs {
        Runs::In(Context::EventLoop) => "on the event loop".to_owned(),
        Runs::In(context) => format!("in {}", context_words(*context)),
        Runs::Caller if row.wraps => "where the callable is called".to_owned(),
        Runs::Caller => "during the call".to_owned(),
        Runs::Chain => "where its chain is".to_owned(),
    };
    let place = match &row.context {
        HandoverContext::Is(runs_in) => runs(runs_in),
        HandoverContext::BySync { sync, async_ } => {
            format!("{}, a coroutine {}", runs(sync), runs(async_))
        }
        HandoverContext::Of(argument) => {
            format!("where `{}` runs its tasks", blocklint_models::written::argument(argument))
        }
    };
    match &row.selector {
        Selector::Argument(argument) if row.wraps => {
            format!("returns a callable that runs `{}` {place}", blocklint_models::written::argument(argument))
        }
        Selector::Argument(argument) => format!("runs `{}` {place}", blocklint_models::written::argument(argument)),
        Selector::Via(Via::Decorator) => format!("runs the decorated function {place}"),
        Selector::Via(Via::Override) => format!("runs its overrides {place}"),
    }
}

/// Returns the reasons why a site belongs to no finding; none if it belongs to one.
fn outcomes(explainer: &Explainer<'_, '_>, site: &Explanation<'_>) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for end in &site.ends {
        for remark in no_finding_text::end_remarks(explainer, site, end) {
            let outcome = Outcome::Ends(remark);
            if !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
        }
    }
    if outcomes.len() > MAX_LISTED {
        let more = outcomes.len() - MAX_LISTED;
        outcomes.truncate(MAX_LISTED);
        outcomes.push(Outcome::Ends(Remark::new(format!("and {more} more of this kind"))));
    }
    if outcomes.is_empty() && site.findings.is_empty() {
        outcomes.push(Outcome::Ends(no_finding_text::plain_remark(explainer, site)));
    }
    outcomes
}
