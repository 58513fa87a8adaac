//! The plan of an HTML report as JSON, which the scripts of the page read.

use blocklint_core::{Finding, Hold, Place};
use camino::Utf8Path;
use serde::Serialize;

use super::excerpts::{Excerpts, PlaceData};
use crate::{Plan, PlanKind, PlanStep, RenderInput};

#[derive(Serialize)]
pub(super) struct PlanData<'a> {
    functions: u32,
    findings: u32,
    left_functions: u32,
    left_findings: u32,
    steps: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Step<'a> {
    kind: &'static str,
    at: PlaceData,
    function: &'a str,
    call: &'a str,
    /// The index of the group whose cause it changes.
    group: Option<usize>,
    calls: Vec<Call<'a>>,
    /// For each function that it frees, one finding of the function that ends.
    frees: Vec<u32>,
    findings: &'a [u32],
    #[serde(serialize_with = "crate::json::hold")]
    hold: Hold,
    severity: &'static str,
    help: Option<String>,
    fix: Option<String>,
    fixes: u32,
    /// How many other findings the fix command mends, too.
    besides: u32,
    codemod: Option<String>,
    check: String,
}

#[derive(Serialize)]
struct Call<'a> {
    at: PlaceData,
    call: &'a str,
    group: Option<usize>,
}

impl<'a> PlanData<'a> {
    /// Returns the data of a plan. Its commands are for a shell in `root`, to which the paths of a report are relative.
    pub(super) fn new(
        plan: &'a Plan,
        input: &'a RenderInput<'a>,
        root: &Utf8Path,
        excerpts: &mut Excerpts<'a>,
    ) -> Self {
        PlanData {
            functions: plan.functions,
            findings: plan.findings,
            left_functions: plan.left_functions,
            left_findings: plan.left_findings,
            steps: plan.steps.iter().map(|step| step_data(step, input, root, excerpts)).collect(),
        }
    }
}

fn step_data<'a>(
    step: &'a PlanStep,
    input: &'a RenderInput<'a>,
    root: &Utf8Path,
    excerpts: &mut Excerpts<'a>,
) -> Step<'a> {
    let calls = step.calls.iter().map(|call| Call {
        at: excerpts.add_place(&call.place),
        call: &call.call,
        group: group_of(&call.place, &call.call, input),
    });
    let calls = calls.collect();
    Step {
        kind: step.kind.as_str(),
        at: excerpts.add_place(&step.place),
        function: &step.function,
        call: &step.call,
        group: (step.kind == PlanKind::Cause).then(|| group_of(&step.place, &step.call, input)).flatten(),
        calls,
        frees: findings_of_freed_functions(step, input.findings),
        findings: &step.findings,
        hold: step.hold,
        severity: step.severity.as_str(),
        help: step.help_from(root),
        fix: step.fix_command(root),
        fixes: step.fixes,
        besides: step.fixes_besides,
        codemod: step.codemod_command(root),
        check: step.check_command(root),
    }
}

/// Returns one finding for each function that a step frees. Two functions with one name, in different files, have two.
fn findings_of_freed_functions(step: &PlanStep, findings: &[Finding]) -> Vec<u32> {
    let mut chosen: Vec<u32> = Vec::with_capacity(step.functions.len());
    let finding_at = |index: u32| findings.get(index as usize);
    for name in &step.functions {
        let is_of_new_function = |index: &u32| {
            finding_at(*index).is_some_and(|finding| {
                let has_same_function = |other: &u32| {
                    finding_at(*other).is_some_and(|other| {
                        other.function == finding.function && other.place.path == finding.place.path
                    })
                };
                finding.function == *name && !chosen.iter().any(has_same_function)
            })
        };
        chosen.extend(step.findings.iter().copied().find(is_of_new_function));
    }
    chosen
}

/// Returns the index of the group whose cause is this call at this place.
fn group_of(place: &Place, call: &str, input: &RenderInput<'_>) -> Option<usize> {
    input.groups.iter().position(|group| {
        group
            .cause
            .as_ref()
            .is_some_and(|cause| cause.place.span == place.span && cause.place.path == place.path && cause.call == call)
    })
}
