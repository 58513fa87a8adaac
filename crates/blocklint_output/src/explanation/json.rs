//! `blocklint why` as JSON: an array with an object for each line.

use std::io::{self, Write};

use blocklint_core::{Cause, Location, Place, Reason, Step};
use serde::Serialize;

use super::{ExplainedFinding, ExplainedFunction, ExplainedLine, ExplainedSite, Outcome, Remark};

#[derive(Serialize)]
struct PlaceObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<u32>,
    filename: &'a str,
    location: Location,
}

impl<'a> From<&'a Place> for PlaceObject<'a> {
    fn from(place: &'a Place) -> Self {
        PlaceObject { cell: place.cell, filename: place.path.as_str(), location: place.start }
    }
}

#[derive(Serialize)]
struct RemarkObject<'a> {
    says: &'a str,
    #[serde(flatten)]
    place: Option<PlaceObject<'a>>,
}

impl<'a> From<&'a Remark> for RemarkObject<'a> {
    fn from(remark: &'a Remark) -> Self {
        RemarkObject { says: &remark.says, place: remark.place.as_ref().map(PlaceObject::from) }
    }
}

fn remarks(remarks: &[Remark]) -> Vec<RemarkObject<'_>> {
    remarks.iter().map(RemarkObject::from).collect()
}

#[derive(Serialize)]
struct LineObject<'a> {
    #[serde(flatten)]
    place: PlaceObject<'a>,
    stands: &'a str,
    remarks: Vec<RemarkObject<'a>>,
    findings: Vec<FindingObject<'a>>,
    more_findings: usize,
    function: Option<FunctionObject<'a>>,
    sites: Vec<SiteObject<'a>>,
}

#[derive(Serialize)]
struct FindingObject<'a> {
    #[serde(flatten)]
    place: PlaceObject<'a>,
    code: String,
    message: &'a str,
    severity: String,
    confidence: String,
    /// The line's part in the finding. `None` if the finding is on the line.
    part: Option<&'static str>,
    /// Why `check` does not show the finding. `None` if it does.
    hidden: Option<&'a str>,
    trace: Vec<StepObject<'a>>,
    held_by: Option<StepObject<'a>>,
    causes: Vec<CauseObject<'a>>,
    reasons: Vec<ReasonObject<'a>>,
    reached_by: Vec<crate::json::EntryObject<'a>>,
    doubts: Vec<RemarkObject<'a>>,
    fingerprint: &'a str,
}

#[derive(Serialize)]
struct StepObject<'a> {
    #[serde(flatten)]
    place: PlaceObject<'a>,
    function: &'a str,
    call: &'a str,
}

impl<'a> From<&'a Step> for StepObject<'a> {
    fn from(step: &'a Step) -> Self {
        StepObject { place: (&step.place).into(), function: &step.function, call: &step.call }
    }
}

#[derive(Serialize)]
struct CauseObject<'a> {
    #[serde(flatten)]
    place: PlaceObject<'a>,
    function: &'a str,
    call: &'a str,
}

impl<'a> From<&'a Cause> for CauseObject<'a> {
    fn from(cause: &'a Cause) -> Self {
        CauseObject { place: (&cause.place).into(), function: &cause.function, call: &cause.call }
    }
}

#[derive(Serialize)]
struct ReasonObject<'a> {
    name: &'static str,
    says: &'static str,
    makes: &'static str,
    #[serde(flatten)]
    place: Option<PlaceObject<'a>>,
}

impl<'a> From<&'a Reason> for ReasonObject<'a> {
    fn from(reason: &'a Reason) -> Self {
        let place = reason.place.as_ref().map(PlaceObject::from);
        ReasonObject { name: reason.name, says: reason.says, makes: reason.makes, place }
    }
}

#[derive(Serialize)]
struct FunctionObject<'a> {
    #[serde(flatten)]
    place: PlaceObject<'a>,
    name: &'a str,
    duty: Vec<RemarkObject<'a>>,
    uses: Vec<RemarkObject<'a>>,
    more_uses: usize,
    reaches: Vec<RemarkObject<'a>>,
    findings: Vec<RemarkObject<'a>>,
}

#[derive(Serialize)]
struct SiteObject<'a> {
    #[serde(flatten)]
    place: PlaceObject<'a>,
    written: &'a str,
    kind: &'a str,
    owner: &'a str,
    receiver: Option<&'a str>,
    arguments: Vec<ArgumentObject<'a>>,
    targets: Vec<TargetObject<'a>>,
    models: Vec<RowObject<'a>>,
    /// The findings that the site belongs to.
    findings: Vec<BelongsObject<'a>>,
    more_findings: usize,
    /// Why the site belongs to no finding.
    silent: Vec<RemarkObject<'a>>,
}

#[derive(Serialize)]
struct ArgumentObject<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct TargetObject<'a> {
    name: &'a str,
    edge: &'a str,
    confidence: String,
    #[serde(flatten)]
    place: Option<PlaceObject<'a>>,
}

#[derive(Serialize)]
struct RowObject<'a> {
    path: &'a str,
    says: &'a str,
    file: &'a str,
    line: u32,
    conditions: Vec<ConditionObject<'a>>,
    decides: bool,
}

#[derive(Serialize)]
struct ConditionObject<'a> {
    condition: &'a str,
    shown: bool,
}

#[derive(Serialize)]
struct BelongsObject<'a> {
    #[serde(flatten)]
    place: PlaceObject<'a>,
    code: String,
}

/// Writes the explanation of each line as one array.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_explanation_json(out: &mut dyn Write, lines: &[ExplainedLine]) -> io::Result<()> {
    let lines: Vec<LineObject<'_>> = lines.iter().map(line_object).collect();
    serde_json::to_writer_pretty(&mut *out, &lines)?;
    writeln!(out)
}

fn line_object(line: &ExplainedLine) -> LineObject<'_> {
    LineObject {
        place: (&line.place).into(),
        stands: &line.stands,
        remarks: remarks(&line.remarks),
        findings: line.findings.iter().map(finding_object).collect(),
        more_findings: line.more_findings,
        function: line.function.as_ref().map(function_object),
        sites: line.sites.iter().map(site_object).collect(),
    }
}

fn finding_object(explained: &ExplainedFinding) -> FindingObject<'_> {
    let finding = &explained.finding;
    FindingObject {
        place: (&finding.place).into(),
        code: finding.rule.to_string(),
        message: &finding.message,
        severity: finding.severity.to_string(),
        confidence: finding.confidence.to_string(),
        part: explained.part,
        hidden: explained.hidden.as_deref(),
        trace: finding.trace.iter().map(StepObject::from).collect(),
        held_by: finding.held_by.as_ref().map(StepObject::from),
        causes: finding.causes.iter().map(CauseObject::from).collect(),
        reasons: finding.reasons.iter().map(ReasonObject::from).collect(),
        reached_by: finding.reached_by.iter().map(crate::json::entry_object).collect(),
        doubts: remarks(&explained.doubts),
        fingerprint: &finding.fingerprint,
    }
}

fn function_object(function: &ExplainedFunction) -> FunctionObject<'_> {
    FunctionObject {
        place: (&function.place).into(),
        name: &function.name,
        duty: remarks(&function.duty),
        uses: remarks(&function.uses),
        more_uses: function.more_uses,
        reaches: remarks(&function.reaches),
        findings: remarks(&function.findings),
    }
}

fn site_object(site: &ExplainedSite) -> SiteObject<'_> {
    let (mut findings, mut more_findings, mut silent) = (Vec::new(), 0, Vec::new());
    for outcome in &site.outcomes {
        match outcome {
            Outcome::Finding(rule, place) => {
                findings.push(BelongsObject { place: place.into(), code: rule.to_string() });
            }
            Outcome::Others(count) => more_findings = *count,
            Outcome::Ends(remark) => silent.push(remark.into()),
        }
    }
    let arguments = site.arguments.iter().map(|(name, value)| ArgumentObject { name, value });
    let targets = site.targets.iter().map(|target| TargetObject {
        name: &target.name,
        edge: &target.edge,
        confidence: target.confidence.to_string(),
        place: target.place.as_ref().map(PlaceObject::from),
    });
    let rows = site.rows.iter().map(|row| RowObject {
        path: &row.path,
        says: &row.says,
        file: &row.file,
        line: row.line,
        conditions: row
            .conditions
            .iter()
            .map(|(condition, shown)| ConditionObject { condition, shown: *shown })
            .collect(),
        decides: row.decides,
    });
    SiteObject {
        place: (&site.place).into(),
        written: &site.written,
        kind: &site.kind,
        owner: &site.owner,
        receiver: site.receiver.as_deref(),
        arguments: arguments.collect(),
        targets: targets.collect(),
        models: rows.collect(),
        findings,
        more_findings,
        silent,
    }
}
