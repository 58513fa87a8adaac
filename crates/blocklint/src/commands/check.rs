//! `blocklint check`.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use blocklint_core::{Finding, Language, Severity};
use blocklint_models::Models;
use blocklint_output::{Overview, RenderInput};
use blocklint_project::{Configuration, PathOptions, Project, Request, absolute, discover_with};
use blocklint_rules::UNREADABLE_SOURCE;
use camino::{Utf8Path, Utf8PathBuf};

use super::config::{show_files, show_settings};
use super::render::{self, Known, Written};
use super::{baseline, cache, change, current_folder, evidence, fix, ignore, left_out, unless_closed, watch};
use crate::arguments::{Check, OutputFormat};
use crate::messages::{Failure, error, verbose, warning};
use crate::progress::Bar;
use crate::{CLEAN, FAILED, FOUND, console};
use blocklint_engine::{
    Cache, CommentChecks, FixRequest, Levels, Options, Progress, RuleArguments, Rules, RunRequest, RunResult,
    SignalSet, limit_findings, load_models_with_messages, locate_in, locate_plan, overview, plan, set_threads,
    signal_named,
};

/// The number of changes that a report plans: work for some weeks.
const STEPS: usize = 10;

/// The parts of a project that are found before any of its source files is read.
struct Discovered {
    current: Utf8PathBuf,
    project: Project,
    rules: Rules,
    started: Instant,
}

/// The parts of a run, as configuration and command line say.
pub(super) struct Prepared {
    pub(super) current: Utf8PathBuf,
    pub(super) project: Project,
    pub(super) rules: Rules,
    pub(super) levels: Levels,
    pub(super) models: Models,
    discovered: Duration,
}

fn discover(check: &Check) -> Result<Discovered, Failure> {
    let current = current_folder()?;
    let given = given(check)?;
    let stdin_path = given.is_some().then(|| check.run.stdin_filename.clone()).flatten();
    let paths = match &stdin_path {
        Some(path) => std::slice::from_ref(path),
        None => &check.paths[..],
    };
    discover_paths(check, current, paths, stdin_path.as_deref().zip(given.as_deref()))
}

/// Finds what a run looks at that reports on these paths; `given` is a file and the text that is read in its place.
fn discover_paths(
    check: &Check,
    current: Utf8PathBuf,
    paths: &[Utf8PathBuf],
    given: Option<(&Utf8Path, &[u8])>,
) -> Result<Discovered, Failure> {
    let started = Instant::now();
    let threads = check.run.threads.map_or(0, usize::from);
    set_threads(threads);
    let request = Request { current: &current, paths, isolated: check.isolated };
    let environments: Vec<Utf8PathBuf> = check.environment.iter().map(|path| absolute(&current, path)).collect();
    let options = PathOptions { environments: &environments, given, ..path_options(check) };
    let project = discover_with(request, options)
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    let rules = Rules::new(
        &project.configuration,
        RuleArguments { select: &check.select, extend_select: &check.extend_select, ignore: &check.ignore },
        &current,
    )?;
    Ok(Discovered { current, project, rules, started })
}

/// Returns what the command line says about paths besides naming them.
pub(super) fn path_options(check: &Check) -> PathOptions<'_> {
    PathOptions {
        environments: &[],
        config: &check.config,
        exclude: check.exclude.as_deref(),
        extend_exclude: &check.extend_exclude,
        force_exclude: check.force_exclude,
        trace_in_paths: check.trace_in_paths,
        given: None,
        threads: check.run.threads.map_or(0, usize::from),
    }
}

/// Finds what a run looks at that reports on these paths; only mistakes in models are told.
pub(super) fn prepare_paths(check: &Check, paths: &[Utf8PathBuf]) -> Result<Prepared, Failure> {
    let Discovered { current, project, rules, started } = discover_paths(check, current_folder()?, paths, None)?;
    let levels = levels(check, &project.configuration);
    let (models, mistakes) = load_models_with_messages(&project, &current)?;
    let discovered = started.elapsed();
    tell_what_is_read(&project, &current);
    mistakes.iter().for_each(warning);
    Ok(Prepared { current, project, rules, levels, models, discovered })
}

/// Finds what a run looks at; what cannot be looked at is told.
pub(super) fn prepare(check: &Check) -> Result<Prepared, Failure> {
    prepared(check, discover(check)?)
}

fn prepared(check: &Check, discovered: Discovered) -> Result<Prepared, Failure> {
    let Discovered { current, project, rules, started } = discovered;
    let levels = levels(check, &project.configuration);
    let (models, mistakes) = load_models_with_messages(&project, &current)?;
    let discovered = started.elapsed();
    tell_problems(&project, check, &current)?;
    tell_what_is_read(&project, &current);
    mistakes.iter().for_each(warning);
    Ok(Prepared { current, project, rules, levels, models, discovered })
}

/// Returns the options of the analysis. Every command makes one run and ends.
pub(super) fn options(check: &Check, prepared: &Prepared) -> Result<Options, Failure> {
    Ok(Options {
        without: without(check)?,
        account: matches!(check.output_format, OutputFormat::Json | OutputFormat::Jsonl | OutputFormat::Sarif),
        include_aside: check.looks_aside(&prepared.project.configuration),
        comments: CommentChecks::new(&prepared.project, &prepared.rules.selection),
        all_paths: plans(check),
        ends_process: true,
        counts_what_must_not_block: console::verbosity() > 0,
        containment: console::containment(),
        ..Options::new(prepared.levels.confidence)
    })
}

/// Returns the options of the analysis.
pub(super) fn request<'a>(
    check: &Check,
    prepared: &'a Prepared,
    cache: Option<&'a Cache>,
    progress: &'a dyn Progress,
) -> Result<RunRequest<'a>, Failure> {
    let Prepared { project, rules, levels, models, .. } = prepared;
    Ok(RunRequest {
        project,
        models,
        rules,
        levels: *levels,
        options: options(check, prepared)?,
        // Counting rules asks for no fixes, which cost another look at each file with findings.
        fixes: check.statistics.is_none() && check.output_format != OutputFormat::Github,
        cache,
        progress,
    })
}

pub(crate) fn check(check: &Check) -> Result<u8, Failure> {
    if check.run.watch && !watch::is_run() { watch::watch(check) } else { once(check) }
}

/// One run.
fn once(check: &Check) -> Result<u8, Failure> {
    let discovered = discover(check)?;
    if check.show_settings {
        return show_settings(check, &discovered.project, &discovered.current);
    }
    if check.show_files {
        return show_files(&discovered.project, &discovered.current);
    }
    let prepared = prepared(check, discovered)?;
    let Prepared { current, project, rules, levels, models, discovered } = &prepared;
    let (current, levels) = (current.as_path(), *levels);
    let baseline = baseline::read(check, project, current)?;
    let seen = evidence::read(check)?;

    let include_aside = check.looks_aside(&project.configuration);
    let (allowed, containment) = (fix::allowed(check), console::containment());
    let fixing = FixRequest { project, models, rules, levels, include_aside, allowed, containment };
    if check.diff {
        return fix::diff(check, fixing, current);
    }
    let fixed = check.fix.then(|| fix::fix(fixing, current)).transpose()?;

    let cache = cache::of(check, project, current);
    let bar = Bar::new();
    let asked = request(check, &prepared, cache.as_ref(), &bar)?;
    let request = RunRequest { levels: evidence::levels(check, levels), ..asked };
    let (ran, before) = change::run(check, request)?;
    drop(bar);
    nothing_read(project, &ran)?;
    cache::tell(check, &ran);
    left_out::tell(project, &ran.left_out, current);
    let RunResult { mut chosen, mut timings, texts, all_paths, read, left_out, .. } = ran;
    timings.discover = *discovered;
    let texts = evidence::weigh(&seen, &mut chosen, project, levels, texts);

    let started = Instant::now();
    let mut held = baseline.as_ref().map(|baseline| baseline::hold(check, baseline, &mut chosen, &prepared));
    // Findings of a part that was left out may still be there.
    if let Some(held) = held.as_mut().filter(|_| !left_out.is_empty()) {
        held.stale.clear();
    }
    let compared = before.as_ref().map(|before| before.compare(&mut chosen, project));
    let has_grown = match &baseline {
        Some(baseline) => baseline::has_grown(check, baseline, &prepared)?,
        None => false,
    };
    let mut overviewed = Overview::default();
    let most = check.run.max_findings.filter(|_| check.statistics.is_none());
    if render::asks_for_overview(check) || most.is_some() {
        overviewed = overview(&mut chosen, &project.base);
    }
    let causes = chosen.groups.iter().filter(|group| group.cause.is_some()).count();
    let capped = most.map_or(0, |most| limit_findings(&mut chosen, most as usize));
    if capped > 0 {
        overviewed = overview(&mut chosen, &project.base);
    }
    // A run that compares with an earlier state is no first look at a project.
    let is_first_look = held.is_none() && compared.is_none() && fixed.is_none() && check.add_ignore.is_none();
    let shown_aside = match is_first_look && render::shows_left_aside(check) {
        true => chosen.show_left_aside(),
        false => 0,
    };
    if let (true, Some(count)) = (console::verbosity() > 0, chosen.must_not_block) {
        let functions = if count == 1 { "function" } else { "functions" };
        verbose(format!("{count} {functions} that must not block"));
    }
    if check.add_ignore.is_some() {
        let known = ignore::Old { baseline: baseline.as_ref(), before: before.as_ref() };
        return ignore::add(check, &prepared, known, &chosen);
    }
    if check.output_format == OutputFormat::Sarif {
        chosen.suppressed.extend(held.iter().flat_map(|held| held.findings.iter().cloned()));
    } else {
        chosen.suppressed.clear();
    }
    if !is_first_look || shown_aside > 0 || check.output_format != OutputFormat::Full {
        chosen.minor.clear();
    }
    let mut planned = all_paths.map(|all_paths| plan(&chosen, &all_paths, &overviewed, STEPS));
    let mut sources = locate_in(project, &mut chosen, texts);
    if let Some(planned) = &mut planned {
        locate_plan(project, planned, &mut sources);
    }
    let fixed_findings = fixed.as_ref().map_or(0, |fixed| fixed.fixed_findings.len());
    let written = Written {
        check,
        project,
        shown: RenderInput {
            findings: &chosen.findings,
            groups: &chosen.groups,
            sources: &sources,
            folder: current,
            pages: blocklint_rules::repository(),
        },
        chosen: &chosen,
        overview: &overviewed,
        plan: planned.as_ref(),
        levels,
        causes,
        capped,
        shown_aside,
        read,
        fixed: fixed.as_ref(),
        known: Known { held: held.as_ref(), compared: compared.as_ref() },
    };
    unless_closed(render::write(&written))?;
    timings.output += started.elapsed();
    if check.timings || console::verbosity() > 1 {
        // If stderr is closed, the error cannot be reported.
        let _ = write!(io::stderr(), "{timings}");
    }

    // Findings below it are shown and do not count.
    let least = check.fail_on.unwrap_or(Severity::Note);
    let counts = |finding: &Finding| finding.rule != UNREADABLE_SOURCE.code && finding.severity >= least;
    let found = shown_aside == 0 && chosen.findings.iter().any(counts)
        || check.exit_non_zero_on_fix && fixed_findings > 0
        || held.as_ref().is_some_and(|held| baseline::is_broken(check, held))
        || has_grown;
    let unwritten = fixed.is_some_and(|fixed| fixed.unwritten);
    let is_whole = left_out.is_empty() && chosen.findings.iter().all(|finding| finding.rule != UNREADABLE_SOURCE.code);
    let done = project.missing.is_empty() && !unwritten && (is_whole || !check.strict);
    Ok(match (done, found && !check.exit_zero) {
        (false, _) => FAILED,
        (true, true) => FOUND,
        (true, false) => CLEAN,
    })
}

/// True if the output shows a plan.
fn plans(check: &Check) -> bool {
    check.output_format == OutputFormat::Html && check.statistics.is_none() && check.add_ignore.is_none()
}

/// Returns the least that is shown: what the command line says, else the configuration.
fn levels(check: &Check, configuration: &Configuration) -> Levels {
    let ((severity, confidence), of_file) = (check.levels(), configuration.levels());
    Levels { severity: severity.unwrap_or(of_file.0), confidence: confidence.unwrap_or(of_file.1) }
}

/// Returns the text of `--stdin-filename`, where `-` is the path or none is given.
fn given(check: &Check) -> Result<Option<Vec<u8>>, Failure> {
    // Without a path, as for ruff, the text is all that is meant.
    let named = check.run.stdin_filename.is_some() && check.paths.is_empty();
    let reads_stdin = named || check.paths.iter().any(|path| path == "-");
    match (&check.run.stdin_filename, reads_stdin) {
        (None, false) => return Ok(None),
        (None, true) => return Err(Failure::new("`-` needs --stdin-filename, which says whose text it is")),
        (Some(_), false) => {
            return Err(Failure::new("--stdin-filename says whose text `-` is, but another path is given"));
        }
        (Some(_), true) if check.paths.len() > 1 => {
            return Err(Failure::new(
                "`-` goes with no other path: the project around --stdin-filename is analysed anyway",
            ));
        }
        (Some(_), true) if check.fix || check.diff || check.run.watch => {
            return Err(Failure::new("--fix, --diff and --watch work on files, not on stdin"));
        }
        (Some(_), true) if check.since.is_some() || check.changed || check.staged || check.add_ignore.is_some() => {
            return Err(Failure::new("--since, --changed, --staged and --add-ignore work on files, not on stdin"));
        }
        (Some(_), true) => {}
    }
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text).map_err(|error| Failure::new(format!("stdin: {error}")))?;
    Ok(Some(text))
}

/// One line each for what could not be looked at.
///
/// # Errors
///
/// An error if no file is left, because "no findings" would mean that something was read.
fn tell_problems(project: &Project, check: &Check, current: &Utf8Path) -> Result<(), Failure> {
    for path in &project.missing {
        error(format!("{}: no such file or folder", path.strip_prefix(current).unwrap_or(path)));
    }
    for problem in &project.problems {
        warning(problem.relative_to(current));
    }
    if project.files.iter().any(|file| file.reported) {
        return Ok(());
    }
    if !project.missing.is_empty() {
        // It is told already. Programs that read the output get it whole, with the exit code that says so.
        return if render::is_for_people(check) { Err(Failure::told()) } else { Ok(()) };
    }
    // Hooks name files of every kind, and what is excluded: that none is left is no mistake of theirs.
    let names_files = !check.paths.is_empty() && check.paths.iter().all(|path| !absolute(current, path).is_dir());
    let leaves_out = check.force_exclude || check.exclude.is_some() || !check.extend_exclude.is_empty();
    if leaves_out || names_files && !project.files.is_empty() {
        warning("no Python, Rust or Java file found under the given paths");
        return Ok(());
    }
    Err(Failure::new("nothing was read: no Python, Rust or Java file found under the given paths"))
}

/// # Errors
///
/// Where not one file could be read.
pub(super) fn nothing_read(project: &Project, ran: &RunResult) -> Result<(), Failure> {
    match (ran.read, project.files.is_empty()) {
        (0, false) => Err(Failure::new("nothing was read: no file could be opened")),
        _ => Ok(()),
    }
}

/// Returns the lines of `-v` about a run.
fn tell_what_is_read(project: &Project, current: &Utf8Path) {
    if console::verbosity() < 1 {
        return;
    }
    let shown = |path: &Utf8Path| match path.strip_prefix(current) {
        Ok(inside) if inside.as_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.to_string(),
        Err(_) => path.to_string(),
    };
    verbose(format!("project root {}", project.root));
    match &project.configuration.file {
        Some(file) => verbose(format!("configuration {}", shown(file))),
        None => verbose("no configuration"),
    }
    let of = |language| project.files.iter().filter(|file| file.language == language).count();
    let languages = Language::ALL.iter().map(|language| (language, of(*language))).filter(|(_, count)| *count > 0);
    let counts: Vec<String> = languages.map(|(language, count)| format!("{count} {language}")).collect();
    let reported = project.files.iter().filter(|file| file.reported).count();
    verbose(format!("{} files ({}), of which {reported} are reported", project.files.len(), counts.join(", ")));
    for root in &project.import_roots {
        verbose(format!("import root {}", shown(root)));
    }
}

/// Returns the signals that the command line switches off.
fn without(check: &Check) -> Result<SignalSet, Failure> {
    check.without_signal.iter().try_fold(SignalSet::default(), |set, name| {
        let at = signal_named(name)
            .ok_or_else(|| Failure::new(format!("no signal is called `{name}`: docs/signals.md lists them")))?;
        Ok(set.with(at))
    })
}
