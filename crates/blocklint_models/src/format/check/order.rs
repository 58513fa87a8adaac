//! The checks of rows with equal paths: rows that are never reached, and paths that two files describe.

use std::collections::BTreeMap;

use blocklint_core::Language;

use super::super::error::{ModelError, Table};
use super::super::rows::{CallRow, Entry, File, FileInfo, HandoverRow, TypeRow};
use super::super::version::VersionRange;

/// `effect`, `lazy` and the keys that belong to them.
const EFFECT_GROUP: &[&str] = &[
    "effect", "kind", "takes", "native", "thread", "severity", "fails", "timeout", "unit", "default", "lazy",
    "instead", "rewrite", "fix", "note",
];
/// The keys of that group that may be on a row without `effect` and `lazy`.
const ADVICE: &[&str] = &["instead", "rewrite", "note"];
/// The keys that decide if a row applies.
const FRAME: &[&str] = &["path", "when", "unless", "version", "unchecked", "property", "via"];

/// A row under one of its paths.
struct PathRow<'f> {
    info: &'f FileInfo,
    path: &'f str,
    /// Line of the path.
    line: u32,
    /// Line of the row's `path` key.
    row_line: u32,
    /// The keys that the row decides.
    keys: Vec<&'f str>,
    /// The property, decorator or argument that the row describes. Rows of different kinds never hide each other.
    kind: String,
    is_unconditional: bool,
    version: Option<&'f VersionRange>,
}

pub(super) fn check(files: &[File], errors: &mut Vec<ModelError>) {
    for language in Language::ALL {
        let mut files: Vec<&File> = files.iter().filter(|file| file.info.language == *language).collect();
        files.sort_by(|a, b| a.info.label.cmp(&b.info.label));
        check_table(Table::Call, files.iter().flat_map(|file| path_rows(file, &file.calls)), errors);
        check_table(Table::Type, files.iter().flat_map(|file| path_rows(file, &file.types)), errors);
        check_table(Table::Handover, files.iter().flat_map(|file| path_rows(file, &file.handovers)), errors);
    }
}

/// The parts of a row that decide if an earlier row hides it.
trait Ordered {
    fn is_unconditional(&self) -> bool;
    fn version(&self) -> Option<&VersionRange>;
    fn kind(&self) -> String;
    fn keys(entry: &Entry<Self>) -> Vec<&str>
    where
        Self: Sized;
}

impl Ordered for CallRow {
    fn is_unconditional(&self) -> bool {
        !self.is_conditional()
    }
    fn version(&self) -> Option<&VersionRange> {
        self.version.as_ref()
    }
    fn kind(&self) -> String {
        format!("{} {:?}", self.property, self.via)
    }
    fn keys(entry: &Entry<Self>) -> Vec<&str> {
        let has_effect_group = entry.row.has_effect_group();
        let effect_key = has_effect_group.then_some("effect");
        let others = entry.keys.iter().map(|(key, _)| key.as_str()).filter(|key| {
            !FRAME.contains(key) && (!EFFECT_GROUP.contains(key) || (!has_effect_group && ADVICE.contains(key)))
        });
        effect_key.into_iter().chain(others).collect()
    }
}

impl Ordered for TypeRow {
    fn is_unconditional(&self) -> bool {
        true
    }
    fn version(&self) -> Option<&VersionRange> {
        self.version.as_ref()
    }
    fn kind(&self) -> String {
        String::new()
    }
    fn keys(entry: &Entry<Self>) -> Vec<&str> {
        entry.keys.iter().map(|(key, _)| key.as_str()).filter(|key| !FRAME.contains(key)).collect()
    }
}

impl Ordered for HandoverRow {
    fn is_unconditional(&self) -> bool {
        self.when.is_empty() && self.unless.is_empty()
    }
    fn version(&self) -> Option<&VersionRange> {
        self.version.as_ref()
    }
    fn kind(&self) -> String {
        format!("{:?}", self.selector)
    }
    fn keys(_: &Entry<Self>) -> Vec<&str> {
        vec!["context"]
    }
}

fn path_rows<'f, R: Ordered>(file: &'f File, entries: &'f [Entry<R>]) -> impl Iterator<Item = PathRow<'f>> {
    entries.iter().flat_map(|entry| {
        entry.paths.iter().map(|path| PathRow {
            info: &file.info,
            path: &path.text,
            line: path.line,
            row_line: entry.line_of("path"),
            keys: R::keys(entry),
            kind: entry.row.kind(),
            is_unconditional: entry.row.is_unconditional(),
            version: entry.row.version(),
        })
    })
}

fn check_table<'f>(table: Table, path_rows: impl Iterator<Item = PathRow<'f>>, errors: &mut Vec<ModelError>) {
    let mut by_path: BTreeMap<&str, Vec<PathRow<'_>>> = BTreeMap::new();
    for path_row in path_rows {
        by_path.entry(path_row.path).or_default().push(path_row);
    }
    for path_rows in by_path.values() {
        check_two_files(table, path_rows, errors);
        check_never_reached(table, path_rows, errors);
    }
}

fn error(table: Table, path_row: &PathRow<'_>, message: String) -> ModelError {
    ModelError { file: path_row.info.label.clone(), line: path_row.line, table, key: "path".to_owned(), message }
}

/// Reports a path that two files describe, unless the files state different versions.
fn check_two_files(table: Table, path_rows: &[PathRow<'_>], errors: &mut Vec<ModelError>) {
    let Some(first) = path_rows.first() else { return };
    let range = |path_row: &PathRow<'_>| path_row.version.or(path_row.info.version.as_ref()).cloned();
    for path_row in path_rows {
        let is_other_file = path_row.info.label != first.info.label;
        let has_other_range = range(path_row).is_some() && range(first).is_some() && range(path_row) != range(first);
        if is_other_file && !has_other_range {
            let message = format!("`{}` is also described in {}:{}", path_row.path, first.info.label, first.row_line);
            errors.push(error(table, path_row, message));
        }
    }
}

/// Reports a row that an earlier unconditional row of the same file hides.
fn check_never_reached(table: Table, path_rows: &[PathRow<'_>], errors: &mut Vec<ModelError>) {
    for (index, path_row) in path_rows.iter().enumerate() {
        // `check_two_files` reports rows of other files.
        let earlier_rows = || path_rows[..index].iter().filter(|earlier| earlier.info.label == path_row.info.label);
        for key in &path_row.keys {
            let hides = |earlier: &&PathRow<'_>| {
                earlier.is_unconditional
                    && earlier.version.is_none()
                    && earlier.kind == path_row.kind
                    && earlier.keys.contains(key)
            };
            let Some(hiding_row) = earlier_rows().find(hides) else { continue };
            let message = if hiding_row.row_line == path_row.row_line {
                format!("`{}` occurs twice in the row", path_row.path)
            } else {
                let line = hiding_row.row_line;
                format!("`{}`: never reached for `{key}`; the row at line {line} holds always", path_row.path)
            };
            errors.push(error(table, path_row, message));
        }
    }
}
