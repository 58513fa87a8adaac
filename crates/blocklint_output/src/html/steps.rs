//! The plan of a report, as its scripts read it.

use blocklint_core::{Finding, Hold, Place};
use camino::Utf8Path;
use serde::Serialize;

use super::excerpts::{At, Excerpts};
use crate::{Plan, PlanKind, PlanStep, Shown};

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
    at: At,
    function: &'a str,
    call: &'a str,
    /// The group of which it is the cause.
    group: Option<usize>,
    calls: Vec<Call<'a>>,
    /// The functions that it frees: a finding of each, which ends with it.
    frees: Vec<u32>,
    findings: &'a [u32],
    #[serde(serialize_with = "crate::json::hold")]
    hold: Hold,
    severity: &'static str,
    help: Option<String>,
    fix: Option<String>,
    fixes: u32,
    /// How many other findings the command mends as well.
    besides: u32,
    codemod: Option<String>,
    check: String,
}

#[derive(Serialize)]
struct Call<'a> {
    at: At,
    call: &'a str,
    group: Option<usize>,
}

impl<'a> PlanData<'a> {
    /// Commands are those that one types in `root`, to which the paths of a report are relative.
    pub(super) fn new(plan: &'a Plan, shown: &'a Shown<'a>, root: &Utf8Path, excerpts: &mut Excerpts<'a>) -> Self {
        PlanData {
            functions: plan.functions,
            findings: plan.findings,
            left_functions: plan.left_functions,
            left_findings: plan.left_findings,
            steps: plan.steps.iter().map(|of| step(of, shown, root, excerpts)).collect(),
        }
    }
}

fn step<'a>(step: &'a PlanStep, shown: &'a Shown<'a>, root: &Utf8Path, excerpts: &mut Excerpts<'a>) -> Step<'a> {
    let calls = step.calls.iter().map(|of| Call {
        at: excerpts.at(&of.place),
        call: &of.call,
        group: group_of(&of.place, &of.call, shown),
    });
    let calls = calls.collect();
    Step {
        kind: step.kind.as_str(),
        at: excerpts.at(&step.place),
        function: &step.function,
        call: &step.call,
        group: (step.kind == PlanKind::Cause).then(|| group_of(&step.place, &step.call, shown)).flatten(),
        calls,
        frees: freed(step, shown.findings),
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

/// Two functions of one name are freed by two findings.
fn freed(step: &PlanStep, findings: &[Finding]) -> Vec<u32> {
    let mut freed: Vec<u32> = Vec::with_capacity(step.functions.len());
    let finding = |at: u32| findings.get(at as usize);
    for name in &step.functions {
        let is_new = |at: &u32| {
            finding(*at).is_some_and(|one| {
                let is_it = |of: &u32| {
                    finding(*of).is_some_and(|of| of.function == one.function && of.place.path == one.place.path)
                };
                one.function == *name && !freed.iter().any(is_it)
            })
        };
        freed.extend(step.findings.iter().copied().find(is_new));
    }
    freed
}

fn group_of(place: &Place, call: &str, shown: &Shown<'_>) -> Option<usize> {
    shown.groups.iter().position(|group| {
        group
            .cause
            .as_ref()
            .is_some_and(|cause| cause.place.span == place.span && cause.place.path == place.path && cause.call == call)
    })
}
