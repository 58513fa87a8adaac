//! Rows that can never be reached, and paths that two files describe.

use std::collections::BTreeMap;

use blocklint_core::Language;

use super::super::error::{ModelError, Table};
use super::super::rows::{CallRow, Entry, File, FileInfo, HandoverRow, TypeRow};
use super::super::version::VersionRange;

/// Keys that travel with `effect` or `lazy`.
const GROUP: &[&str] = &[
    "effect", "kind", "takes", "native", "thread", "severity", "fails", "timeout", "unit", "default", "lazy",
    "instead", "rewrite", "fix", "note",
];
/// Those of them that count on a row without `effect` and `lazy`.
const ADVICE: &[&str] = &["instead", "rewrite", "note"];
const FRAME: &[&str] = &["path", "when", "unless", "version", "unchecked", "property", "via"];

/// One row under one of its paths.
struct Place<'f> {
    info: &'f FileInfo,
    path: &'f str,
    /// Line of the path, and of the row's `path` key.
    line: u32,
    row_line: u32,
    /// Keys that the row decides; rows of different `kind` do not meet.
    keys: Vec<&'f str>,
    kind: String,
    always: bool,
    version: Option<&'f VersionRange>,
}

pub(super) fn check(files: &[File], errors: &mut Vec<ModelError>) {
    for language in Language::ALL {
        let mut files: Vec<&File> = files.iter().filter(|file| file.info.language == *language).collect();
        files.sort_by(|a, b| a.info.label.cmp(&b.info.label));
        check_table(Table::Call, files.iter().flat_map(|file| places(file, &file.calls)), errors);
        check_table(Table::Type, files.iter().flat_map(|file| places(file, &file.types)), errors);
        check_table(Table::Handover, files.iter().flat_map(|file| places(file, &file.handovers)), errors);
    }
}

/// The parts of a row that its order among other rows depends on.
trait Ordered {
    fn always(&self) -> bool;
    fn version(&self) -> Option<&VersionRange>;
    fn kind(&self) -> String;
    fn keys(entry: &Entry<Self>) -> Vec<&str>
    where
        Self: Sized;
}

impl Ordered for CallRow {
    fn always(&self) -> bool {
        !self.is_conditional()
    }
    fn version(&self) -> Option<&VersionRange> {
        self.version.as_ref()
    }
    fn kind(&self) -> String {
        format!("{} {:?}", self.property, self.via)
    }
    fn keys(entry: &Entry<Self>) -> Vec<&str> {
        let grouped = entry.row.has_effect_group();
        let lead = entry.has("effect").then_some("effect").or(entry.has("lazy").then_some("effect"));
        let others = entry
            .keys
            .iter()
            .map(|(key, _)| key.as_str())
            .filter(|key| !FRAME.contains(key) && (!GROUP.contains(key) || (!grouped && ADVICE.contains(key))));
        lead.into_iter().chain(others).collect()
    }
}

impl Ordered for TypeRow {
    fn always(&self) -> bool {
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
    fn always(&self) -> bool {
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

fn places<'f, R: Ordered>(file: &'f File, entries: &'f [Entry<R>]) -> impl Iterator<Item = Place<'f>> {
    entries.iter().flat_map(|entry| {
        entry.paths.iter().map(|path| Place {
            info: &file.info,
            path: &path.text,
            line: path.line,
            row_line: entry.line_of("path"),
            keys: R::keys(entry),
            kind: entry.row.kind(),
            always: entry.row.always(),
            version: entry.row.version(),
        })
    })
}

fn check_table<'f>(table: Table, places: impl Iterator<Item = Place<'f>>, errors: &mut Vec<ModelError>) {
    let mut by_path: BTreeMap<&str, Vec<Place<'_>>> = BTreeMap::new();
    for place in places {
        by_path.entry(place.path).or_default().push(place);
    }
    for places in by_path.values() {
        two_files(table, places, errors);
        never_reached(table, places, errors);
    }
}

fn error(table: Table, place: &Place<'_>, message: String) -> ModelError {
    ModelError { file: place.info.label.clone(), line: place.line, table, key: "path".to_owned(), message }
}

/// Reports a path that stands in two files, unless each file states for which versions.
fn two_files(table: Table, places: &[Place<'_>], errors: &mut Vec<ModelError>) {
    let Some(first) = places.first() else { return };
    let range = |place: &Place<'_>| place.version.or(place.info.version.as_ref()).cloned();
    for place in places {
        let elsewhere = place.info.label != first.info.label;
        let apart = range(place).is_some() && range(first).is_some() && range(place) != range(first);
        if elsewhere && !apart {
            let message = format!("`{}` is also described in {}:{}", place.path, first.info.label, first.row_line);
            errors.push(error(table, place, message));
        }
    }
}

fn never_reached(table: Table, places: &[Place<'_>], errors: &mut Vec<ModelError>) {
    for (index, place) in places.iter().enumerate() {
        // `two_files` distinguishes files.
        let before = || places[..index].iter().filter(|earlier| earlier.info.label == place.info.label);
        for key in &place.keys {
            let closes = |earlier: &&Place<'_>| {
                earlier.always && earlier.version.is_none() && earlier.kind == place.kind && earlier.keys.contains(key)
            };
            let Some(closing) = before().find(closes) else { continue };
            let message = if closing.row_line == place.row_line {
                format!("`{}` stands twice in the row", place.path)
            } else {
                let line = closing.row_line;
                format!("`{}`: never reached for `{key}`; the row at line {line} holds always", place.path)
            };
            errors.push(error(table, place, message));
        }
    }
}
