//! `blocklint debug …`: internals such as facts, fixes and timings, for people who work on blocklint.

use std::io::Write;
use std::time::Duration;

use blocklint_core::{Confidence, Severity};
use blocklint_project::{Request, discover};
use camino::Utf8Path;

use super::edits::compare_after_edits;
use super::missing::count_missing;
use super::{current_folder, ignore_closed_pipe};
use crate::CLEAN;
use crate::arguments::Debug;
use crate::messages::{Failure, warning};
use blocklint_engine::{
    Levels, Options, analyse, attach_fixes, choose, extract, load_models, locate, on_large_stacks, time_searches,
};
use blocklint_rules::Selection;

pub(crate) fn debug(command: &Debug) -> Result<u8, Failure> {
    match command {
        Debug::Facts { file } => print_facts(file),
        Debug::Fixes { path } => print_fixes(path),
        Debug::Edits { path, edits: count, seed } => compare_after_edits(path, *count, *seed),
        Debug::Search { path } => print_search_times(path),
        Debug::Missing(arguments) => count_missing(arguments),
    }
}

/// Prints a line for each finding at the default levels: its place, and its fix or the reason why it has none.
fn print_fixes(path: &Utf8Path) -> Result<u8, Failure> {
    let current = current_folder()?;
    let paths = [path.to_path_buf()];
    let project = discover(Request { current: &current, paths: &paths, isolated: false })
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    let models = load_models(&project, &current)?;
    let report = analyse(&project, &models, Options::new(Confidence::Medium))?;
    let levels = Levels { severity: Severity::Warning, confidence: Confidence::Medium };
    let mut chosen = choose(report.findings, report.groups, &Selection::all(), levels);
    let refused = on_large_stacks(|| attach_fixes(&project, &report.remedies, &mut chosen.findings))?;
    locate(&project, &mut chosen);
    let mut text = String::new();
    for (finding, refusal) in chosen.findings.iter().zip(refused) {
        let path = finding.place.path.strip_prefix(&current).unwrap_or(&finding.place.path);
        let fix_or_reason = match (&finding.fix, refusal) {
            (Some(fix), _) => format!("{:?}: {}", fix.applicability, fix.title),
            (None, refusal) => format!("None: {}", refusal.map_or_else(String::new, |refusal| refusal.to_string())),
        };
        text.push_str(&format!("{path}:{}: {} {fix_or_reason}\n", finding.place.start.row, finding.rule));
    }
    ignore_closed_pipe(std::io::stdout().write_all(text.as_bytes()))?;
    Ok(CLEAN)
}

fn print_search_times(path: &Utf8Path) -> Result<u8, Failure> {
    let current = current_folder()?;
    let paths = [path.to_path_buf()];
    let project = discover(Request { current: &current, paths: &paths, isolated: false })
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    let models = load_models(&project, &current)?;
    let options = Options::new(Confidence::Medium);
    let (cold, warm) = time_searches(&project, &models, options)?;
    let line = |name, time: Duration| format!("{name} {:>8.1} ms\n", time.as_secs_f64() * 1e3);
    let text = format!("{}{}", line("cold", cold), line("warm", warm));
    ignore_closed_pipe(std::io::stdout().write_all(text.as_bytes()))?;
    Ok(CLEAN)
}

fn print_facts(file: &Utf8Path) -> Result<u8, Failure> {
    let current = current_folder()?;
    let paths = [file.to_path_buf()];
    let project = discover(Request { current: &current, paths: &paths, isolated: false })
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    let Some(source) = project.files.iter().find(|source| source.reported) else {
        let problem = project.problems.iter().find(|problem| problem.path.ends_with(file));
        return Err(match problem {
            Some(problem) => Failure::new(problem.relative_to(&current)),
            None => Failure::new(format!("{file}: no such file")),
        });
    };
    let extracted = on_large_stacks(|| extract(source, project.configuration.max_file_size))?;
    if let Some((_, unread)) = &extracted.unread {
        warning(format!("{file}: {}", unread.message()));
    }
    if let Some(facts) = &extracted.facts {
        ignore_closed_pipe(std::io::stdout().write_all(blocklint_facts::dump(facts).as_bytes()))?;
    }
    Ok(CLEAN)
}
