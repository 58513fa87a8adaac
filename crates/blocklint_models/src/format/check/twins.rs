//! The check of async twins (`instead`): a twin must be neither the call itself nor a call that holds the thread.

use blocklint_core::{Language, Severity};

use super::super::compile::compile;
use super::super::error::{ModelError, Table};
use super::super::path::{is_glob, last_name};
use super::super::rows::{CallRow, Entry, File};
use super::super::table::{Kind, Layer, Uses};
use super::super::twin::expand_twin;
use super::DeclaredNames;
use super::aliases::Aliases;

/// True if the row declares that the call holds the thread for more than a `note`, whatever its arguments.
pub(super) fn blocks_always(row: &CallRow) -> bool {
    row.held_effect().is_some()
        && row.is_async != Some(true)
        && row.severity != Some(Severity::Note)
        && !row.is_conditional()
        && !row.property
}

/// Returns `file:line` of a deciding row which declares that a call of the path holds the thread for more than a
/// `note`, whatever its arguments. Returns `Some(None)` if no deciding row declares it, and `None` if the layer has no
/// row for the effect of the call.
pub fn find_blocking_row(layer: &Layer, path: &str) -> Option<Option<String>> {
    let is_type = layer.is_type(path);
    let mut rows: Vec<_> = layer
        .matching_patterns(path, Kind::Call)
        .filter_map(|index| layer.pattern(index))
        .filter(|pattern| !pattern.uses.intersects(Uses::PROPERTY.union(Uses::MARKS)))
        .filter(|pattern| !(is_type && pattern.rank.is_glob() && !pattern.rank.is_deep()))
        .filter_map(|pattern| Some((pattern.rank, pattern.row, pattern.file, layer.call(pattern.row)?)))
        .filter(|(_, _, _, row)| row.has_effect_group())
        .collect();
    rows.sort_by_key(|(rank, order, _, _)| (*rank, *order));
    let best = rows.first()?.0;
    let holding = rows.iter().find(|(rank, _, _, row)| *rank == best && blocks_always(row));
    let place = holding
        .and_then(|(_, _, file, row)| Some(format!("{}:{}", layer.files().get(*file as usize)?.label, row.line)));
    Some(place)
}

pub(super) fn check(
    files: &[File],
    aliases: &Aliases<'_>,
    lower_layers: &dyn DeclaredNames,
    errors: &mut Vec<ModelError>,
) {
    for language in Language::ALL {
        // The rows that decide here must be those that decide at run time, so the compiled table is used.
        let Ok(layer) = compile(files, *language) else { continue };
        for file in files.iter().filter(|file| file.info.language == *language) {
            for entry in &file.calls {
                check_row(file, entry, aliases, lower_layers, &layer, errors);
            }
        }
    }
}

fn check_row(
    file: &File,
    entry: &Entry<CallRow>,
    aliases: &Aliases<'_>,
    lower_layers: &dyn DeclaredNames,
    layer: &Layer,
    errors: &mut Vec<ModelError>,
) {
    let language = file.info.language;
    let Some(instead) = &entry.row.instead else { return };
    for written in instead.all() {
        for path in &entry.paths {
            // The text that a glob will match is unknown.
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
            } else if let Some(place) =
                find_blocking_row(layer, &twin).unwrap_or_else(|| lower_layers.find_blocking_row(language, &twin))
            {
                error(format!("`{twin}` holds the thread too ({place})"));
            }
        }
    }
}
