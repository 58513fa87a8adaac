//! `blocklint baseline create`, `prune` and `show`, and the part of `blocklint check` that hides findings of the
//! baseline.

use std::io::Write;

use blocklint_engine::{Baseline, BaselineKey, BaselineResult, Chosen, Coverage, Scope, run, text_before};
use blocklint_project::{BASELINE_FILE, Project, absolute, lies_within};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::check::{Prepared, ensure_something_read, prepare, run_request};
use super::{cache, change, ignore_closed_pipe, left_out, path_from};
use crate::arguments::{BaselineCommand, Check, OutputFormat};
use crate::messages::{Failure, error, warning};
use crate::output_file::replace_file;
use crate::progress::Bar;
use crate::{CLEAN, FAILED};

/// Returns the baseline that a run uses; `None` with `--no-baseline`, or if the default file does not exist.
pub(super) fn read(check: &Check, project: &Project, current: &Utf8Path) -> Result<Option<Baseline>, Failure> {
    if check.no_baseline {
        return Ok(None);
    }
    let (path, is_named) = baseline_path(check, project, current)?;
    let baseline = Baseline::read(&path).map_err(|error| Failure::new(error.relative_to(current)))?;
    if baseline.is_none() && is_named {
        let path = path_from(&path, current);
        return Err(Failure::new(format!("{path}: no such file; `blocklint baseline create` makes one")));
    }
    Ok(baseline)
}

/// Returns the path of the baseline file, and true if the command line or the configuration sets it.
fn baseline_path(check: &Check, project: &Project, current: &Utf8Path) -> Result<(Utf8PathBuf, bool), Failure> {
    if let Some(path) = &check.baseline {
        return Ok((absolute(current, path), true));
    }
    if let Some(path) = &project.configuration.baseline {
        return Ok((path.clone(), true));
    }
    let path = project.root.join(BASELINE_FILE);
    // A link in a repository could point at any file of the user, so its target is neither read nor written.
    if path.exists() && !lies_within(&path, &project.root) {
        let path = path_from(&path, current);
        return Err(Failure::new(format!("{path}: a link out of the project; pass its target by `--baseline FILE`")));
    }
    Ok((path, false))
}

/// Removes the findings of the baseline from `chosen`, and returns them with the stale entries.
pub(super) fn hide_baselined(
    check: &Check,
    baseline: &Baseline,
    chosen: &mut Chosen,
    prepared: &Prepared,
) -> BaselineResult {
    let Prepared { project, rules, levels, .. } = prepared;
    let root = &project.root;
    let reports = |path: &str| project.file_at(&root.join(path)).map(|file| file.reported);
    let scope = Scope {
        root,
        reports: &reports,
        is_whole: project.files.iter().all(|file| file.reported),
        selects: &|rule| rules.selection.contains(rule),
        coverage: Coverage { levels: *levels, aside: check.includes_aside(&project.configuration) },
    };
    baseline.split_known(chosen, &scope)
}

/// Returns true with `--strict-baseline` if the baseline holds more findings than in the state that `--since`,
/// `--changed` or `--staged` compares with; reports how many more as an error.
pub(super) fn report_growth(check: &Check, baseline: &Baseline, prepared: &Prepared) -> Result<bool, Failure> {
    let Some((option, compare)) = change::requested_comparison(check).filter(|_| check.strict_baseline) else {
        return Ok(false);
    };
    let Prepared { project, current, .. } = prepared;
    let (path, _) = baseline_path(check, project, current)?;
    let old = text_before(project, &compare, &path).map_err(|failure| change::prefix_option(option, &failure))?;
    // A new baseline may hold any number of findings.
    let Some(old) = old else { return Ok(false) };
    let old = Baseline::parse(&path, &old).map_err(|error| Failure::new(error.relative_to(current)))?;
    let growth = baseline.growth(&old);
    if growth > 0 {
        error(format!("{}: the change adds {} to the baseline", path_from(&path, current), count_findings(growth)));
    }
    Ok(growth > 0)
}

/// True with `--strict-baseline` if the baseline has stale entries.
pub(super) fn fails_for_stale(check: &Check, held: &BaselineResult) -> bool {
    check.strict_baseline && !held.stale.is_empty()
}

/// Reports stale entries on stderr if they make the run fail. Text formats report them in their last lines instead.
pub(super) fn report_stale(check: &Check, held: &BaselineResult) {
    if fails_for_stale(check, held) {
        let stale: u32 = held.stale.iter().map(|(_, count)| count).sum();
        let (findings, them) =
            if stale == 1 { ("finding of the baseline is", "it") } else { ("findings of the baseline are", "them") };
        error(format!("{stale} {findings} gone; `blocklint baseline prune` removes {them}"));
    }
}

pub(crate) fn baseline(command: &BaselineCommand) -> Result<u8, Failure> {
    match command {
        BaselineCommand::Create { check, force } => create(check, *force),
        BaselineCommand::Prune { check } => prune(check),
        BaselineCommand::Show { check } => show(check),
    }
}

/// The findings of now, from which a baseline is made or with which it is compared.
struct CurrentState {
    prepared: Prepared,
    chosen: Chosen,
    /// The file of the baseline.
    path: Utf8PathBuf,
    /// True if the analysis left nothing out.
    is_whole: bool,
}

/// Runs the analysis for a command of `blocklint baseline`.
fn analyse_current(check: &Check) -> Result<CurrentState, Failure> {
    let is_comparison = check.since.is_some() || check.changed || check.staged;
    if is_comparison || check.fix || check.diff || check.add_ignore.is_some() || check.run.watch {
        return Err(Failure::new("a baseline contains all findings, so options for changes and fixes do not apply"));
    }
    if check.run.stdin_filename.is_some() {
        return Err(Failure::new("a baseline needs files, not stdin"));
    }
    let prepared = prepare(check)?;
    let (path, _) = baseline_path(check, &prepared.project, &prepared.current)?;
    let cache = cache::open(check, &prepared.project, &prepared.current);
    let bar = Bar::new();
    let ran = run(run_request(check, &prepared, cache.as_ref(), &bar)?)?;
    drop(bar);
    ensure_something_read(&prepared.project, &ran)?;
    cache::warn_if_unkept(check, &ran);
    left_out::report(&prepared.project, &ran.left_out, &prepared.current);
    Ok(CurrentState { prepared, chosen: ran.chosen, path, is_whole: ran.left_out.is_empty() })
}

fn create(check: &Check, force: bool) -> Result<u8, Failure> {
    let CurrentState { prepared, chosen, path, is_whole: _ } = analyse_current(check)?;
    let (project, current) = (&prepared.project, &prepared.current);
    let name = path_from(&path, current);
    if !project.missing.is_empty() {
        return Ok(FAILED);
    }
    if path.exists() && !force {
        let message = "there already; `blocklint baseline prune` makes it smaller, and `--force` replaces it";
        return Err(Failure::new(format!("{name}: {message}")));
    }
    if project.files.iter().any(|file| !file.reported) {
        warning("the baseline contains only findings under the given paths");
    }
    let seen = Coverage { levels: prepared.levels, aside: check.includes_aside(&project.configuration) };
    let baseline = Baseline::of(&chosen.findings, &project.root, seen);
    write(&baseline, &path, current)?;
    print(&format!("Wrote {name}: {}.\n", count_with_files(&baseline)))
}

fn prune(check: &Check) -> Result<u8, Failure> {
    let CurrentState { prepared, mut chosen, path, is_whole } = analyse_current(check)?;
    let mut baseline = existing(&path, &prepared.current)?;
    if !prepared.project.missing.is_empty() {
        return Ok(FAILED);
    }
    if !is_whole {
        return Err(Failure::new(
            "nothing is removed from the baseline: findings in the parts that were left out may still exist",
        ));
    }
    let held = hide_baselined(check, &baseline, &mut chosen, &prepared);
    let gone = baseline.prune(&held.stale);
    if gone > 0 {
        write(&baseline, &path, &prepared.current)?;
    }
    let name = path_from(&path, &prepared.current);
    print(&match gone {
        0 => format!("Nothing to remove from {name}: {}.\n", count_with_files(&baseline)),
        gone => {
            format!("Removed {} from {name}, which now has {}.\n", count_findings(gone), count_with_files(&baseline))
        }
    })
}

/// A line of `blocklint baseline show`, and an object of its JSON.
#[derive(Serialize)]
struct Row<'r> {
    filename: &'r str,
    code: String,
    function: &'r str,
    cause: &'r str,
    count: u32,
    stale: u32,
}

fn show(check: &Check) -> Result<u8, Failure> {
    let CurrentState { prepared, mut chosen, path, is_whole } = analyse_current(check)?;
    let baseline = existing(&path, &prepared.current)?;
    let mut held = hide_baselined(check, &baseline, &mut chosen, &prepared);
    if !is_whole {
        held.stale.clear();
    }
    let stale =
        |key: &BaselineKey| held.stale.iter().find(|(stale_key, _)| stale_key == key).map_or(0, |(_, count)| *count);
    let rows = baseline.entries.iter().map(|(key, count)| Row {
        filename: &key.file,
        code: key.rule.to_string(),
        function: &key.function,
        cause: &key.cause,
        count: *count,
        stale: stale(key),
    });
    let rows: Vec<Row<'_>> = rows.collect();
    if check.output_format == OutputFormat::Json {
        return print(&format!("{}\n", serde_json::to_string_pretty(&rows).map_err(Failure::new)?));
    }
    let mut text = String::new();
    for row in &rows {
        let times = if row.count == 1 { String::new() } else { format!(" ({} times)", row.count) };
        let gone = match row.stale {
            0 => String::new(),
            stale if stale == row.count => " [gone]".to_owned(),
            stale => format!(" [{stale} gone]"),
        };
        let Row { filename, code, function, cause, .. } = row;
        text.push_str(&format!("{filename}: {code} `{cause}` in `{function}`{times}{gone}\n"));
    }
    let stale: u32 = held.stale.iter().map(|(_, count)| count).sum();
    let gone = match stale {
        0 => String::new(),
        1 => ", 1 of them gone".to_owned(),
        more => format!(", {more} of them gone"),
    };
    text.push_str(&format!("The baseline holds {}{gone}.\n", count_with_files(&baseline)));
    print(&text)
}

fn existing(path: &Utf8Path, current: &Utf8Path) -> Result<Baseline, Failure> {
    let baseline = Baseline::read(path).map_err(|error| Failure::new(error.relative_to(current)))?;
    baseline.ok_or_else(|| {
        let path = path_from(path, current);
        Failure::new(format!("{path}: no such file; `blocklint baseline create` makes one"))
    })
}

fn write(baseline: &Baseline, path: &Utf8Path, current: &Utf8Path) -> Result<(), Failure> {
    replace_file(path, baseline.text().as_bytes())
        .map_err(|error| Failure::new(format!("{}: not written: {error}", path_from(path, current))))
}

fn count_with_files(baseline: &Baseline) -> String {
    let mut files: Vec<&str> = baseline.entries.keys().map(|key| key.file.as_str()).collect();
    files.dedup();
    let files = match files.len() {
        1 => "1 file".to_owned(),
        more => format!("{more} files"),
    };
    format!("{} in {files}", count_findings(baseline.count()))
}

fn count_findings(count: usize) -> String {
    if count == 1 { "1 finding".to_owned() } else { format!("{count} findings") }
}

fn print(text: &str) -> Result<u8, Failure> {
    ignore_closed_pipe(std::io::stdout().write_all(text.as_bytes()))?;
    Ok(CLEAN)
}
