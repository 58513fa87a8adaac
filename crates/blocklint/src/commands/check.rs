//! `blocklint check`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::Instant;

use blocklint_core::{Confidence, Severity};
use blocklint_output::{
    SarifRun, Shown, Summary, concise, fixable, fixed_summary, full, github, json, sarif, statistics, statistics_json,
};
use blocklint_project::{Configuration, PathOptions, Project, Request, discover_with};
use blocklint_rules::UNREADABLE_SOURCE;
use camino::Utf8Path;

use super::fix::fix;
use super::{current_folder, unless_closed};
use crate::arguments::{Check, OutputFormat};
use crate::messages::{Failure, error, warning};
use crate::{CLEAN, FAILED, FOUND};
use blocklint_engine::{
    Chosen, Levels, Options, RuleArguments, Rules, analyse, attach, choose, load_models, locate, on_large_stacks,
};

pub(crate) fn check(check: &Check) -> Result<u8, Failure> {
    let current = current_folder()?;
    let started = Instant::now();
    let request = Request { current: &current, paths: &check.paths, isolated: check.isolated };
    let options = PathOptions {
        exclude: check.exclude.as_deref(),
        extend_exclude: &check.extend_exclude,
        force_exclude: check.force_exclude,
        trace_in_paths: check.trace_in_paths,
    };
    let project = discover_with(request, options)
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    let rules = Rules::new(
        &project.configuration,
        RuleArguments { select: &check.select, extend_select: &check.extend_select, ignore: &check.ignore },
        &current,
    )?;
    let levels = levels(check, &project.configuration);
    let models = load_models(&project.configuration, &current)?;
    let discovered = started.elapsed();
    tell_problems(&project, &current);

    let fixed = match check.fix || check.diff {
        true => Some(fix(check, &project, &models, &rules, levels, &current)?),
        false => None,
    };
    if check.diff
        && let Some(fixed) = fixed
    {
        return Ok(fixed.exit_code());
    }

    let mut report = analyse(&project, &models, Options { min_confidence: levels.confidence })?;
    let mut timings = report.timings;
    timings.discover = discovered;

    let started = Instant::now();
    rules.hide(&mut report.findings);
    let mut chosen = choose(report.findings, report.groups, &rules.selection, levels);
    if check.output_format != OutputFormat::Sarif {
        chosen.suppressed.clear();
    }
    if !check.statistics && check.output_format != OutputFormat::Github {
        on_large_stacks(|| attach(&project, &models, &report.remedies, &mut chosen.findings))?;
    }
    let sources = locate(&project, &mut chosen);
    let shown = Shown { findings: &chosen.findings, groups: &chosen.groups, sources: &sources, folder: &current };
    unless_closed(write(check, &project, &shown, &chosen, levels, fixed.as_ref().map_or(0, |fixed| fixed.fixed)))?;
    timings.output = started.elapsed();
    if check.timings {
        // Nobody is left to tell that stderr is closed.
        let _ = write!(io::stderr(), "{timings}");
    }

    let found = chosen.findings.iter().any(|finding| finding.rule != UNREADABLE_SOURCE.code)
        || check.exit_non_zero_on_fix && fixed.as_ref().is_some_and(|fixed| fixed.fixed > 0);
    let failed = !project.missing.is_empty() || fixed.is_some_and(|fixed| fixed.failed);
    Ok(match (!failed, found && !check.exit_zero) {
        (false, _) => FAILED,
        (true, true) => FOUND,
        (true, false) => CLEAN,
    })
}

/// The least that is shown: what the command line says, else the configuration.
fn levels(check: &Check, configuration: &Configuration) -> Levels {
    Levels {
        severity: check.min_severity.or(configuration.min_severity).unwrap_or(Severity::Warning),
        confidence: check.min_confidence.or(configuration.min_confidence).unwrap_or(Confidence::Medium),
    }
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

fn write(
    check: &Check,
    project: &Project,
    shown: &Shown<'_>,
    chosen: &Chosen,
    levels: Levels,
    fixed: usize,
) -> io::Result<()> {
    let stdout = io::stdout();
    let (mut out, styled): (Box<dyn Write>, bool) = match &check.output_file {
        Some(path) => (Box::new(File::create(path).map_err(|error| named(path, &error))?), false),
        None => {
            let styled = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
            (Box::new(stdout.lock()), styled)
        }
    };
    let mut out = BufWriter::new(&mut out);
    match (check.statistics, check.output_format) {
        (true, OutputFormat::Json) => statistics_json(&mut out, shown)?,
        (true, _) => statistics(&mut out, shown)?,
        (false, OutputFormat::Json) => json(&mut out, shown)?,
        (false, OutputFormat::Concise) => concise(&mut out, shown)?,
        (false, OutputFormat::Full) => full(&mut out, shown, styled)?,
        (false, OutputFormat::Github) => github(&mut out, shown)?,
        (false, OutputFormat::Sarif) => {
            let (root, complete) = (repository(&project.root), project.missing.is_empty());
            sarif(&mut out, shown, &SarifRun { root, suppressed: &chosen.suppressed, complete })?;
        }
    }
    // What programs read ends with the data.
    let is_text =
        !matches!((check.statistics, check.output_format), (_, OutputFormat::Json) | (false, OutputFormat::Sarif));
    if is_text {
        let counts = Summary {
            findings: chosen.findings.len(),
            causes: chosen.groups.iter().filter(|group| group.cause.is_some()).count(),
            below: chosen.below,
            min_severity: levels.severity,
            min_confidence: levels.confidence,
        };
        fixed_summary(&mut out, fixed, &counts)?;
        fixable(&mut out, &chosen.findings, check.unsafe_fixes)?;
    }
    out.flush()
}

/// The folder from which services count paths: that of the repository, which may hold several projects.
fn repository(root: &Utf8Path) -> &Utf8Path {
    root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root)
}

fn named(path: &Utf8Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}
