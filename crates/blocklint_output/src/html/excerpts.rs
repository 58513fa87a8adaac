//! Excerpts of an HTML report: the files with shown places, and the lines around those places.

use std::collections::BTreeSet;

use blocklint_core::Place;
use camino::Utf8Path;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::{RenderInput, Sources};

/// The number of lines that are shown above and below a place.
const CONTEXT_LINES: usize = 4;
/// The maximal number of shown lines of a place. A call may have hundreds.
const MOST_LINES: usize = 12;
/// The maximal number of shown characters of a line. A generated file may be one line of megabytes.
const MOST_CHARACTERS: usize = 400;

/// A file with the lines that the report shows.
#[derive(Serialize)]
pub(super) struct File<'a> {
    /// The path with `/`, relative to the project root if the file is below it.
    path: String,
    language: &'static str,
    /// Runs of lines: the number of the first line, from 0, and the lines.
    excerpts: Vec<(usize, Vec<&'a str>)>,
}

/// A place: the number of its file, its line in the text (from 0), then row, column, end row, end column (from 1) and
/// cell.
#[derive(Clone, Copy, Serialize)]
pub(super) struct PlaceData(u32, u32, u32, u32, u32, u32, Option<u32>);

/// Collects the files and lines of the places that a report shows.
pub(super) struct Excerpts<'a> {
    input: &'a RenderInput<'a>,
    root: &'a Utf8Path,
    numbers: FxHashMap<&'a Utf8Path, usize>,
    files: Vec<(&'a Utf8Path, BTreeSet<usize>)>,
}

impl<'a> Excerpts<'a> {
    pub(super) fn new(input: &'a RenderInput<'a>, root: &'a Utf8Path) -> Self {
        Excerpts { input, root, numbers: FxHashMap::default(), files: Vec::new() }
    }

    /// Adds a file if it is new, and returns its number.
    pub(super) fn add_file(&mut self, path: &'a Utf8Path) -> usize {
        *self.numbers.entry(path).or_insert_with(|| {
            self.files.push((path, BTreeSet::new()));
            self.files.len() - 1
        })
    }

    /// Adds the lines around a place, and returns the place's data.
    pub(super) fn add_place(&mut self, place: &'a Place) -> PlaceData {
        let file = self.add_file(&place.path);
        let sources = self.input.sources;
        let line = sources.line_of(&place.path, place.span.start).unwrap_or(place.start.row.max(1) as usize - 1);
        let last = line + (place.end.row.saturating_sub(place.start.row) as usize).min(MOST_LINES);
        self.files[file].1.extend(line.saturating_sub(CONTEXT_LINES)..=last + CONTEXT_LINES);
        let (start, end) = (place.start, place.end);
        PlaceData(file as u32, line as u32, start.row, start.column, end.row, end.column, place.cell)
    }

    /// Returns the files, in the order of their numbers.
    pub(super) fn into_files(self) -> Vec<File<'a>> {
        let (sources, root) = (self.input.sources, self.root);
        let file = |(path, lines): (&'a Utf8Path, BTreeSet<usize>)| File {
            path: path.strip_prefix(root).unwrap_or(path).as_str().replace('\\', "/"),
            language: match path.extension() {
                Some("rs") => "rust",
                Some("java") => "java",
                _ => "python",
            },
            excerpts: runs_of_lines(path, &lines, sources),
        };
        self.files.into_iter().map(file).collect()
    }
}

/// Returns the lines of a file in runs of consecutive lines, each with the number of its first line.
fn runs_of_lines<'a>(path: &Utf8Path, lines: &BTreeSet<usize>, sources: &'a Sources) -> Vec<(usize, Vec<&'a str>)> {
    let mut runs: Vec<(usize, Vec<&str>)> = Vec::new();
    for &number in lines {
        let Some(line) = sources.line(path, number) else { break };
        let line = if number == 0 { line.trim_start_matches('\u{feff}') } else { line };
        let end = line.char_indices().nth(MOST_CHARACTERS).map_or(line.len(), |(index, _)| index);
        match runs.last_mut() {
            Some((first, run)) if *first + run.len() == number => run.push(&line[..end]),
            _ => runs.push((number, vec![&line[..end]])),
        }
    }
    runs
}
