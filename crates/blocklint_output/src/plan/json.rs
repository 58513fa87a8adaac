//! `blocklint plan` as JSON.

use std::io::{self, Write};

use blocklint_core::{Hold, Place};
use serde::Serialize;

use super::{Plan, PlanKind, PlanStep};
use crate::RenderInput;

#[derive(Serialize)]
struct Root<'a> {
    functions: u32,
    findings: u32,
    steps: Vec<Step<'a>>,
    left: Left,
}

#[derive(Serialize)]
struct Left {
    functions: u32,
    findings: u32,
}

#[derive(Serialize)]
struct Step<'a> {
    kind: &'static str,
    #[serde(flatten)]
    at: PlaceData<'a>,
    function: &'a str,
    call: Option<&'a str>,
    calls: Vec<Call<'a>>,
    frees: &'a [String],
    findings: Vec<FindingData<'a>>,
    #[serde(serialize_with = "crate::json::hold")]
    hold: Hold,
    severity: &'static str,
    help: Option<&'a str>,
    /// The call that the advice describes, if it is not the call that is changed.
    help_at: Option<PlaceData<'a>>,
    fixes: u32,
    fix: Option<String>,
    codemod: Option<String>,
    check: String,
}

#[derive(Serialize)]
struct Call<'a> {
    #[serde(flatten)]
    at: PlaceData<'a>,
    function: &'a str,
    call: &'a str,
}

#[derive(Serialize)]
struct FindingData<'a> {
    code: String,
    fingerprint: &'a str,
    #[serde(flatten)]
    at: PlaceData<'a>,
    function: &'a str,
}

#[derive(Serialize)]
struct PlaceData<'a> {
    filename: &'a str,
    cell: Option<u32>,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    row: u32,
    column: u32,
}

fn place_data(place: &Place) -> PlaceData<'_> {
    let location = Location { row: place.start.row, column: place.start.column };
    PlaceData { filename: place.path.as_str(), cell: place.cell, location }
}

/// Writes the plan as one object.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_plan_json(out: &mut dyn Write, input: &RenderInput<'_>, plan: &Plan) -> io::Result<()> {
    let root = Root {
        functions: plan.functions,
        findings: plan.findings,
        steps: plan.steps.iter().map(|step| step_data(step, input)).collect(),
        left: Left { functions: plan.left_functions, findings: plan.left_findings },
    };
    serde_json::to_writer_pretty(&mut *out, &root)?;
    writeln!(out)
}

fn step_data<'a>(step: &'a PlanStep, input: &'a RenderInput<'_>) -> Step<'a> {
    let findings = step.findings.iter().filter_map(|index| input.findings.get(*index as usize));
    Step {
        kind: step.kind.as_str(),
        at: place_data(&step.place),
        function: &step.function,
        call: (step.kind != PlanKind::Function).then_some(&step.call),
        calls: step
            .calls
            .iter()
            .map(|call| Call { at: place_data(&call.place), function: &call.function, call: &call.call })
            .collect(),
        frees: &step.functions,
        findings: findings
            .map(|finding| FindingData {
                code: finding.rule.to_string(),
                fingerprint: &finding.fingerprint,
                at: place_data(&finding.place),
                function: &finding.function,
            })
            .collect(),
        hold: step.hold,
        severity: step.severity.as_str(),
        help: step.help.as_deref(),
        help_at: step.help_at.as_ref().map(place_data),
        fixes: step.fixes,
        fix: step.fix_command(input.folder),
        codemod: step.codemod_command(input.folder),
        check: step.check_command(input.folder),
    }
}
