//! The order of changes: the few places whose change frees most functions, first ones first.

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

pub(crate) use begin::begin;
pub use finding_paths::FindingPaths;

/// Returns the steps after which nothing is left, or the first so many of them. The first one is the change that
/// `check` names, as the overview has it. Places are not located.
pub fn plan(chosen: &Chosen, paths: &FindingPaths, overview: &Overview, most: usize) -> Plan {
    let mut change_points = paths.change_points.clone();
    let mut numbers: HashMap<(&Utf8Path, &str), u32> = HashMap::new();
    let mut names: Vec<&str> = Vec::new();
    // A finding about a file as a whole belongs to no function.
    let planned: Vec<u32> =
        (0u32..).zip(&chosen.findings).filter(|(_, finding)| !finding.function.is_empty()).map(|(at, _)| at).collect();
    let finding = |planned_at: u32| &chosen.findings[planned[planned_at as usize] as usize];
    let findings: Vec<PlanFinding> = (0..planned.len() as u32)
        .map(|at| {
            let finding = finding(at);
            let new = numbers.len() as u32;
            let function = *numbers.entry((&finding.place.path, &finding.function)).or_insert(new);
            if function == new {
                names.push(&finding.function);
            }
            let begins = paths.begins(finding).to_vec();
            // A call that blocks right where it must not is its own cause.
            let direct = match (&begins[..], finding.trace.len()) {
                ([only], 1) => paths.nodes.get(*only as usize).filter(|node| node.next.is_empty()),
                _ => None,
            };
            let own = direct.map_or_else(
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
            PlanFinding { function, begins, own }
        })
        .collect();
    let ranks = ranks(chosen, &change_points, paths.change_points.len());
    let first = overview.begin.as_ref().and_then(|begin| {
        let is_begin = |named: &NamedChangePoint| match begin.kind {
            BeginKind::Function => named.call.is_none() && named.function == begin.function,
            _ => {
                let at = begin.place.as_ref().map(|place| (&place.path, place.span));
                at == Some((&named.place.path, named.place.span)) && named.call.as_ref() == Some(&begin.call)
            }
        };
        (0u32..).zip(&change_points).find(|(_, named)| is_begin(named)).map(|(at, _)| at)
    });
    let steps = cover(&Question { nodes: &paths.nodes, findings: &findings, ranks: &ranks, first }, most);
    let mut is_left = vec![true; planned.len()];
    let steps: Vec<PlanStep> = steps
        .into_iter()
        .map(|covered| {
            covered.findings.iter().for_each(|at| is_left[*at as usize] = false);
            let named = &change_points[covered.change_point as usize];
            let kind = match (&named.call, (covered.change_point as usize) < paths.change_points.len()) {
                (None, _) => PlanKind::Function,
                (Some(_), true) => PlanKind::Cause,
                (Some(_), false) => PlanKind::Call,
            };
            let functions = covered.functions.iter().map(|of| names[*of as usize].to_owned()).collect();
            let ended: Vec<(u32, &Finding)> = {
                let Covered { findings, .. } = &covered;
                findings.iter().map(|at| (planned[*at as usize], finding(*at))).collect()
            };
            step(kind, named, &ended, functions, chosen)
        })
        .collect();
    let left = (0..planned.len() as u32).filter(|at| is_left[*at as usize]);
    let mut left_functions: Vec<u32> = left.clone().map(|at| findings[at as usize].function).collect();
    left_functions.sort_unstable();
    left_functions.dedup();
    Plan {
        steps,
        functions: names.len() as u32,
        findings: planned.len() as u32,
        left_functions: left_functions.len() as u32,
        left_findings: left.count() as u32,
    }
}

/// Among change points that free as many functions, causes come first, in the order of their groups, then functions,
/// then calls.
fn ranks(chosen: &Chosen, change_points: &[NamedChangePoint], on_paths: usize) -> Vec<u32> {
    let count = chosen.groups.len() as u32;
    let causes = (0u32..).zip(&chosen.groups).filter_map(|(at, group)| Some((at, group.cause.as_ref()?)));
    let mut groups: HashMap<(&Utf8Path, Span, &str), u32> = HashMap::new();
    for (at, cause) in causes {
        groups.entry((&cause.place.path, cause.place.span, &cause.call)).or_insert(at);
    }
    let rank = |(at, named): (usize, &NamedChangePoint)| match &named.call {
        None => count + 1,
        Some(_) if at >= on_paths => count + 2,
        Some(call) => groups.get(&(&*named.place.path, named.place.span, call.as_str())).copied().unwrap_or(count),
    };
    change_points.iter().enumerate().map(rank).collect()
}

/// Returns a step of the plan, with the findings that it ends.
fn step(
    kind: PlanKind,
    named: &NamedChangePoint,
    ended: &[(u32, &Finding)],
    functions: Vec<String>,
    chosen: &Chosen,
) -> PlanStep {
    let mut calls: Vec<PlanCall> = Vec::new();
    for cause in ended.iter().flat_map(|(_, finding)| &finding.causes) {
        let is_known = |of: &PlanCall| of.place.span == cause.place.span && of.place.path == cause.place.path;
        if kind == PlanKind::Function && !calls.iter().any(|of| is_known(of) && of.call == cause.call) {
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
    // Advice names the call of its finding: one that stands at the place itself names the text to write there.
    let (change_point, severity) = (&named.place, worst.map(|finding| finding.severity));
    let is_here = |of: &&Finding| of.place.path == change_point.path && of.place.span == change_point.span;
    let advising = ended.iter().map(|(_, finding)| *finding).find(|of| is_here(of) && of.help.is_some());
    let advising = advising.filter(|of| Some(of.severity) == severity || kind != PlanKind::Function).or(worst);
    // Codemods are for Python, where a finding is behind functions that have to change with it.
    let is_for_codemods = |of: &Finding| {
        of.place.path.extension() == Some("py")
            && of.context == Some(Context::EventLoop)
            && of.effect.is_some_and(|effect| effect != Effect::Cpu)
            && of.trace.len() > 1
    };
    let for_codemods = ended.iter().map(|(_, of)| *of).filter(|of| is_for_codemods(of));
    // Of those that are as bad the first.
    let codemod = for_codemods.rev().max_by_key(|of| of.severity);
    let fixable: Vec<&Finding> = ended.iter().map(|(_, of)| *of).filter(|of| of.fix.is_some()).collect();
    let fix_rules = rules(&fixable);
    // A fix is made as a whole or not at all: all its files are named.
    let edited = fixable.iter().filter_map(|of| of.fix.as_ref()).flat_map(|fix| &fix.edits).map(|edit| &edit.place);
    let fix_files = files(fixable.iter().map(|of| &of.place).chain(edited));
    // A command names files and rules, and so mends other findings of theirs too.
    let touched = chosen
        .findings
        .iter()
        .filter(|of| of.fix.is_some() && fix_rules.contains(&of.rule) && fix_files.contains(&of.place.path));
    let all: Vec<&Finding> = ended.iter().map(|(_, of)| *of).collect();
    PlanStep {
        kind,
        place: named.place.clone(),
        function: named.function.clone(),
        call: named.call.clone().unwrap_or_default(),
        calls,
        functions,
        hold: ended.iter().map(|(_, of)| of.hold).fold(Hold::Unstated, Hold::longest),
        severity: worst.map_or(Severity::Note, |finding| finding.severity),
        help: advising.and_then(|finding| finding.help.clone()),
        help_at: advising.filter(|of| !is_here(of)).map(|of| of.place.clone()),
        fixes: fixable.len() as u32,
        fixes_besides: (touched.count() - fixable.len()) as u32,
        fix_rules,
        fix_files,
        codemod: codemod.map(|of| of.place.clone()),
        rules: rules(&all),
        files: files(all.iter().map(|of| &of.place)),
        findings: ended.iter().map(|(at, _)| *at).collect(),
    }
}

fn rules(findings: &[&Finding]) -> Vec<RuleCode> {
    let mut rules: Vec<RuleCode> = findings.iter().map(|finding| finding.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

fn files<'p>(places: impl Iterator<Item = &'p Place>) -> Vec<Arc<Utf8Path>> {
    let mut files: Vec<Arc<Utf8Path>> = places.map(|place| Arc::clone(&place.path)).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// Returns the places of a plan that are still to be located.
pub(crate) fn places(plan: &mut Plan) -> impl Iterator<Item = &mut Place> {
    plan.steps.iter_mut().flat_map(|step| {
        let calls = step.calls.iter_mut().map(|of| &mut of.place);
        std::iter::once(&mut step.place).chain(calls).chain(step.help_at.as_mut()).chain(step.codemod.as_mut())
    })
}
