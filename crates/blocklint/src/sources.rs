//! The texts that findings are shown with, read only for the files that are shown.

use std::sync::Arc;

use blocklint_core::{Finding, Location, Place};
use blocklint_output::Sources;
use blocklint_project::{Project, read};
use camino::Utf8Path;

use crate::choose::Chosen;
use crate::extraction::decode;

/// Reads the files in which these findings, their traces and causes lie, and computes rows and
/// columns of all their places. A file that cannot be read any more leaves its places at its start.
pub(crate) fn locate(project: &Project, chosen: &mut Chosen) -> Sources {
    let mut sources = Sources::default();
    let of_groups = chosen.groups.iter_mut().filter_map(|group| group.cause.as_mut()).map(|cause| &mut cause.place);
    for place in chosen.findings.iter_mut().flat_map(places).chain(of_groups) {
        locate_one(project, place, &mut sources);
    }
    sources
}

/// Computes rows and columns of a place.
fn locate_one(project: &Project, place: &mut Place, sources: &mut Sources) {
    if !sources.contains(&place.path) {
        let text = text_of(project, &place.path);
        if let Some(text) = text {
            sources.insert(Arc::clone(&place.path), text);
        }
    }
    match sources.get(&place.path) {
        Some(text) => place.locate(text),
        None => (place.start, place.end) = (Location { row: 1, column: 1 }, Location { row: 1, column: 1 }),
    }
}

fn text_of(project: &Project, path: &Utf8Path) -> Option<Arc<str>> {
    let at = project.files.binary_search_by(|file| (*file.path).cmp(path)).ok()?;
    let bytes = read(path, project.configuration.max_file_size).ok()?;
    Some(decode(project.files.get(at)?.language, bytes))
}

fn places(finding: &mut Finding) -> impl Iterator<Item = &mut Place> {
    let edits = finding.fix.iter_mut().flat_map(|fix| fix.edits.iter_mut().map(|edit| &mut edit.place));
    let steps = finding.trace.iter_mut().map(|step| &mut step.place);
    let causes = finding.causes.iter_mut().map(|cause| &mut cause.place);
    std::iter::once(&mut finding.place).chain(steps).chain(causes).chain(edits)
}
