//! Twins that are none: the call itself, or a call that holds the thread too.

use blocklint_core::{Language, Severity};
use rustc_hash::FxHashMap;

use super::super::error::{ModelError, Table};
use super::super::path::{is_glob, last_name};
use super::super::rows::{CallRow, Entry, File};
use super::super::twin::expand_twin;
use super::Declared;
use super::aliases::Aliases;

/// Whether the row says that the call holds the thread for more than a `note`, whatever its arguments.
pub(super) fn holds_always(row: &CallRow) -> bool {
    row.held().is_some()
        && row.is_async != Some(true)
        && row.severity != Some(Severity::Note)
        && !row.is_conditional()
        && !row.property
}

pub(super) fn check(files: &[File], aliases: &Aliases<'_>, below: &dyn Declared, errors: &mut Vec<ModelError>) {
    let mut holding: FxHashMap<(Language, &str), String> = FxHashMap::default();
    for file in files {
        for entry in file.calls.iter().filter(|entry| holds_always(&entry.row)) {
            for path in &entry.paths {
                let place = || format!("{}:{}", file.info.label, entry.row.line);
                holding.entry((file.info.language, path.text.as_str())).or_insert_with(place);
            }
        }
    }
    for file in files {
        for entry in &file.calls {
            check_row(file, entry, aliases, below, &holding, errors);
        }
    }
}

fn check_row(
    file: &File,
    entry: &Entry<CallRow>,
    aliases: &Aliases<'_>,
    below: &dyn Declared,
    holding: &FxHashMap<(Language, &str), String>,
    errors: &mut Vec<ModelError>,
) {
    let language = file.info.language;
    let Some(instead) = &entry.row.instead else { return };
    for written in instead.all() {
        for path in &entry.paths {
            // What a glob stands for is not known here.
            if written.contains('*') && is_glob(last_name(&path.text, language)) && written != path.text {
                continue;
            }
            let twin = expand_twin(written, &path.text, path.body(), language);
            let twin = aliases.canonical(language, &twin).unwrap_or(twin);
            let mut error = |message: String| {
                errors.push(entry.error(&file.info, Table::Call, "instead", message));
            };
            if twin == path.text || written == path.text {
                error(format!("`{written}` names the call itself"));
                continue;
            }
            let here = holding.get(&(language, twin.as_str())).cloned();
            if let Some(place) = here.or_else(|| below.holds(language, &twin)) {
                error(format!("`{twin}` holds the thread too ({place})"));
            }
        }
    }
}
