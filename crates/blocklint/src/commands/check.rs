//! `blocklint check`: one run from the arguments to the exit code, and the preparation that other commands share.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use blocklint_core::{Finding, Language, Severity};
use blocklint_models::Models;
use blocklint_output::{Overview, RenderInput};
use blocklint_project::{Configuration, PathOptions, Project, Request, absolute, discover_with};
use blocklint_rules::UNREADABLE_SOURCE;
use camino::{Utf8Path, Utf8PathBuf};

use super::config::{show_files, show_settings};
use super::render::{self, CheckOutput, EarlierFindings};
use super::{baseline, cache, change, current_folder, evidence, fix, ignore, ignore_closed_pipe, left_out, watch};
use crate::arguments::{Check, OutputFormat};
use crate::messages::{Failure, error, verbose, warning};
use crate::progress::Bar;
use crate::{CLEAN, FAILED, FOUND, console};
use blocklint_engine::{
    Cache, CommentChecks, FixRequest, Levels, Options, Progress, RuleArguments, Rules, RunRequest, RunResult,
    SignalSet, limit_findings, load_models_with_messages, locate_in, locate_plan, overview, page, plan, set_threads,
    signal_named,
};

/// The number of changes in the plan of an HTML report: work for some weeks.
const PLAN_STEPS: usize = 10;

/// The result of discovery: the project and its rules, before a source file is read.
struct Discovered {
    current: Utf8PathBuf,
    project: Project,
    rules: Rules,
    started: Instant,
}

/// The inputs of an analysis: the project, its rules and models, and the levels of the configuration and command line.
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
    let stdin_text = read_stdin(check)?;
    let stdin_path = stdin_text.is_some().then(|| check.run.stdin_filename.clone()).flatten();
    let paths = match &stdin_path {
        Some(path) => std::slice::from_ref(path),
        None => &check.paths[..],
    };
    discover_paths(check, current, paths, stdin_path.as_deref().zip(stdin_text.as_deref()))
}

/// Finds the project around `paths` and reads its configuration; `given` is a file and the text of stdin in its place.
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

/// Returns the options of the command line that decide which files are read.
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

/// Prepares an analysis that reports on `paths`; warns about mistakes in models, but not about missing paths.
pub(super) fn prepare_paths(check: &Check, paths: &[Utf8PathBuf]) -> Result<Prepared, Failure> {
    let Discovered { current, project, rules, started } = discover_paths(check, current_folder()?, paths, None)?;
    let levels = resolve_levels(check, &project.configuration);
    let (models, mistakes) = load_models_with_messages(&project, &current)?;
    let discovered = started.elapsed();
    print_inputs(&project, &current);
    mistakes.iter().for_each(warning);
    Ok(Prepared { current, project, rules, levels, models, discovered })
}

/// Prepares an analysis of the paths of the command line; reports paths and files that cannot be read.
pub(super) fn prepare(check: &Check) -> Result<Prepared, Failure> {
    finish_preparation(check, discover(check)?)
}

fn finish_preparation(check: &Check, discovered: Discovered) -> Result<Prepared, Failure> {
    let Discovered { current, project, rules, started } = discovered;
    let levels = resolve_levels(check, &project.configuration);
    let (models, mistakes) = load_models_with_messages(&project, &current)?;
    let discovered = started.elapsed();
    report_problems(&project, check, &current)?;
    print_inputs(&project, &current);
    mistakes.iter().for_each(warning);
    Ok(Prepared { current, project, rules, levels, models, discovered })
}

/// Returns the options of the analysis, for a process that ends after one run.
pub(super) fn analysis_options(check: &Check, prepared: &Prepared) -> Result<Options, Failure> {
    Ok(Options {
        without: disabled_signals(check)?,
        // The order of causes counts the code that waits for them, and a page names it.
        records_reasons: matches!(check.output_format, OutputFormat::Json | OutputFormat::Jsonl | OutputFormat::Sarif)
            || render::needs_overview(check)
            || check.run.max_findings.is_some(),
        include_aside: check.includes_aside(&prepared.project.configuration),
        comments: CommentChecks::new(&prepared.project, &prepared.rules.selection),
        all_paths: shows_plan(check),
        ends_process: true,
        counts_what_must_not_block: console::verbosity() > 0,
        containment: console::containment(),
        ..Options::new(prepared.levels.confidence)
    })
}

/// Returns the request for one run of the analysis.
pub(super) fn run_request<'a>(
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
        options: analysis_options(check, prepared)?,
        // Statistics and GitHub's annotations show no fixes, and fixes cost another parse of each file with findings.
        fixes: check.statistics.is_none() && check.output_format != OutputFormat::Github,
        cache,
        progress,
    })
}

pub(crate) fn check(check: &Check) -> Result<u8, Failure> {
    if check.run.watch && !watch::is_run() { watch::watch(check) } else { check_once(check) }
}

/// Runs the analysis once, with the fixes before it and the output after it.
fn check_once(check: &Check) -> Result<u8, Failure> {
    let discovered = discover(check)?;
    if check.show_settings {
        return show_settings(check, &discovered.project, &discovered.current);
    }
    if check.show_files {
        return show_files(&discovered.project, &discovered.current);
    }
    let prepared = finish_preparation(check, discovered)?;
    let Prepared { current, project, rules, levels, models, discovered } = &prepared;
    let (current, levels) = (current.as_path(), *levels);
    let baseline = baseline::read(check, project, current)?;
    let seen = evidence::read(check)?;

    let include_aside = check.includes_aside(&project.configuration);
    let (allowed, containment) = (fix::allowed_applicability(check), console::containment());
    let fixing = FixRequest { project, models, rules, levels, include_aside, allowed, containment };
    if check.diff {
        return fix::print_diff(check, fixing, current);
    }
    let fixed = check.fix.then(|| fix::apply(fixing, current)).transpose()?;

    let cache = cache::open(check, project, current);
    let bar = Bar::new();
    let base = run_request(check, &prepared, cache.as_ref(), &bar)?;
    let request = RunRequest { levels: evidence::levels_with_evidence(check, levels), ..base };
    let (ran, before) = change::run_with_comparison(check, request)?;
    drop(bar);
    ensure_something_read(project, &ran)?;
    cache::warn_if_unkept(check, &ran);
    left_out::report(project, &ran.left_out, current);
    let RunResult { mut chosen, mut timings, texts, all_paths, read, left_out, .. } = ran;
    timings.discover = *discovered;
    let texts = evidence::apply(&seen, &mut chosen, project, levels, texts);

    let started = Instant::now();
    let mut held = baseline.as_ref().map(|baseline| baseline::hide_baselined(check, baseline, &mut chosen, &prepared));
    // An entry is not stale if its finding may be in a part that was left out.
    if let Some(held) = held.as_mut().filter(|_| !left_out.is_empty()) {
        held.stale.clear();
    }
    let compared = before.as_ref().map(|before| before.compare(&mut chosen, project));
    let has_grown = match &baseline {
        Some(baseline) => baseline::report_growth(check, baseline, &prepared)?,
        None => false,
    };
    let mut overview_of_causes = Overview::default();
    let max_findings = check.run.max_findings.filter(|_| check.statistics.is_none());
    if render::needs_overview(check) || max_findings.is_some() {
        overview_of_causes = overview(&mut chosen, &project.base);
    }
    let causes = chosen.groups.iter().filter(|group| group.cause.is_some()).count();
    let capped = max_findings.map_or(0, |count| limit_findings(&mut chosen, count as usize));
    if capped > 0 {
        overview_of_causes = overview(&mut chosen, &project.base);
    }
    // Only a plain run, without baseline, comparison, fixes or new comments, is a first look at a project.
    let is_first_look = held.is_none() && compared.is_none() && fixed.is_none() && check.add_ignore.is_none();
    let shown_aside = if is_first_look && render::shows_left_aside(check) { chosen.show_left_aside() } else { 0 };
    if let (true, Some(count)) = (console::verbosity() > 0, chosen.must_not_block) {
        let functions = if count == 1 { "function" } else { "functions" };
        verbose(format!("{count} {functions} that must not block"));
    }
    if check.add_ignore.is_some() {
        let earlier = ignore::EarlierFindings { baseline: baseline.as_ref(), before: before.as_ref() };
        return ignore::add_comments(check, &prepared, earlier, &chosen);
    }
    if check.output_format == OutputFormat::Sarif {
        chosen.suppressed.extend(held.iter().flat_map(|held| held.findings.iter().cloned()));
    } else {
        chosen.suppressed.clear();
    }
    if !is_first_look || shown_aside > 0 || check.output_format != OutputFormat::Full {
        chosen.minor.clear();
    }
    let mut planned = all_paths.map(|all_paths| plan(&chosen, &all_paths, &overview_of_causes, PLAN_STEPS));
    let mut sources = locate_in(project, &mut chosen, texts);
    if let Some(planned) = &mut planned {
        locate_plan(project, planned, &mut sources);
    }
    let page = page(&chosen);
    let fixed_findings = fixed.as_ref().map_or(0, |fixed| fixed.fixed_findings.len());
    let output = CheckOutput {
        check,
        project,
        shown: RenderInput {
            page: &page,
            findings: &chosen.findings,
            groups: &chosen.groups,
            sources: &sources,
            folder: current,
            pages: blocklint_rules::repository(),
        },
        chosen: &chosen,
        overview: &overview_of_causes,
        plan: planned.as_ref(),
        levels,
        causes,
        capped,
        shown_aside,
        read,
        fixed: fixed.as_ref(),
        earlier: EarlierFindings { held: held.as_ref(), compared: compared.as_ref() },
    };
    ignore_closed_pipe(render::write(&output))?;
    timings.output += started.elapsed();
    if check.timings || console::verbosity() > 1 {
        // If stderr is closed, the error cannot be reported.
        let _ = write!(io::stderr(), "{timings}");
    }

    // Findings below `--fail-on` are shown and do not change the exit code.
    let fail_on = check.fail_on.unwrap_or(Severity::Note);
    let counts = |finding: &Finding| finding.rule != UNREADABLE_SOURCE.code && finding.severity >= fail_on;
    let has_findings = shown_aside == 0 && chosen.findings.iter().any(counts)
        || check.exit_non_zero_on_fix && fixed_findings > 0
        || held.as_ref().is_some_and(|held| baseline::fails_for_stale(check, held))
        || has_grown;
    let unwritten = fixed.is_some_and(|fixed| fixed.unwritten);
    let is_complete =
        left_out.is_empty() && chosen.findings.iter().all(|finding| finding.rule != UNREADABLE_SOURCE.code);
    let is_done = project.missing.is_empty() && !unwritten && (is_complete || !check.strict);
    Ok(match (is_done, has_findings && !check.exit_zero) {
        (false, _) => FAILED,
        (true, true) => FOUND,
        (true, false) => CLEAN,
    })
}

/// True if the output has a plan: the HTML report.
fn shows_plan(check: &Check) -> bool {
    check.output_format == OutputFormat::Html && check.statistics.is_none() && check.add_ignore.is_none()
}

/// Returns the minimum levels of shown findings: those of the command line, else those of the configuration.
fn resolve_levels(check: &Check, configuration: &Configuration) -> Levels {
    let ((severity, confidence), from_file) = (check.levels(), configuration.levels());
    Levels { severity: severity.unwrap_or(from_file.0), confidence: confidence.unwrap_or(from_file.1) }
}

/// Returns the text of stdin if the path is `-`, or if `--stdin-filename` is given without a path; else `None`.
fn read_stdin(check: &Check) -> Result<Option<Vec<u8>>, Failure> {
    // As with ruff, `--stdin-filename` without a path reads stdin.
    let is_implied = check.run.stdin_filename.is_some() && check.paths.is_empty();
    let reads_stdin = is_implied || check.paths.iter().any(|path| path == "-");
    match (&check.run.stdin_filename, reads_stdin) {
        (None, false) => return Ok(None),
        (None, true) => {
            return Err(Failure::new("`-` needs --stdin-filename, the path of the file whose text stdin is"));
        }
        (Some(_), false) => {
            return Err(Failure::new("--stdin-filename needs `-`, but another path is given"));
        }
        (Some(_), true) if check.paths.len() > 1 => {
            return Err(Failure::new(
                "`-` allows no other path: the project around --stdin-filename is analysed anyway",
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

/// Reports each path that does not exist and each problem of discovery, one line each.
///
/// # Errors
///
/// If no file is left to analyse, because "no findings" would suggest that files were read.
fn report_problems(project: &Project, check: &Check, current: &Utf8Path) -> Result<(), Failure> {
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
        // The missing paths are reported above. Programs that read the output get a complete document, and exit code 2.
        return if render::is_for_people(check) { Err(Failure::already_reported()) } else { Ok(()) };
    }
    // Hooks pass files of every kind and excluded ones, so a list without a source file is no mistake.
    let are_all_files = !check.paths.is_empty() && check.paths.iter().all(|path| !absolute(current, path).is_dir());
    let has_exclusions = check.force_exclude || check.exclude.is_some() || !check.extend_exclude.is_empty();
    if has_exclusions || are_all_files && !project.files.is_empty() {
        warning("no Python, Rust or Java file found under the given paths");
        return Ok(());
    }
    Err(Failure::new("nothing was read: no Python, Rust or Java file found under the given paths"))
}

/// Checks that the run read at least one file.
///
/// # Errors
///
/// If the project has files and none of them could be read.
pub(super) fn ensure_something_read(project: &Project, ran: &RunResult) -> Result<(), Failure> {
    match (ran.read, project.files.is_empty()) {
        (0, false) => Err(Failure::new("nothing was read: no file could be opened")),
        _ => Ok(()),
    }
}

/// Prints the lines of `-v` about the inputs: root, configuration, number of files, import roots.
fn print_inputs(project: &Project, current: &Utf8Path) {
    if console::verbosity() < 1 {
        return;
    }
    let relative = |path: &Utf8Path| match path.strip_prefix(current) {
        Ok(inside) if inside.as_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.to_string(),
        Err(_) => path.to_string(),
    };
    verbose(format!("project root {}", project.root));
    match &project.configuration.file {
        Some(file) => verbose(format!("configuration {}", relative(file))),
        None => verbose("no configuration"),
    }
    let count = |language| project.files.iter().filter(|file| file.language == language).count();
    let languages = Language::ALL.iter().map(|language| (language, count(*language))).filter(|(_, count)| *count > 0);
    let counts: Vec<String> = languages.map(|(language, count)| format!("{count} {language}")).collect();
    let reported = project.files.iter().filter(|file| file.reported).count();
    verbose(format!("{} files ({}), of which {reported} are reported", project.files.len(), counts.join(", ")));
    for root in &project.import_roots {
        verbose(format!("import root {}", relative(root)));
    }
}

/// Returns the signals that `--without-signal` switches off.
fn disabled_signals(check: &Check) -> Result<SignalSet, Failure> {
    check.without_signal.iter().try_fold(SignalSet::default(), |set, name| {
        let signal = signal_named(name)
            .ok_or_else(|| Failure::new(format!("no signal is called `{name}`: docs/signals.md lists them")))?;
        Ok(set.with(signal))
    })
}
