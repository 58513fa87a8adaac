//! JSON: an array with one object per finding. The objects are a superset of ruff's, so that programs that read ruff's
//! output read this.

use std::io::{self, Write};

use blocklint_core::{
    Applicability, Cause, Confirmed, Context, Effect, Finding, Fix, Hold, Location, ReachedBy, Reason, Refusal, Step,
};
use blocklint_rules::UNREADABLE_SOURCE;
use serde::{Serialize, Serializer};

use crate::RenderInput;

/// One finding.
#[derive(Serialize)]
pub(crate) struct FindingObject<'a> {
    cell: Option<u32>,
    code: String,
    end_location: Location,
    filename: &'a str,
    fix: Option<FixObject<'a>>,
    /// Why there is no fix, if a fix was tried.
    no_fix: Option<RefusalObject<'a>>,
    location: Location,
    message: &'a str,
    name: Option<&'static str>,
    /// The line at which a suppression comment takes effect. `None` if no comment can suppress the finding.
    noqa_row: Option<u32>,
    severity: &'static str,
    url: Option<String>,
    confidence: &'static str,
    effect: Option<&'static str>,
    /// The kind of work of the call: `file-entry`.
    kind: Option<String>,
    /// The usual time of one call, if it is known.
    takes: Option<String>,
    context: Option<&'static str>,
    function: &'a str,
    #[serde(serialize_with = "hold")]
    hold: Hold,
    causes: Vec<CauseObject<'a>>,
    trace: Vec<StepObject<'a>>,
    /// The place at which other code holds the lock that the call waits for. `None` if it waits for no lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<StepObject<'a>>,
    reasons: Vec<ReasonObject<'a>>,
    reached_by: Vec<EntryObject<'a>>,
    fingerprint: &'a str,
    /// Why the finding does not count and is usually not shown. `None` if it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    aside: Option<&'static str>,
    /// Evidence from a run of the program, if there is any.
    confirmed: Option<ConfirmedObject<'a>>,
}

/// Evidence from a run of the program.
#[derive(Serialize)]
pub(crate) struct ConfirmedObject<'a> {
    seconds: Option<f64>,
    times: u64,
    /// `call` if the recorded stack led to the call, `function` if only the function is known.
    of: &'static str,
    tests: &'a [String],
}

/// A signal that made the finding less bad, less sure or worse.
#[derive(Serialize)]
struct ReasonObject<'a> {
    name: &'static str,
    says: &'static str,
    makes: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
}

/// A kind of entry point that reaches the finding, with the nearest entry point of that kind.
#[derive(Serialize)]
pub(crate) struct EntryObject<'a> {
    kind: &'static str,
    entry: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<u32>,
    filename: &'a str,
    row: u32,
}

/// Why the finding has no fix, and the place that shows it.
#[derive(Serialize)]
struct RefusalObject<'a> {
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
}

#[derive(Serialize)]
struct CauseObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<u32>,
    filename: &'a str,
    location: Location,
    function: &'a str,
    call: &'a str,
    reach: u32,
}

#[derive(Serialize)]
struct StepObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<u32>,
    filename: &'a str,
    location: Location,
    end_location: Location,
    function: &'a str,
    call: &'a str,
}

#[derive(Serialize)]
struct FixObject<'a> {
    applicability: &'static str,
    edits: Vec<EditObject<'a>>,
    message: &'a str,
}

#[derive(Serialize)]
struct EditObject<'a> {
    content: &'a str,
    end_location: Location,
    filename: &'a str,
    location: Location,
}

/// Writes all findings as one array.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_json(out: &mut dyn Write, input: &RenderInput<'_>) -> io::Result<()> {
    let objects = input.findings.iter().map(|finding| finding_object(finding, input)).collect::<Vec<_>>();
    serde_json::to_writer_pretty(&mut *out, &objects)?;
    writeln!(out)
}

pub(crate) fn finding_object<'f>(finding: &'f Finding, input: &RenderInput<'_>) -> FindingObject<'f> {
    FindingObject {
        cell: finding.place.cell,
        code: finding.rule.to_string(),
        end_location: finding.place.end,
        filename: finding.place.path.as_str(),
        fix: finding.fix.as_ref().map(fix_object),
        no_fix: finding.unfixed.as_ref().map(refusal_object),
        location: finding.place.start,
        message: &finding.message,
        name: blocklint_rules::rule(finding.rule).map(|rule| rule.name),
        noqa_row: (finding.rule != UNREADABLE_SOURCE.code).then_some(finding.place.start.row),
        severity: finding.severity.as_str(),
        url: input.url(finding.rule),
        confidence: finding.confidence.as_str(),
        effect: finding.effect.map(Effect::as_str),
        kind: finding.weight.map(|weight| weight.work.name()),
        takes: finding.weight.and_then(|weight| weight.duration).map(|takes| takes.to_string()),
        context: finding.context.map(Context::as_str),
        function: &finding.function,
        hold: finding.hold,
        causes: finding.causes.iter().map(cause_object).collect(),
        trace: finding.trace.iter().map(step_object).collect(),
        held_by: finding.held_by.as_ref().map(step_object),
        reasons: finding.reasons.iter().map(reason_object).collect(),
        reached_by: finding.reached_by.iter().map(entry_object).collect(),
        fingerprint: &finding.fingerprint,
        aside: finding.aside.map(|aside| aside.because),
        confirmed: finding.confirmed.as_ref().map(confirmed_object),
    }
}

pub(crate) fn confirmed_object(confirmed: &Confirmed) -> ConfirmedObject<'_> {
    ConfirmedObject {
        seconds: confirmed.seconds,
        times: confirmed.times,
        of: if confirmed.exact { "call" } else { "function" },
        tests: &confirmed.tests,
    }
}

pub(crate) fn entry_object(entry: &ReachedBy) -> EntryObject<'_> {
    EntryObject {
        kind: entry.kind.as_str(),
        entry: &entry.entry,
        route: entry.route.as_deref(),
        cell: entry.place.cell,
        filename: entry.place.path.as_str(),
        row: entry.place.start.row,
    }
}

fn reason_object(reason: &Reason) -> ReasonObject<'_> {
    ReasonObject {
        name: reason.name,
        says: reason.says,
        makes: reason.makes,
        filename: reason.place.as_ref().map(|place| place.path.as_str()),
        location: reason.place.as_ref().map(|place| place.start),
    }
}

fn refusal_object(refusal: &Refusal) -> RefusalObject<'_> {
    RefusalObject {
        reason: &refusal.reason,
        filename: refusal.place.as_ref().map(|place| place.path.as_str()),
        location: refusal.place.as_ref().map(|place| place.start),
    }
}

fn cause_object(cause: &Cause) -> CauseObject<'_> {
    CauseObject {
        cell: cause.place.cell,
        filename: cause.place.path.as_str(),
        location: cause.place.start,
        function: &cause.function,
        call: &cause.call,
        reach: cause.reach,
    }
}

fn step_object(step: &Step) -> StepObject<'_> {
    StepObject {
        cell: step.place.cell,
        filename: step.place.path.as_str(),
        location: step.place.start,
        end_location: step.place.end,
        function: &step.function,
        call: &step.call,
    }
}

fn fix_object(fix: &Fix) -> FixObject<'_> {
    let edits = fix.edits.iter().map(|edit| EditObject {
        content: &edit.content,
        end_location: edit.place.end,
        filename: edit.place.path.as_str(),
        location: edit.place.start,
    });
    FixObject {
        applicability: match fix.applicability {
            Applicability::Safe => "safe",
            Applicability::Unsafe => "unsafe",
            Applicability::Display => "display",
        },
        edits: edits.collect(),
        message: &fix.title,
    }
}

/// Serialises a hold: seconds as a number, `"unbounded"`, `"brief"`, or `null` if it is not stated.
pub(crate) fn hold<S: Serializer>(hold: &Hold, serializer: S) -> Result<S::Ok, S::Error> {
    match hold {
        Hold::Unstated => serializer.serialize_none(),
        Hold::Brief => serializer.serialize_str("brief"),
        Hold::Unbounded => serializer.serialize_str("unbounded"),
        // JSON has no infinity.
        Hold::Seconds(time) if !time.is_finite() => serializer.serialize_str("unbounded"),
        Hold::Seconds(time) => serializer.serialize_f64(*time),
    }
}
