//! The output of `blocklint check`: findings in each format, statistics, and the summary lines for people.

use std::io::{self, Write as _};

use blocklint_engine::{BaselineResult, Chosen, Comparison, Levels};
use blocklint_output::{
    HtmlReport, Overview, Plan, RenderInput, SarifRun, Summary, TerminalStyle, write_already_there,
    write_baseline_counts, write_changed_files, write_concise, write_first_change, write_fixable, write_fixed_summary,
    write_full, write_github, write_gitlab, write_html, write_json, write_jsonl, write_junit, write_left_aside,
    write_minor_notes, write_rdjson, write_sarif, write_statistics, write_statistics_by_cause,
    write_statistics_by_cause_json, write_statistics_json, write_summary,
};
use blocklint_project::Project;
use camino::Utf8Path;

use super::baseline;
use super::fix::Outcome;
use crate::arguments::{Check, OutputFormat};
use crate::console;
use crate::messages::warning;
use crate::output_file::Output;
use crate::run_arguments::StatisticsKind;

/// The number of findings that a terminal shows in full; the others get one line each.
const MAX_FULL_FINDINGS: usize = 20;

/// The findings and counts of a run, and the options that decide how they are written.
pub(super) struct CheckOutput<'a> {
    pub(super) check: &'a Check,
    pub(super) project: &'a Project,
    pub(super) shown: RenderInput<'a>,
    pub(super) chosen: &'a Chosen,
    pub(super) overview: &'a Overview,
    pub(super) plan: Option<&'a Plan>,
    pub(super) levels: Levels,
    /// How many causes were found.
    pub(super) causes: usize,
    /// How many findings are not shown because there are too many.
    pub(super) capped: usize,
    /// How many findings are shown only because there are no others: those that only tests, examples and command lines
    /// reach.
    pub(super) shown_aside: usize,
    /// How many files were read.
    pub(super) read: usize,
    /// The result of `--fix`, if it was given.
    pub(super) fixed: Option<&'a Outcome>,
    pub(super) earlier: EarlierFindings<'a>,
}

/// Findings of the baseline or of an earlier state, which the last lines count.
#[derive(Clone, Copy)]
pub(super) struct EarlierFindings<'k> {
    pub(super) held: Option<&'k BaselineResult>,
    pub(super) compared: Option<&'k Comparison>,
}

/// Writes the findings or statistics, and the summary lines if the format is for people.
pub(super) fn write(output: &CheckOutput<'_>) -> io::Result<()> {
    let CheckOutput {
        check,
        project,
        shown,
        chosen,
        overview,
        plan,
        levels,
        causes,
        capped,
        shown_aside,
        read,
        fixed,
        earlier,
    } = output;
    let mut out = Output::new(check.output_file.as_deref())?;
    let to_stdout = check.output_file.is_none();
    let terminal = TerminalStyle {
        styled: to_stdout && console::stdout_is_styled(),
        links: to_stdout && console::stdout_has_links(),
        // A person reads the first findings; programs and logs get all.
        max_full_findings: (to_stdout && console::stdout_is_terminal()).then_some(MAX_FULL_FINDINGS),
    };
    let counts = Summary {
        findings: chosen.findings.len() + capped - shown_aside,
        causes: *causes,
        incomplete: !project.missing.is_empty(),
        capped: *capped,
        below: chosen.below,
        aside: chosen.aside,
        shown_aside: *shown_aside,
        must_not_block: chosen.must_not_block.map(|count| (count, *read)),
        min_severity: levels.severity,
        min_confidence: levels.confidence,
    };
    if console::verbosity() >= -1 {
        match (check.statistics, check.output_format) {
            (Some(StatisticsKind::Rule), OutputFormat::Json) => write_statistics_json(&mut out, shown)?,
            (Some(StatisticsKind::Rule), _) => write_statistics(&mut out, shown)?,
            (Some(StatisticsKind::Cause), OutputFormat::Json) => {
                write_statistics_by_cause_json(&mut out, shown, overview)?
            }
            (Some(StatisticsKind::Cause), _) => write_statistics_by_cause(&mut out, shown, overview)?,
            (None, OutputFormat::Json) => write_json(&mut out, shown)?,
            (None, OutputFormat::Jsonl) => write_jsonl(&mut out, shown)?,
            (None, OutputFormat::Concise) => write_concise(&mut out, shown, terminal)?,
            (None, OutputFormat::Full) => write_full(&mut out, shown, terminal)?,
            (None, OutputFormat::Github) => write_github(&mut out, shown)?,
            (None, OutputFormat::Gitlab) => write_gitlab(&mut out, shown, repository_root(&project.root))?,
            (None, OutputFormat::Junit) => write_junit(&mut out, shown)?,
            (None, OutputFormat::Rdjson) => write_rdjson(&mut out, shown)?,
            (None, OutputFormat::Html) => {
                write_html(
                    &mut out,
                    shown,
                    &HtmlReport { root: &project.root, overview, plan: *plan, summary: &counts },
                )?;
            }
            (None, OutputFormat::Sarif) => {
                let (root, complete) = (repository_root(&project.root), project.missing.is_empty());
                let compares = earlier.held.is_some() || earlier.compared.is_some();
                let run = SarifRun { root, suppressed: &chosen.suppressed, complete, compares };
                let left_out = write_sarif(&mut out, shown, &run)?;
                if left_out > 0 {
                    warning(format!(
                        "{left_out} results were left out: services take no more than 25,000, or 10 MB zipped"
                    ));
                }
            }
        }
    }
    if is_for_people(check) && console::verbosity() >= 0 {
        match fixed {
            Some(fixed) => {
                let (files, fixed_findings) = (fixed.files.iter().map(|file| &**file), fixed.fixed_findings.iter());
                let (files, fixed_findings) = (files.collect::<Vec<_>>(), fixed_findings.collect::<Vec<_>>());
                write_changed_files(&mut out, "Fixed", &files, &fixed_findings, shown.folder, check.show_fixes)?;
                write_fixed_summary(&mut out, fixed_findings.len(), &counts)?;
            }
            None => write_summary(&mut out, &counts)?,
        }
        write_left_aside(&mut out, &chosen.findings, &counts)?;
        write_minor_notes(&mut out, &chosen.minor, shown, terminal)?;
        write_fixable(&mut out, &chosen.findings, check.unsafe_fixes)?;
        if let Some(held) = earlier.held {
            let stale = held.stale.iter().map(|(_, count)| *count as usize).sum();
            write_baseline_counts(&mut out, held.findings.len(), stale)?;
        }
        if let Some(compared) = earlier.compared {
            write_already_there(&mut out, compared.were_there, &compared.compared_with)?;
        }
        if needs_overview(check) {
            write_first_change(&mut out, shown, overview)?;
        }
    } else if let Some(held) = earlier.held {
        baseline::report_stale(check, held);
    }
    out.finish()?;
    // If findings go to a file, stderr shows how the run ended.
    if let Some(file) = check.output_file.as_ref().filter(|_| console::verbosity() >= 0) {
        let mut summary_text = Vec::new();
        write_summary(&mut summary_text, &counts)?;
        let _ = writeln!(io::stderr(), "{}Written to {file}.", String::from_utf8_lossy(&summary_text));
    }
    Ok(())
}

/// True if summary lines follow the findings; output for programs ends with the data.
pub(super) fn is_for_people(check: &Check) -> bool {
    match check.statistics {
        Some(_) => check.output_format != OutputFormat::Json,
        None => matches!(check.output_format, OutputFormat::Full | OutputFormat::Concise | OutputFormat::Github),
    }
}

/// True if findings that only tests, examples and command lines reach are shown when there are no others: in text
/// formats, and in JSON with the reason. Formats from which services open alerts list only findings that count.
pub(super) fn shows_left_aside(check: &Check) -> bool {
    let formats = [OutputFormat::Full, OutputFormat::Concise, OutputFormat::Json, OutputFormat::Jsonl];
    check.statistics.is_none() && formats.contains(&check.output_format)
}

/// True if the output ranks causes, which costs time.
pub(super) fn needs_overview(check: &Check) -> bool {
    check.statistics == Some(StatisticsKind::Cause)
        || check.statistics.is_none() && matches!(check.output_format, OutputFormat::Full | OutputFormat::Html)
}

/// Returns the folder to which services resolve paths: the root of the repository, which may have several projects.
fn repository_root(root: &Utf8Path) -> &Utf8Path {
    root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root)
}
