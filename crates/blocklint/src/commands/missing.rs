//! `blocklint debug missing PROJECT…`: counts the library calls for which no model has a row.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use blocklint_core::Language;
use blocklint_project::{Request, discover};
use camino::Utf8Path;
use serde::Serialize;

use super::{current_folder, ignore_closed_pipe, models};
use crate::CLEAN;
use crate::arguments::{Missing, TextFormat};
use crate::messages::Failure;

/// The number of places that are listed for a path.
const MAX_PLACES: usize = 3;

/// The number of calls of one library path.
#[derive(Serialize)]
struct Count {
    language: &'static str,
    path: String,
    /// Calls that are not the operand of an `await`.
    calls: usize,
    /// Calls that are the operand of an `await`.
    awaited: usize,
    /// Projects that call the path.
    projects: usize,
    /// True if a model has rows for other names of the library.
    known_library: bool,
    /// The first places.
    places: Vec<String>,
}

/// The counts of all projects.
#[derive(Serialize)]
struct Counts {
    projects: usize,
    /// All calls.
    calls: usize,
    awaited: usize,
    /// The number of different paths.
    paths: usize,
    /// The paths, those with most calls first.
    missing: Vec<Count>,
}

pub(super) fn count_missing(arguments: &Missing) -> Result<u8, Failure> {
    let current = current_folder()?;
    let mut counts: BTreeMap<(Language, String), Count> = BTreeMap::new();
    let mut projects_of: BTreeMap<(Language, String), BTreeSet<usize>> = BTreeMap::new();
    for (project, path) in arguments.projects.iter().enumerate() {
        for call in unmodelled_calls(path, &current)? {
            if arguments.not_awaited && call.awaited {
                continue;
            }
            let key = (call.language, call.path.clone());
            projects_of.entry(key.clone()).or_default().insert(project);
            let count = counts.entry(key).or_insert_with(|| Count {
                language: call.language.as_str(),
                path: call.path.clone(),
                calls: 0,
                awaited: 0,
                projects: 0,
                known_library: call.known_library,
                places: Vec::new(),
            });
            if call.awaited {
                count.awaited += 1
            } else {
                count.calls += 1
            }
            if count.places.len() < MAX_PLACES {
                let file = call.place.path.strip_prefix(&current).unwrap_or(&call.place.path);
                count.places.push(format!("{file}:{}", call.place.start.row));
            }
        }
    }
    for (key, projects) in projects_of {
        if let Some(count) = counts.get_mut(&key) {
            count.projects = projects.len();
        }
    }
    let mut missing: Vec<Count> = counts.into_values().collect();
    missing.sort_by(|a, b| (b.calls, b.awaited, &a.path).cmp(&(a.calls, a.awaited, &b.path)));
    let mut all = Counts {
        projects: arguments.projects.len(),
        calls: missing.iter().map(|count| count.calls).sum(),
        awaited: missing.iter().map(|count| count.awaited).sum(),
        paths: missing.len(),
        missing,
    };
    all.missing.truncate(arguments.top.unwrap_or(usize::MAX));
    let text = match arguments.output_format {
        TextFormat::Json => format!("{}\n", serde_json::to_string_pretty(&all).map_err(Failure::new)?),
        TextFormat::Text => counts_table(&all),
    };
    ignore_closed_pipe(std::io::stdout().write_all(text.as_bytes()))?;
    Ok(CLEAN)
}

/// Returns the calls of one project for which neither the built-in models nor those of the project have a row.
fn unmodelled_calls(path: &Utf8Path, current: &Utf8Path) -> Result<Vec<blocklint_engine::Missing>, Failure> {
    let paths = [path.to_path_buf()];
    let project = discover(Request { current, paths: &paths, isolated: false })
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(current))))?;
    if let Some(missing) = project.missing.first() {
        return Err(Failure::new(format!("{missing}: no such file or folder")));
    }
    let models = blocklint_engine::load_models(&project, current)?;
    blocklint_engine::find_missing_calls(&project, &models)
}

fn counts_table(all: &Counts) -> String {
    let rows: Vec<Vec<String>> = all
        .missing
        .iter()
        .map(|count| {
            vec![
                count.calls.to_string(),
                count.awaited.to_string(),
                count.projects.to_string(),
                if count.known_library { "yes" } else { "no" }.to_owned(),
                count.path.clone(),
                count.places.first().cloned().unwrap_or_default(),
            ]
        })
        .collect();
    let table = models::table(&["calls", "awaited", "projects", "library known", "path", "first place"], &rows);
    let Counts { projects, calls, awaited, paths, .. } = all;
    format!("{table}{calls} calls and {awaited} awaited ones of {paths} paths, in {projects} projects\n")
}
