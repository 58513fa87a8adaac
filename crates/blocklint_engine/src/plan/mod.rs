//! `blocklint plan`: the few changes that free most functions, in the order in which to make them.

mod begin;
mod cover;
mod finding_paths;

use std::collections::HashMap;
use std::sync::Arc;

use blocklint_core::{Context, Effect, Finding, Hold, Place, RuleCode, Severity, Span};
use blocklint_output::{BeginKind, Overview, Plan, PlanCall, PlanKind, PlanStep};
use camino::Utf8Path;

use crate::choose::Chosen;
use cover::{Covered, PlanFinding, Question, cover};
use finding_paths::NamedChangePoint;

pub(crate) use begin::change_to_begin_with;
pub use finding_paths::FindingPaths;

/// Returns the plan with at most `most` steps. Its first step is the change that `check` names ([`Overview::begin`]).
/// Places have no rows and columns yet ([`crate::locate_plan`]).
pub fn plan(chosen: &Chosen, paths: &FindingPaths, overview: &Overview, max_steps: usize) -> Plan {
    let mut change_points = paths.change_points.clone();
    let mut function_numbers: HashMap<(&Utf8Path, &str), u32> = HashMap::new();
    let mut names: Vec<&str> = Vec::new();
    // A finding about a file, such as BLT902, belongs to no function.
    let planned: Vec<u32> = (0u32..)
        .zip(&chosen.findings)
        .filter(|(_, finding)| !finding.function.is_empty())
        .map(|(index, _)| index)
        .collect();
    let finding_of = |index: u32| &chosen.findings[planned[index as usize] as usize];
    let findings: Vec<PlanFinding> = (0..planned.len() as u32)
        .map(|index| {
            let finding = finding_of(index);
            let new = function_numbers.len() as u32;
            let function = *function_numbers.entry((&finding.place.path, &finding.function)).or_insert(new);
            if function == new {
                names.push(&finding.function);
            }
            let start_nodes = paths.start_nodes(finding).to_vec();
            // A blocking call directly in a function that must not block is its own cause.
            let direct = match (&start_nodes[..], finding.trace.len()) {
                ([only], 1) => paths.nodes.get(*only as usize).filter(|node| node.next.is_empty()),
                _ => None,
            };
            let direct_change = direct.map_or_else(
                || {
                    change_points.push(NamedChangePoint {
                        place: finding.place.clone(),
                        function: finding.function.clone(),
                        call: Some(finding.trace.first().map_or_else(String::new, |step| step.call.clone())),
                    });
                    change_points.len() as u32 - 1
                },
                |node| node.change_point,
            );
            PlanFinding { function, start_nodes, direct_change }
        })
        .collect();
    let ranks = rank_change_points(chosen, &change_points, paths.change_points.len());
    let first = overview.begin.as_ref().and_then(|begin| {
        let is_begin = |named: &NamedChangePoint| match begin.kind {
            BeginKind::Function => named.call.is_none() && named.function == begin.function,
            _ => {
                let place = begin.place.as_ref().map(|place| (&place.path, place.span));
                place == Some((&named.place.path, named.place.span)) && named.call.as_ref() == Some(&begin.call)
            }
        };
        (0u32..).zip(&change_points).find(|(_, named)| is_begin(named)).map(|(index, _)| index)
    });
    let steps = cover(&Question { nodes: &paths.nodes, findings: &findings, ranks: &ranks, first }, max_steps);
    let mut is_left = vec![true; planned.len()];
    let steps: Vec<PlanStep> = steps
        .into_iter()
        .map(|covered| {
            covered.findings.iter().for_each(|index| is_left[*index as usize] = false);
            let named = &change_points[covered.change_point as usize];
            let kind = match (&named.call, (covered.change_point as usize) < paths.change_points.len()) {
                (None, _) => PlanKind::Function,
                (Some(_), true) => PlanKind::Cause,
                (Some(_), false) => PlanKind::Call,
            };
            let functions = covered.functions.iter().map(|function| names[*function as usize].to_owned()).collect();
            let ended: Vec<(u32, &Finding)> = {
                let Covered { findings, .. } = &covered;
                findings.iter().map(|index| (planned[*index as usize], finding_of(*index))).collect()
            };
            plan_step(kind, named, &ended, functions, chosen)
        })
        .collect();
    let remaining = (0..planned.len() as u32).filter(|index| is_left[*index as usize]);
    let mut remaining_functions: Vec<u32> = remaining.clone().map(|index| findings[index as usize].function).collect();
    remaining_functions.sort_unstable();
    remaining_functions.dedup();
    Plan {
        steps,
        functions: names.len() as u32,
        findings: planned.len() as u32,
        left_functions: remaining_functions.len() as u32,
        left_findings: remaining.count() as u32,
    }
}

/// Returns the rank of each change point among those that free as many functions: causes in the order of their groups,
/// then functions, then calls.
fn rank_change_points(chosen: &Chosen, change_points: &[NamedChangePoint], on_paths: usize) -> Vec<u32> {
    let count = chosen.groups.len() as u32;
    let causes = (0u32..).zip(&chosen.groups).filter_map(|(index, group)| Some((index, group.cause.as_ref()?)));
    let mut groups: HashMap<(&Utf8Path, Span, &str), u32> = HashMap::new();
    for (index, cause) in causes {
        groups.entry((&cause.place.path, cause.place.span, &cause.call)).or_insert(index);
    }
    let rank = |(index, named): (usize, &NamedChangePoint)| match &named.call {
        None => count + 1,
        Some(_) if index >= on_paths => count + 2,
        Some(call) => groups.get(&(&*named.place.path, named.place.span, call.as_str())).copied().unwrap_or(count),
    };
    change_points.iter().enumerate().map(rank).collect()
}

/// Returns the step of the plan that makes one change and ends some findings.
fn plan_step(
    kind: PlanKind,
    named: &NamedChangePoint,
    ended: &[(u32, &Finding)],
    functions: Vec<String>,
    chosen: &Chosen,
) -> PlanStep {
    let mut calls: Vec<PlanCall> = Vec::new();
    for cause in ended.iter().flat_map(|(_, finding)| &finding.causes) {
        let is_listed = |call: &PlanCall| {
            call.place.span == cause.place.span && call.place.path == cause.place.path && call.call == cause.call
        };
        if kind == PlanKind::Function && !calls.iter().any(is_listed) {
            calls.push(PlanCall {
                call: cause.call.clone(),
                function: cause.function.clone(),
                place: cause.place.clone(),
            });
        }
    }
    let worst = ended.iter().map(|(_, finding)| *finding).max_by_key(|finding| {
        let (rank, seconds) = finding.hold.rank();
        (finding.severity, rank, seconds.to_bits())
    });
    // The help of a finding names the finding's own call. If a finding is at the changed place, its help names the text
    // to write there, so it is preferred.
    let (change_point, severity) = (&named.place, worst.map(|finding| finding.severity));
    let is_here =
        |finding: &&Finding| finding.place.path == change_point.path && finding.place.span == change_point.span;
    let advising = ended.iter().map(|(_, finding)| *finding).find(|finding| is_here(finding) && finding.help.is_some());
    let advising =
        advising.filter(|finding| Some(finding.severity) == severity || kind != PlanKind::Function).or(worst);
    // A codemod is for Python, and for findings whose callers have to change with the call.
    let is_for_codemods = |finding: &Finding| {
        finding.place.path.extension() == Some("py")
            && finding.context == Some(Context::EventLoop)
            && finding.effect.is_some_and(|effect| effect != Effect::Cpu)
            && finding.trace.len() > 1
    };
    let for_codemods = ended.iter().map(|(_, finding)| *finding).filter(|finding| is_for_codemods(finding));
    // Reversed, because `max_by_key` returns the last of equals.
    let codemod = for_codemods.rev().max_by_key(|finding| finding.severity);
    let fixable: Vec<&Finding> =
        ended.iter().map(|(_, finding)| *finding).filter(|finding| finding.fix.is_some()).collect();
    let fix_rules = sorted_rules(&fixable);
    // A fix is applied to all of its files or to none, so all of them are listed.
    let edited =
        fixable.iter().filter_map(|finding| finding.fix.as_ref()).flat_map(|fix| &fix.edits).map(|edit| &edit.place);
    let fix_files = sorted_files(fixable.iter().map(|finding| &finding.place).chain(edited));
    // The fix command is limited to files and rules, so it also fixes other findings with these files and rules.
    let touched = chosen.findings.iter().filter(|finding| {
        finding.fix.is_some() && fix_rules.contains(&finding.rule) && fix_files.contains(&finding.place.path)
    });
    let ended_findings: Vec<&Finding> = ended.iter().map(|(_, finding)| *finding).collect();
    PlanStep {
        kind,
        place: named.place.clone(),
        function: named.function.clone(),
        call: named.call.clone().unwrap_or_default(),
        calls,
        functions,
        hold: ended.iter().map(|(_, finding)| finding.hold).fold(Hold::Unstated, Hold::longest),
        severity: worst.map_or(Severity::Note, |finding| finding.severity),
        help: advising.and_then(|finding| finding.help.clone()),
        help_at: advising.filter(|finding| !is_here(finding)).map(|finding| finding.place.clone()),
        fixes: fixable.len() as u32,
        fixes_besides: (touched.count() - fixable.len()) as u32,
        fix_rules,
        fix_files,
        codemod: codemod.map(|finding| finding.place.clone()),
        rules: sorted_rules(&ended_findings),
        files: sorted_files(ended_findings.iter().map(|finding| &finding.place)),
        findings: ended.iter().map(|(index, _)| *index).collect(),
    }
}

fn sorted_rules(findings: &[&Finding]) -> Vec<RuleCode> {
    let mut rules: Vec<RuleCode> = findings.iter().map(|finding| finding.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

fn sorted_files<'p>(places: impl Iterator<Item = &'p Place>) -> Vec<Arc<Utf8Path>> {
    let mut files: Vec<Arc<Utf8Path>> = places.map(|place| Arc::clone(&place.path)).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// Returns all places of a plan, so that their rows and columns can be computed.
pub(crate) fn places_of_plan(plan: &mut Plan) -> impl Iterator<Item = &mut Place> {
    plan.steps.iter_mut().flat_map(|step| {
        let calls = step.calls.iter_mut().map(|call| &mut call.place);
        std::iter::once(&mut step.place).chain(calls).chain(step.help_at.as_mut()).chain(step.codemod.as_mut())
    })
}
