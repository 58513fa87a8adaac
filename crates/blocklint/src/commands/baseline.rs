//! `blocklint baseline`, and what `check` makes of a baseline.

use std::io::Write;

use blocklint_engine::{Baseline, BaselineKey, BaselineResult, Chosen, Coverage, Scope, run, text_before};
use blocklint_project::{BASELINE_FILE, Project, absolute, lies_within};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::check::{Prepared, nothing_read, prepare, request};
use super::{cache, change, from_here as shown, left_out, unless_closed};
use crate::arguments::{BaselineCommand, Check, OutputFormat};
use crate::messages::{Failure, error, warning};
use crate::progress::Bar;
use crate::{CLEAN, FAILED};

/// Returns the baseline that a run uses.
pub(super) fn read(check: &Check, project: &Project, current: &Utf8Path) -> Result<Option<Baseline>, Failure> {
    if check.no_baseline {
        return Ok(None);
    }
    let (path, is_named) = path(check, project, current)?;
    let read = Baseline::read(&path).map_err(|error| Failure::new(error.relative_to(current)))?;
    if read.is_none() && is_named {
        let path = shown(&path, current);
        return Err(Failure::new(format!("{path}: no such file; `blocklint baseline create` makes one")));
    }
    Ok(read)
}

/// Returns the file of the baseline, and whether the user or the configuration named it.
fn path(check: &Check, project: &Project, current: &Utf8Path) -> Result<(Utf8PathBuf, bool), Failure> {
    if let Some(path) = &check.baseline {
        return Ok((absolute(current, path), true));
    }
    if let Some(path) = &project.configuration.baseline {
        return Ok((path.clone(), true));
    }
    let path = project.root.join(BASELINE_FILE);
    // The target of a link in a repository is neither read nor written.
    if path.exists() && !lies_within(&path, &project.root) {
        let path = shown(&path, current);
        return Err(Failure::new(format!(
            "{path}: a link out of the project; `--baseline FILE` names what it leads to"
        )));
    }
    Ok((path, false))
}

/// Takes what is in the baseline out of what is shown.
pub(super) fn hold(check: &Check, baseline: &Baseline, chosen: &mut Chosen, prepared: &Prepared) -> BaselineResult {
    let Prepared { project, rules, levels, .. } = prepared;
    let root = &project.root;
    let reports = |path: &str| project.file_at(&root.join(path)).map(|file| file.reported);
    let scope = Scope {
        root,
        reports: &reports,
        is_whole: project.files.iter().all(|file| file.reported),
        selects: &|rule| rules.selection.contains(rule),
        coverage: Coverage { levels: *levels, aside: check.looks_aside(&project.configuration) },
    };
    baseline.split_known(chosen, &scope)
}

/// True if the run was told to fail where the baseline grew since the state that it is compared with, and it did: that
/// is told.
pub(super) fn has_grown(check: &Check, baseline: &Baseline, prepared: &Prepared) -> Result<bool, Failure> {
    let Some((option, compare)) = change::compared_with(check).filter(|_| check.strict_baseline) else {
        return Ok(false);
    };
    let Prepared { project, current, .. } = prepared;
    let (path, _) = path(check, project, current)?;
    let old = text_before(project, &compare, &path).map_err(|failure| change::of_option(option, &failure))?;
    // The first one may hold anything.
    let Some(old) = old else { return Ok(false) };
    let old = Baseline::parse(&path, &old).map_err(|error| Failure::new(error.relative_to(current)))?;
    let growth = baseline.growth(&old);
    if growth > 0 {
        error(format!("{}: the change adds {} to the baseline", shown(&path, current), findings(growth)));
    }
    Ok(growth > 0)
}

/// True if the run was told to fail for what the baseline holds without need.
pub(super) fn is_broken(check: &Check, held: &BaselineResult) -> bool {
    check.strict_baseline && !held.stale.is_empty()
}

/// Says on stderr what text formats say in their last lines, where it makes the run fail.
pub(super) fn tell_stale(check: &Check, held: &BaselineResult) {
    if is_broken(check, held) {
        let stale: u32 = held.stale.iter().map(|(_, count)| count).sum();
        let (findings, them) =
            if stale == 1 { ("finding of the baseline is", "it") } else { ("findings of the baseline are", "them") };
        error(format!("{stale} {findings} gone; `blocklint baseline prune` takes {them} out"));
    }
}

pub(crate) fn baseline(command: &BaselineCommand) -> Result<u8, Failure> {
    match command {
        BaselineCommand::Create { check, force } => create(check, *force),
        BaselineCommand::Prune { check } => prune(check),
        BaselineCommand::Show { check } => show(check),
    }
}

/// The state that a baseline is compared with.
struct Found {
    prepared: Prepared,
    chosen: Chosen,
    /// The file of the baseline.
    path: Utf8PathBuf,
    /// True if the analysis left nothing out.
    is_whole: bool,
}

/// Returns what is found now.
fn found(check: &Check) -> Result<Found, Failure> {
    let of_change = check.since.is_some() || check.changed || check.staged;
    if of_change || check.fix || check.diff || check.add_ignore.is_some() || check.run.watch {
        return Err(Failure::new(
            "a baseline is made of all that is found: options for changes and fixes say nothing to it",
        ));
    }
    if check.run.stdin_filename.is_some() {
        return Err(Failure::new("a baseline is made of files, not of stdin"));
    }
    let prepared = prepare(check)?;
    let (path, _) = path(check, &prepared.project, &prepared.current)?;
    let cache = cache::of(check, &prepared.project, &prepared.current);
    let bar = Bar::new();
    let ran = run(request(check, &prepared, cache.as_ref(), &bar)?)?;
    drop(bar);
    nothing_read(&prepared.project, &ran)?;
    cache::tell(check, &ran);
    left_out::tell(&prepared.project, &ran.left_out, &prepared.current);
    Ok(Found { prepared, chosen: ran.chosen, path, is_whole: ran.left_out.is_empty() })
}

fn create(check: &Check, force: bool) -> Result<u8, Failure> {
    let Found { prepared, chosen, path, is_whole: _ } = found(check)?;
    let (project, current) = (&prepared.project, &prepared.current);
    let name = shown(&path, current);
    if !project.missing.is_empty() {
        return Ok(FAILED);
    }
    if path.exists() && !force {
        let told = "there already; `blocklint baseline prune` makes it smaller, and `--force` replaces it";
        return Err(Failure::new(format!("{name}: {told}")));
    }
    if project.files.iter().any(|file| !file.reported) {
        warning("only what stands under the given paths is in the baseline");
    }
    let seen = Coverage { levels: prepared.levels, aside: check.looks_aside(&project.configuration) };
    let baseline = Baseline::of(&chosen.findings, &project.root, seen);
    write(&baseline, &path, current)?;
    say(&format!("Wrote {name}: {}.\n", of_files(&baseline)))
}

fn prune(check: &Check) -> Result<u8, Failure> {
    let Found { prepared, mut chosen, path, is_whole } = found(check)?;
    let mut baseline = existing(&path, &prepared.current)?;
    if !prepared.project.missing.is_empty() {
        return Ok(FAILED);
    }
    if !is_whole {
        return Err(Failure::new("nothing is taken out of the baseline: what was left out may still be there"));
    }
    let held = hold(check, &baseline, &mut chosen, &prepared);
    let gone = baseline.prune(&held.stale);
    if gone > 0 {
        write(&baseline, &path, &prepared.current)?;
    }
    let name = shown(&path, &prepared.current);
    say(&match gone {
        0 => format!("Nothing to take out of {name}: {}.\n", of_files(&baseline)),
        gone => format!("Took {} out of {name}, which holds {}.\n", findings(gone), of_files(&baseline)),
    })
}

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
    let Found { prepared, mut chosen, path, is_whole } = found(check)?;
    let baseline = existing(&path, &prepared.current)?;
    let mut held = hold(check, &baseline, &mut chosen, &prepared);
    if !is_whole {
        held.stale.clear();
    }
    let stale = |key: &BaselineKey| held.stale.iter().find(|(of, _)| of == key).map_or(0, |(_, count)| *count);
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
        return say(&format!("{}\n", serde_json::to_string_pretty(&rows).map_err(Failure::new)?));
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
    text.push_str(&format!("The baseline holds {}{gone}.\n", of_files(&baseline)));
    say(&text)
}

fn existing(path: &Utf8Path, current: &Utf8Path) -> Result<Baseline, Failure> {
    let read = Baseline::read(path).map_err(|error| Failure::new(error.relative_to(current)))?;
    read.ok_or_else(|| {
        let path = shown(path, current);
        Failure::new(format!("{path}: no such file; `blocklint baseline create` makes one"))
    })
}

fn write(baseline: &Baseline, path: &Utf8Path, current: &Utf8Path) -> Result<(), Failure> {
    baseline.write(path).map_err(|error| Failure::new(format!("{}: not written: {error}", shown(path, current))))
}

fn of_files(baseline: &Baseline) -> String {
    let mut files: Vec<&str> = baseline.entries.keys().map(|key| key.file.as_str()).collect();
    files.dedup();
    let files = match files.len() {
        1 => "1 file".to_owned(),
        more => format!("{more} files"),
    };
    format!("{} in {files}", findings(baseline.count()))
}

fn findings(count: usize) -> String {
    if count == 1 { "1 finding".to_owned() } else { format!("{count} findings") }
}

fn say(text: &str) -> Result<u8, Failure> {
    unless_closed(std::io::stdout().write_all(text.as_bytes()))?;
    Ok(CLEAN)
}
