//! `blocklint check`.

use std::io::{self, BufWriter, Write};
use std::time::Instant;

use blocklint_output::{Shown, Summary, concise, full, json, statistics, statistics_json, summary};
use blocklint_project::{Project, Request, discover};
use blocklint_rules::{Selection, UNREADABLE_SOURCE};
use camino::Utf8Path;

use super::{current_folder, unless_closed};
use crate::arguments::{Check, OutputFormat};
use crate::messages::{Failure, error, warning};
use crate::{CLEAN, FAILED, FOUND};
use blocklint_engine::{Chosen, Levels, Options, analyse, choose, load_models, locate};

pub(crate) fn check(check: &Check) -> Result<u8, Failure> {
    let current = current_folder()?;
    let selection = Selection::new(&check.select, &check.extend_select, &check.ignore)
        .map_err(|errors| Failure::all(errors.iter().map(ToString::to_string)))?;
    let started = Instant::now();
    let project = discover(Request { current: &current, paths: &check.paths, isolated: check.isolated })
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    let models = load_models(&project.configuration, &current)?;
    let discovered = started.elapsed();
    tell_problems(&project, &current);

    let report = analyse(&project, &models, Options { min_confidence: check.min_confidence })?;
    let mut timings = report.timings;
    timings.discover = discovered;

    let started = Instant::now();
    let levels = Levels { severity: check.min_severity, confidence: check.min_confidence };
    let mut chosen = choose(report.findings, report.groups, &selection, levels);
    let sources = locate(&project, &mut chosen);
    let shown = Shown { findings: &chosen.findings, groups: &chosen.groups, sources: &sources, folder: &current };
    unless_closed(write(check, &shown, &chosen))?;
    timings.output = started.elapsed();
    if check.timings {
        // Nobody is left to tell that stderr is closed.
        let _ = write!(io::stderr(), "{timings}");
    }

    let found = chosen.findings.iter().any(|finding| finding.rule != UNREADABLE_SOURCE.code);
    Ok(match (project.missing.is_empty(), found && !check.exit_zero) {
        (false, _) => FAILED,
        (true, true) => FOUND,
        (true, false) => CLEAN,
    })
}

/// One line each for what could not be looked at.
fn tell_problems(project: &Project, current: &Utf8Path) {
    for path in &project.missing {
        error(format!("{}: no such file or folder", path.strip_prefix(current).unwrap_or(path)));
    }
    for problem in &project.problems {
        warning(problem.relative_to(current));
    }
    if project.missing.is_empty() && !project.files.iter().any(|file| file.reported) {
        warning("no Python, Rust or Java file found under the given paths");
    }
}

fn write(check: &Check, shown: &Shown<'_>, chosen: &Chosen) -> io::Result<()> {
    let stdout = io::stdout();
    let styled = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    let mut out = BufWriter::new(stdout.lock());
    match (check.statistics, check.output_format) {
        (true, OutputFormat::Json) => statistics_json(&mut out, shown)?,
        (true, _) => statistics(&mut out, shown)?,
        (false, OutputFormat::Json) => json(&mut out, shown)?,
        (false, OutputFormat::Concise) => concise(&mut out, shown)?,
        (false, OutputFormat::Full) => full(&mut out, shown, styled)?,
    }
    if check.output_format != OutputFormat::Json {
        let counts = Summary {
            findings: chosen.findings.len(),
            causes: chosen.groups.iter().filter(|group| group.cause.is_some()).count(),
            below: chosen.below,
            min_severity: check.min_severity,
            min_confidence: check.min_confidence,
        };
        summary(&mut out, &counts)?;
    }
    out.flush()
}
