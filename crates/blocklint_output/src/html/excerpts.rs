//! The files of a report, and of each the lines around what is shown of it.

use std::collections::BTreeSet;

use blocklint_core::Place;
use camino::Utf8Path;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::{Shown, Sources};

/// Lines shown above and below a place.
const AROUND: usize = 4;
/// Lines of a place that are shown: a call may go on over hundreds.
const MOST_LINES: usize = 12;
/// Characters of a line that are shown: what a program made may be one line of megabytes.
const MOST_CHARACTERS: usize = 400;

/// A file with the lines that the report shows.
#[derive(Serialize)]
pub(super) struct File<'a> {
    /// Relative to the project root where it lies below, with `/`.
    path: String,
    /// Its language.
    language: &'static str,
    /// Runs of lines: the number of the first, from 0, and the lines.
    excerpts: Vec<(usize, Vec<&'a str>)>,
}

/// Where something stands: file, line in its text (from 0), then row, column, end row, end column and cell as people
/// count them.
#[derive(Clone, Copy, Serialize)]
pub(super) struct At(u32, u32, u32, u32, u32, u32, Option<u32>);

/// Collects places while data are made.
pub(super) struct Excerpts<'a> {
    shown: &'a Shown<'a>,
    root: &'a Utf8Path,
    numbers: FxHashMap<&'a Utf8Path, usize>,
    files: Vec<(&'a Utf8Path, BTreeSet<usize>)>,
}

impl<'a> Excerpts<'a> {
    pub(super) fn new(shown: &'a Shown<'a>, root: &'a Utf8Path) -> Self {
        Excerpts { shown, root, numbers: FxHashMap::default(), files: Vec::new() }
    }

    /// Returns the number of a file.
    pub(super) fn file(&mut self, path: &'a Utf8Path) -> usize {
        *self.numbers.entry(path).or_insert_with(|| {
            self.files.push((path, BTreeSet::new()));
            self.files.len() - 1
        })
    }

    /// Returns the place, of which the lines around are shown.
    pub(super) fn at(&mut self, place: &'a Place) -> At {
        let file = self.file(&place.path);
        let sources = self.shown.sources;
        let line = sources.line_of(&place.path, place.span.start).unwrap_or(place.start.row.max(1) as usize - 1);
        let last = line + (place.end.row.saturating_sub(place.start.row) as usize).min(MOST_LINES);
        self.files[file].1.extend(line.saturating_sub(AROUND)..=last + AROUND);
        let (start, end) = (place.start, place.end);
        At(file as u32, line as u32, start.row, start.column, end.row, end.column, place.cell)
    }

    /// Returns the files, in the order of their numbers.
    pub(super) fn finish(self) -> Vec<File<'a>> {
        let (sources, root) = (self.shown.sources, self.root);
        let file = |(path, lines): (&'a Utf8Path, BTreeSet<usize>)| File {
            path: path.strip_prefix(root).unwrap_or(path).as_str().replace('\\', "/"),
            language: match path.extension() {
                Some("rs") => "rust",
                Some("java") => "java",
                _ => "python",
            },
            excerpts: runs(path, &lines, sources),
        };
        self.files.into_iter().map(file).collect()
    }
}

fn runs<'a>(path: &Utf8Path, lines: &BTreeSet<usize>, sources: &'a Sources) -> Vec<(usize, Vec<&'a str>)> {
    let mut runs: Vec<(usize, Vec<&str>)> = Vec::new();
    for &number in lines {
        let Some(line) = sources.line(path, number) else { break };
        let line = if number == 0 { line.trim_start_matches('\u{feff}') } else { line };
        let end = line.char_indices().nth(MOST_CHARACTERS).map_or(line.len(), |(at, _)| at);
        match runs.last_mut() {
            Some((first, run)) if *first + run.len() == number => run.push(&line[..end]),
            _ => runs.push((number, vec![&line[..end]])),
        }
    }
    runs
}
