//! The engine behind the commands: extraction, link and solve over one project.

use std::sync::Arc;

use blocklint_core::{Confidence, Finding, Group, Hold, Place, Severity, Span, fingerprint};
use blocklint_models::Models;
use blocklint_output::ExplainedSite;
use blocklint_project::{Project, SourceFile};
use blocklint_rules::{UNREADABLE_SOURCE, Unread};
use rayon::ThreadPoolBuilder;

use crate::extraction::{Extracted, extract, extract_all};
use crate::messages::Failure;
use crate::sources::{line_span, text_of};
use crate::timings::Timings;

/// Dropping or walking a deep syntax tree recurses; only touched pages count.
const STACK_SIZE: usize = 256 << 20;

/// What the analysis is told besides the project.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// A finding's severity is that of its labels which are at least this sure.
    pub(crate) min_confidence: Confidence,
}

/// What one run found, at every level.
#[derive(Debug)]
pub(crate) struct Report {
    /// Findings in the reported files, by path, offset, rule; places are not located yet.
    pub(crate) findings: Vec<Finding>,
    /// The same under their causes, in order of reach.
    pub(crate) groups: Vec<Group>,
    /// How long it took.
    pub(crate) timings: Timings,
}

/// Runs work on threads with large stacks, where trees may be deep.
pub(crate) fn on_large_stacks<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    let pool =
        ThreadPoolBuilder::new().stack_size(STACK_SIZE).thread_name(|index| format!("blocklint-{index}")).build();
    let pool = pool.map_err(|error| Failure::new(format!("no threads: {error}")))?;
    Ok(pool.install(work))
}

/// Analyses the project.
pub(crate) fn analyse(project: &Project, models: &Models, options: Options) -> Result<Report, Failure> {
    on_large_stacks(|| {
        let mut timings = Timings::default();
        let (extracted, parse, facts) = extract_all(project);
        (timings.parse, timings.facts) = (parse, facts);
        // Link and solve read these.
        let _ = (models, options.min_confidence);
        let mut findings = unread(project, &extracted);
        findings.sort_by(|a, b| (&*a.place.path, a.place.span, a.rule).cmp(&(&*b.place.path, b.place.span, b.rule)));
        let mut groups = Vec::new();
        let without_cause = (0..).zip(&findings).filter(|(_, finding)| finding.causes.is_empty());
        let without_cause = without_cause.map(|(index, _)| index).collect::<Vec<_>>();
        if !without_cause.is_empty() {
            groups.push(Group { cause: None, findings: without_cause });
        }
        Report { findings, groups, timings }
    })
}

/// What is made of each site that begins on a line of a file (an index into the project's), in the
/// order of the line; empty where nothing is called there.
pub(crate) fn explain(
    project: &Project,
    models: &Models,
    file: usize,
    line: u32,
) -> Result<Vec<ExplainedSite>, Failure> {
    let Some(source) = project.files.get(file) else { return Ok(Vec::new()) };
    on_large_stacks(|| {
        let extracted = extract(source, project.configuration.max_file_size);
        let facts = extracted.facts.ok_or_else(|| {
            let reason = extracted.unread.map_or(String::new(), |(_, unread)| unread.message());
            Failure::new(format!("{}: {reason}", source.relative))
        })?;
        let text = text_of(project, &source.path);
        let line = text.and_then(|text| line_span(&text, line));
        let begins = |span: Span| line.is_some_and(|line| line.start <= span.start && span.start <= line.end);
        if !facts.sites.iter().any(|site| begins(site.name_span) || begins(site.span)) {
            return Ok(Vec::new());
        }
        let _ = models;
        Err(Failure::new("this build explains nothing: it has no analysis"))
    })?
}

/// BLT902 for each reported file of which something is unknown.
fn unread(project: &Project, extracted: &[Extracted]) -> Vec<Finding> {
    let files = project.files.iter().zip(extracted).filter(|(file, _)| file.reported);
    files.filter_map(|(file, extracted)| extracted.unread.as_ref().map(|unread| unread_finding(file, unread))).collect()
}

fn unread_finding(file: &SourceFile, (span, unread): &(Span, Unread)) -> Finding {
    let rule = UNREADABLE_SOURCE.code;
    Finding {
        rule,
        severity: Severity::Note,
        confidence: Confidence::High,
        message: unread.message(),
        notes: Vec::new(),
        help: unread.help(),
        place: Place::unlocated(Arc::clone(&file.path), *span),
        effect: None,
        context: None,
        runtime: None,
        function: String::new(),
        hold: Hold::Unstated,
        trace: Vec::new(),
        causes: Vec::new(),
        fix: None,
        fingerprint: fingerprint(rule, file.relative.as_str(), "", "", 0),
        suppression: None,
    }
}
