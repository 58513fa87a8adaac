//! `blocklint check`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::Instant;

use blocklint_core::{Confidence, Severity};
use blocklint_output::{
    SarifRun, Shown, Summary, concise, fixable, fixed_summary, full, github, json, sarif, statistics, statistics_json,
    summary,
};
use blocklint_project::{Configuration, PathOptions, Project, Request, absolute, discover_with};
use blocklint_rules::UNREADABLE_SOURCE;
use camino::{Utf8Path, Utf8PathBuf};

use super::{current_folder, fix, unless_closed};
use crate::arguments::{Check, OutputFormat};
use crate::messages::{Failure, error, warning};
use crate::{CLEAN, FAILED, FOUND};
use blocklint_engine::{
    Chosen, FixRequest, Levels, Options, RuleArguments, Rules, SignalSet, analyse, attach, choose,
    load_models_and_tell, locate, on_large_stacks, signal_named,
};

pub(crate) fn check(check: &Check) -> Result<u8, Failure> {
    let current = current_folder()?;
    let started = Instant::now();
    let request = Request { current: &current, paths: &check.paths, isolated: check.isolated };
    let environments: Vec<Utf8PathBuf> = check.environment.iter().map(|path| absolute(&current, path)).collect();
    let options = PathOptions {
        environments: &environments,
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
    let (models, mistakes) = load_models_and_tell(&project, &current)?;
    let discovered = started.elapsed();
    tell_problems(&project, &current);
    mistakes.iter().for_each(warning);

    let fixing = FixRequest {
        project: &project,
        models: &models,
        rules: &rules,
        levels,
        include_aside: check.include_aside,
        allowed: fix::allowed(check),
    };
    if check.diff {
        return fix::diff(check, fixing, &current);
    }
    let fixed = check.fix.then(|| fix::fix(fixing, &current)).transpose()?;

    let mut report = analyse(
        &project,
        &models,
        Options {
            without: without(check)?,
            account: check.output_format == OutputFormat::Json || check.output_format == OutputFormat::Sarif,
            include_aside: check.include_aside,
            ..Options::new(levels.confidence)
        },
    )?;
    let mut timings = report.timings;
    timings.discover = discovered;

    let started = Instant::now();
    rules.hide(&mut report.findings);
    let mut chosen = choose(report.findings, report.groups, &rules.selection, levels);
    if check.output_format != OutputFormat::Sarif {
        chosen.suppressed.clear();
    }
    // Counting rules asks for no fixes, which cost another look at each file with findings.
    if !check.statistics && check.output_format != OutputFormat::Github {
        on_large_stacks(|| attach(&project, &report.remedies, &mut chosen.findings))?;
    }
    let sources = locate(&project, &mut chosen);
    let shown = Shown { findings: &chosen.findings, groups: &chosen.groups, sources: &sources, folder: &current };
    let fixed_findings = fixed.as_ref().map(|fixed| fixed.mended);
    unless_closed(write(check, &project, &shown, &chosen, levels, fixed_findings))?;
    timings.output = started.elapsed();
    if check.timings {
        // Nobody is left to tell that stderr is closed.
        let _ = write!(io::stderr(), "{timings}");
    }

    let found = chosen.findings.iter().any(|finding| finding.rule != UNREADABLE_SOURCE.code)
        || check.exit_non_zero_on_fix && fixed_findings.is_some_and(|fixed| fixed > 0);
    let unwritten = fixed.is_some_and(|fixed| fixed.unwritten);
    Ok(match (project.missing.is_empty() && !unwritten, found && !check.exit_zero) {
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
    fixed: Option<usize>,
) -> io::Result<()> {
    let styled =
        check.output_file.is_none() && anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    let mut out = output(check)?;
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
            aside: chosen.aside,
            min_severity: levels.severity,
            min_confidence: levels.confidence,
        };
        match fixed {
            Some(fixed) => fixed_summary(&mut out, fixed, &counts)?,
            None => summary(&mut out, &counts)?,
        }
        fixable(&mut out, &chosen.findings, check.unsafe_fixes)?;
    }
    out.flush()
}

/// Where findings are written to.
pub(super) fn output(check: &Check) -> io::Result<BufWriter<Box<dyn Write>>> {
    Ok(BufWriter::new(match &check.output_file {
        Some(path) => Box::new(File::create(path).map_err(|error| named(path, &error))?),
        None => Box::new(io::stdout().lock()),
    }))
}

/// The folder from which services count paths: that of the repository, which may hold several projects.
fn repository(root: &Utf8Path) -> &Utf8Path {
    root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root)
}

fn named(path: &Utf8Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}

/// The signals that the command line switches off.
fn without(check: &Check) -> Result<SignalSet, Failure> {
    check.without_signal.iter().try_fold(SignalSet::default(), |set, name| {
        let at = signal_named(name)
            .ok_or_else(|| Failure::new(format!("no signal is called `{name}`: docs/signals.md lists them")))?;
        Ok(set.with(at))
    })
}
