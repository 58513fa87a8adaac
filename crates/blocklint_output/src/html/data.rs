//! The data of an HTML report as JSON, which the scripts of the page read.

use std::collections::BTreeMap;

use blocklint_core::{Applicability, Cause, Confirmed, Context, Effect, Finding, Fix, Hold};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::HtmlReport;
use super::excerpts::{Excerpts, File, PlaceData};
use super::steps::PlanData;
use crate::wording::step_label;
use crate::{GroupOverview, PathNodeKind, RenderInput};

/// The number of unchanged lines that are shown around each change of a fix.
const CONTEXT_LINES: usize = 2;

#[derive(Serialize)]
pub(super) struct Report<'a> {
    blocklint: &'static str,
    project: &'a str,
    summary: Summary,
    rules: BTreeMap<String, Rule>,
    files: Vec<File<'a>>,
    groups: Vec<Group<'a>>,
    findings: Vec<FindingData<'a>>,
    plan: Option<PlanData<'a>>,
}

#[derive(Serialize)]
struct Summary {
    findings: usize,
    causes: usize,
    functions: u32,
    below: usize,
    aside: usize,
    severity: &'static str,
    confidence: &'static str,
    /// The index of the group whose cause should be mended first.
    first: Option<usize>,
}

#[derive(Serialize)]
struct Rule {
    name: &'static str,
    summary: &'static str,
    /// The address of its page.
    url: Option<String>,
}

#[derive(Serialize)]
struct Group<'a> {
    id: &'a str,
    cause: Option<CauseData<'a>>,
    mends: u32,
    #[serde(serialize_with = "crate::json::hold")]
    hold: Hold,
    severity: &'static str,
    confidence: &'static str,
    findings: &'a [u32],
    also: &'a [u32],
    graph: Graph<'a>,
}

#[derive(Serialize)]
struct CauseData<'a> {
    at: PlaceData,
    function: &'a str,
    call: &'a str,
}

/// The paths of a group. A node is (name, kind, distance, number of findings), an edge is (from, to, number of
/// findings).
#[derive(Serialize)]
struct Graph<'a> {
    nodes: Vec<(&'a str, &'static str, u32, u32)>,
    edges: Vec<(u32, u32, u32)>,
    paths: &'a [Vec<u32>],
}

#[derive(Serialize)]
struct FindingData<'a> {
    id: &'a str,
    rule: String,
    severity: &'static str,
    confidence: &'static str,
    message: &'a str,
    notes: &'a [String],
    help: Option<&'a str>,
    at: PlaceData,
    function: &'a str,
    effect: Option<&'static str>,
    context: Option<&'static str>,
    runtime: Option<&'static str>,
    #[serde(serialize_with = "crate::json::hold")]
    hold: Hold,
    trace: Vec<Step<'a>>,
    /// The number of its causes.
    causes: usize,
    fix: Option<FixData<'a>>,
    /// Evidence from a run of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed: Option<String>,
}

#[derive(Serialize)]
struct Step<'a> {
    at: PlaceData,
    function: &'a str,
    call: &'a str,
    /// The event at the step, in words.
    says: String,
}

#[derive(Serialize)]
struct FixData<'a> {
    title: &'a str,
    applicability: &'static str,
    changes: Vec<Change>,
}

/// The changes of a fix in one file: lines with the sign `+`, `-` or a space. A line with the sign `@` separates
/// changes.
#[derive(Serialize)]
struct Change {
    file: usize,
    lines: Vec<(char, String)>,
}

impl<'a> Report<'a> {
    pub(super) fn new(input: &'a RenderInput<'a>, report: &'a HtmlReport<'a>) -> Self {
        let mut excerpts = Excerpts::new(input, report.root);
        let findings: Vec<FindingData<'a>> =
            input.findings.iter().map(|finding| finding_data(finding, input, &mut excerpts)).collect();
        let overviews = report.overview.groups.iter();
        let groups = input.groups.iter().zip(overviews).map(|(group, overview)| Group {
            id: &overview.id,
            cause: group.cause.as_ref().map(|cause| cause_data(cause, &mut excerpts)),
            mends: overview.mends,
            hold: overview.hold,
            severity: overview.severity.as_str(),
            confidence: overview.confidence.as_str(),
            findings: &group.findings,
            also: &overview.also,
            graph: graph_data(overview),
        });
        let groups = groups.collect();
        let plan = report.plan.map(|plan| PlanData::new(plan, input, report.root, &mut excerpts));
        let rules = input.findings.iter().filter_map(|finding| blocklint_rules::rule(finding.rule));
        let rules = rules.map(|rule| {
            (rule.code.to_string(), Rule { name: rule.name, summary: rule.summary, url: input.url(rule.code) })
        });
        let summary = report.summary;
        Report {
            blocklint: env!("CARGO_PKG_VERSION"),
            project: report.root.file_name().unwrap_or(report.root.as_str()),
            summary: Summary {
                findings: summary.findings,
                causes: summary.causes,
                functions: report.overview.functions,
                below: summary.below,
                aside: summary.aside,
                severity: summary.min_severity.as_str(),
                confidence: summary.min_confidence.as_str(),
                first: report.overview.first,
            },
            rules: rules.collect(),
            files: excerpts.into_files(),
            groups,
            findings,
            plan,
        }
    }
}

fn finding_data<'a>(finding: &'a Finding, input: &RenderInput<'_>, excerpts: &mut Excerpts<'a>) -> FindingData<'a> {
    let trace = finding.trace.iter().enumerate().map(|(index, step)| Step {
        at: excerpts.add_place(&step.place),
        function: &step.function,
        call: &step.call,
        says: step_label(finding, index),
    });
    let mut trace: Vec<Step<'_>> = trace.collect();
    trace.extend(finding.held_by.as_ref().map(|holder| Step {
        at: excerpts.add_place(&holder.place),
        function: &holder.function,
        call: &holder.call,
        says: holder.lock_holder_words(),
    }));
    FindingData {
        id: &finding.fingerprint,
        rule: finding.rule.to_string(),
        severity: finding.severity.as_str(),
        confidence: finding.confidence.as_str(),
        message: &finding.message,
        notes: &finding.notes,
        help: finding.help.as_deref(),
        at: excerpts.add_place(&finding.place),
        function: &finding.function,
        effect: finding.effect.map(Effect::as_str),
        context: finding.context.map(Context::as_str),
        runtime: finding.runtime.map(|runtime| runtime.as_str()),
        hold: finding.hold,
        trace,
        causes: finding.causes.len(),
        fix: finding.fix.as_ref().map(|fix| fix_data(fix, input, excerpts)),
        confirmed: finding.confirmed.as_ref().map(Confirmed::to_words),
    }
}

fn cause_data<'a>(cause: &'a Cause, excerpts: &mut Excerpts<'a>) -> CauseData<'a> {
    CauseData { at: excerpts.add_place(&cause.place), function: &cause.function, call: &cause.call }
}

fn graph_data(overview: &GroupOverview) -> Graph<'_> {
    let nodes = overview.graph.nodes.iter().map(|node| {
        let kind = match node.kind {
            PathNodeKind::Entry => "entry",
            PathNodeKind::Step => "step",
            PathNodeKind::Call => "call",
        };
        (node.name.as_str(), kind, node.distance, node.findings)
    });
    let edges = overview.graph.edges.iter().map(|edge| (edge.from, edge.to, edge.findings));
    Graph { nodes: nodes.collect(), edges: edges.collect(), paths: &overview.graph.paths }
}

fn fix_data<'a>(fix: &'a Fix, input: &RenderInput<'_>, excerpts: &mut Excerpts<'a>) -> FixData<'a> {
    let mut files: Vec<&camino::Utf8Path> = fix.edits.iter().map(|edit| &*edit.place.path).collect();
    files.dedup();
    let changes = files.into_iter().filter_map(|path| {
        let text = input.sources.get(path)?;
        let mut edits: Vec<_> = fix.edits.iter().filter(|edit| *edit.place.path == *path).collect();
        edits.sort_by_key(|edit| edit.place.span);
        let (mut after, mut copied) = (String::with_capacity(text.len()), 0);
        for edit in edits {
            after.push_str(text.get(copied..edit.place.span.start as usize)?);
            after.push_str(&edit.content);
            copied = edit.place.span.end as usize;
        }
        after.push_str(text.get(copied..)?);
        Some(Change { file: excerpts.add_file(path), lines: changed_lines(text, &after) })
    });
    FixData {
        title: &fix.title,
        applicability: match fix.applicability {
            Applicability::Safe => "safe",
            Applicability::Unsafe => "unsafe",
            Applicability::Display => "display",
        },
        changes: changes.collect(),
    }
}

fn changed_lines(before: &str, after: &str) -> Vec<(char, String)> {
    let diff = TextDiff::from_lines(before, after);
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if index > 0 {
            lines.push(('@', String::new()));
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            lines.push((sign, change.value().trim_end_matches(['\n', '\r']).to_owned()));
        }
    }
    lines
}
