//! `blocklint check`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::{Duration, Instant};

use blocklint_core::{Confidence, Severity};
use blocklint_models::Models;
use blocklint_output::{
    SarifRun, Shown, Summary, concise, fixable, fixed_summary, full, github, in_baseline, json, sarif, statistics,
    statistics_json, summary, were_there,
};
use blocklint_project::{Configuration, PathOptions, Project, Request, absolute, discover_with};
use blocklint_rules::UNREADABLE_SOURCE;
use camino::{Utf8Path, Utf8PathBuf};

use super::{baseline, cache, change, current_folder, fix, ignore, unless_closed};
use crate::arguments::{Check, OutputFormat};
use crate::messages::{Failure, error, warning};
use crate::{CLEAN, FAILED, FOUND};
use blocklint_engine::{
    Cache, Chosen, Compared, FixRequest, Held, Levels, Options, Ran, RuleArguments, Rules, RunRequest, SignalSet,
    load_models_and_tell, locate_in, signal_named,
};

/// What a run is made of, as configuration and command line say.
pub(super) struct Prepared {
    pub(super) current: Utf8PathBuf,
    pub(super) project: Project,
    pub(super) rules: Rules,
    pub(super) levels: Levels,
    pub(super) models: Models,
    discovered: Duration,
}

/// Finds what a run looks at; what cannot be looked at is told.
pub(super) fn prepare(check: &Check) -> Result<Prepared, Failure> {
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
    Ok(Prepared { current, project, rules, levels, models, discovered })
}

/// What the analysis is asked for.
pub(super) fn request<'a>(
    check: &Check,
    prepared: &'a Prepared,
    cache: Option<&'a Cache>,
) -> Result<RunRequest<'a>, Failure> {
    let Prepared { project, rules, levels, models, .. } = prepared;
    Ok(RunRequest {
        project,
        models,
        rules,
        levels: *levels,
        options: Options {
            without: without(check)?,
            account: check.output_format == OutputFormat::Json || check.output_format == OutputFormat::Sarif,
            include_aside: check.include_aside,
            ..Options::new(levels.confidence)
        },
        // Counting rules asks for no fixes, which cost another look at each file with findings.
        fixes: !check.statistics && check.output_format != OutputFormat::Github,
        cache,
    })
}

pub(crate) fn check(check: &Check) -> Result<u8, Failure> {
    let prepared = prepare(check)?;
    let Prepared { current, project, rules, levels, models, discovered } = &prepared;
    let (current, levels) = (current.as_path(), *levels);
    let baseline = baseline::read(check, project, current)?;

    let fixing = FixRequest { project, models, rules, levels, allowed: fix::allowed(check) };
    if check.diff {
        return fix::diff(check, fixing, current);
    }
    let fixed = check.fix.then(|| fix::fix(fixing, current)).transpose()?;

    let cache = cache::of(check, project, current);
    let request = request(check, &prepared, cache.as_ref())?;
    let (ran, before) = change::run(check, request)?;
    cache::tell(check, &ran);
    let Ran { mut chosen, mut timings, texts, .. } = ran;
    timings.discover = *discovered;

    let started = Instant::now();
    let held = baseline.as_ref().map(|baseline| baseline::hold(check, baseline, &mut chosen, &prepared));
    let compared = before.map(|before| before.compare(&mut chosen, project));
    let has_grown = match &baseline {
        Some(baseline) => baseline::has_grown(check, baseline, &prepared)?,
        None => false,
    };
    if check.add_ignore.is_some() {
        return ignore::add(check, request, &mut chosen, current);
    }
    if check.output_format == OutputFormat::Sarif {
        chosen.suppressed.extend(held.iter().flat_map(|held| held.findings.iter().cloned()));
    } else {
        chosen.suppressed.clear();
    }
    let sources = locate_in(project, &mut chosen, texts);
    let shown = Shown { findings: &chosen.findings, groups: &chosen.groups, sources: &sources, folder: current };
    let fixed_findings = fixed.as_ref().map(|fixed| fixed.mended);
    let known = Known { held: held.as_ref(), compared: compared.as_ref() };
    unless_closed(write(check, project, &shown, &chosen, levels, fixed_findings, known))?;
    timings.output += started.elapsed();
    if check.timings {
        // Nobody is left to tell that stderr is closed.
        let _ = write!(io::stderr(), "{timings}");
    }

    let found = chosen.findings.iter().any(|finding| finding.rule != UNREADABLE_SOURCE.code)
        || check.exit_non_zero_on_fix && fixed_findings.is_some_and(|fixed| fixed > 0)
        || held.as_ref().is_some_and(|held| baseline::is_broken(check, held))
        || has_grown;
    let unwritten = fixed.is_some_and(|fixed| fixed.unwritten);
    Ok(match (project.missing.is_empty() && !unwritten, found && !check.exit_zero) {
        (false, _) => FAILED,
        (true, true) => FOUND,
        (true, false) => CLEAN,
    })
}

/// What was there before, of which the last lines tell.
#[derive(Clone, Copy)]
struct Known<'k> {
    held: Option<&'k Held>,
    compared: Option<&'k Compared>,
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
    known: Known<'_>,
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
            let compares = known.held.is_some() || known.compared.is_some();
            sarif(&mut out, shown, &SarifRun { root, suppressed: &chosen.suppressed, complete, compares })?;
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
        if let Some(held) = known.held {
            let stale = held.stale.iter().map(|(_, count)| *count as usize).sum();
            in_baseline(&mut out, held.findings.len(), stale)?;
        }
        if let Some(compared) = known.compared {
            were_there(&mut out, compared.were_there, &compared.with)?;
        }
    } else if let Some(held) = known.held {
        baseline::tell_stale(check, held);
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
