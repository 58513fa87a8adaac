//! The output of `blocklint check` about its findings.

use std::io::{self, Write as _};

use blocklint_engine::{BaselineResult, Chosen, Comparison, Levels};
use blocklint_output::{
    HtmlReport, Look, Overview, Plan, RenderInput, SarifRun, Summary, write_already_there, write_baseline_counts,
    write_changed_files, write_concise, write_first_change, write_fixable, write_fixed_summary, write_full,
    write_github, write_gitlab, write_html, write_json, write_jsonl, write_junit, write_left_aside, write_minor_notes,
    write_rdjson, write_sarif, write_statistics, write_statistics_by_cause, write_statistics_by_cause_json,
    write_statistics_json, write_summary,
};
use blocklint_project::Project;
use camino::Utf8Path;

use super::baseline;
use super::fix::Outcome;
use crate::arguments::{Check, OutputFormat};
use crate::console;
use crate::messages::warning;
use crate::output_file::Output;
use crate::run_arguments::Counted;

/// The number of findings that a terminal shows in full; of the others it shows a line each.
const MOST_BLOCKS: usize = 20;

/// The findings and counts that are written.
pub(super) struct Written<'a> {
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
    /// How many findings are shown that are usually left aside, because there are no others.
    pub(super) shown_aside: usize,
    /// How many files were read.
    pub(super) read: usize,
    /// The fixed findings, where fixes were asked for.
    pub(super) fixed: Option<&'a Outcome>,
    pub(super) known: Known<'a>,
}

/// Findings that were there before, which the last lines count.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub(super) held: Option<&'k BaselineResult>,
    pub(super) compared: Option<&'k Comparison>,
}

/// Writes findings or counts, and for people the last lines.
pub(super) fn write(written: &Written<'_>) -> io::Result<()> {
    let Written {
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
        known,
    } = written;
    let mut out = Output::new(check.output_file.as_deref())?;
    let to_stdout = check.output_file.is_none();
    let look = Look {
        styled: to_stdout && console::stdout_is_styled(),
        links: to_stdout && console::stdout_has_links(),
        // A person reads the first ones; programs and logs get all.
        most_blocks: (to_stdout && console::stdout_is_terminal()).then_some(MOST_BLOCKS),
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
            (Some(Counted::Rule), OutputFormat::Json) => write_statistics_json(&mut out, shown)?,
            (Some(Counted::Rule), _) => write_statistics(&mut out, shown)?,
            (Some(Counted::Cause), OutputFormat::Json) => write_statistics_by_cause_json(&mut out, shown, overview)?,
            (Some(Counted::Cause), _) => write_statistics_by_cause(&mut out, shown, overview)?,
            (None, OutputFormat::Json) => write_json(&mut out, shown)?,
            (None, OutputFormat::Jsonl) => write_jsonl(&mut out, shown)?,
            (None, OutputFormat::Concise) => write_concise(&mut out, shown, look)?,
            (None, OutputFormat::Full) => write_full(&mut out, shown, look)?,
            (None, OutputFormat::Github) => write_github(&mut out, shown)?,
            (None, OutputFormat::Gitlab) => write_gitlab(&mut out, shown, repository(&project.root))?,
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
                let (root, complete) = (repository(&project.root), project.missing.is_empty());
                let compares = known.held.is_some() || known.compared.is_some();
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
        write_minor_notes(&mut out, &chosen.minor, shown, look)?;
        write_fixable(&mut out, &chosen.findings, check.unsafe_fixes)?;
        if let Some(held) = known.held {
            let stale = held.stale.iter().map(|(_, count)| *count as usize).sum();
            write_baseline_counts(&mut out, held.findings.len(), stale)?;
        }
        if let Some(compared) = known.compared {
            write_already_there(&mut out, compared.were_there, &compared.with)?;
        }
        if asks_for_overview(check) {
            write_first_change(&mut out, shown, overview)?;
        }
    } else if let Some(held) = known.held {
        baseline::tell_stale(check, held);
    }
    out.finish()?;
    // Nothing else says how a run ended whose findings went into a file.
    if let Some(file) = check.output_file.as_ref().filter(|_| console::verbosity() >= 0) {
        let mut told = Vec::new();
        write_summary(&mut told, &counts)?;
        let _ = writeln!(io::stderr(), "{}Written to {file}.", String::from_utf8_lossy(&told));
    }
    Ok(())
}

/// True if lines for people end the output: what programs read ends with the data.
pub(super) fn is_for_people(check: &Check) -> bool {
    match check.statistics {
        Some(_) => check.output_format != OutputFormat::Json,
        None => matches!(check.output_format, OutputFormat::Full | OutputFormat::Concise | OutputFormat::Github),
    }
}

/// Returns true if findings that are left aside are shown where there are no others: to people, and in JSON with the
/// reason. Formats from which services open alerts list only findings that count.
pub(super) fn shows_left_aside(check: &Check) -> bool {
    let formats = [OutputFormat::Full, OutputFormat::Concise, OutputFormat::Json, OutputFormat::Jsonl];
    check.statistics.is_none() && formats.contains(&check.output_format)
}

/// True if causes are ranked: it costs time.
pub(super) fn asks_for_overview(check: &Check) -> bool {
    check.statistics == Some(Counted::Cause)
        || check.statistics.is_none() && matches!(check.output_format, OutputFormat::Full | OutputFormat::Html)
}

/// Returns the folder from which services count paths: that of the repository, which may hold several projects.
fn repository(root: &Utf8Path) -> &Utf8Path {
    root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root)
}
