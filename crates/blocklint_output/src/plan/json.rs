//! A plan for programs.

use std::io::{self, Write};

use blocklint_core::{Hold, Place};
use serde::Serialize;

use super::{Plan, PlanKind, PlanStep};
use crate::Shown;

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
    at: At<'a>,
    function: &'a str,
    call: Option<&'a str>,
    calls: Vec<Call<'a>>,
    frees: &'a [String],
    findings: Vec<One<'a>>,
    #[serde(serialize_with = "crate::json::hold")]
    hold: Hold,
    severity: &'static str,
    help: Option<&'a str>,
    /// The call that the advice describes, where it is another one than what is changed.
    help_at: Option<At<'a>>,
    fixes: u32,
    fix: Option<String>,
    codemod: Option<String>,
    check: String,
}

#[derive(Serialize)]
struct Call<'a> {
    #[serde(flatten)]
    at: At<'a>,
    function: &'a str,
    call: &'a str,
}

#[derive(Serialize)]
struct One<'a> {
    code: String,
    fingerprint: &'a str,
    #[serde(flatten)]
    at: At<'a>,
    function: &'a str,
}

#[derive(Serialize)]
struct At<'a> {
    filename: &'a str,
    cell: Option<u32>,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    row: u32,
    column: u32,
}

fn at(place: &Place) -> At<'_> {
    let location = Location { row: place.start.row, column: place.start.column };
    At { filename: place.path.as_str(), cell: place.cell, location }
}

/// One object.
///
/// # Errors
///
/// Those of the writer.
pub fn plan_json(out: &mut dyn Write, shown: &Shown<'_>, plan: &Plan) -> io::Result<()> {
    let root = Root {
        functions: plan.functions,
        findings: plan.findings,
        steps: plan.steps.iter().map(|of| step(of, shown)).collect(),
        left: Left { functions: plan.left_functions, findings: plan.left_findings },
    };
    serde_json::to_writer_pretty(&mut *out, &root)?;
    writeln!(out)
}

fn step<'a>(step: &'a PlanStep, shown: &'a Shown<'_>) -> Step<'a> {
    let findings = step.findings.iter().filter_map(|index| shown.findings.get(*index as usize));
    Step {
        kind: step.kind.as_str(),
        at: at(&step.place),
        function: &step.function,
        call: (step.kind != PlanKind::Function).then_some(&step.call),
        calls: step.calls.iter().map(|of| Call { at: at(&of.place), function: &of.function, call: &of.call }).collect(),
        frees: &step.functions,
        findings: findings
            .map(|of| One {
                code: of.rule.to_string(),
                fingerprint: &of.fingerprint,
                at: at(&of.place),
                function: &of.function,
            })
            .collect(),
        hold: step.hold,
        severity: step.severity.as_str(),
        help: step.help.as_deref(),
        help_at: step.help_at.as_ref().map(at),
        fixes: step.fixes,
        fix: step.fix_command(shown.folder),
        codemod: step.codemod_command(shown.folder),
        check: step.check_command(shown.folder),
    }
}
