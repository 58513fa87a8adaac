//! The texts of files with findings, and the rows and columns of places in them. Reads only files in which a shown
//! finding has a place.

use std::sync::Arc;

use blocklint_core::{Finding, Location, Place, Span};
use blocklint_output::{CellStart, Plan, Sources};
use blocklint_project::Project;
use camino::Utf8Path;

use crate::choose::Chosen;
use crate::extraction::decode;

/// Computes rows and columns of all places of the findings, their traces and causes, and returns the texts that it read
/// for this. Places of a file that cannot be read any more are put at the start of the file.
pub fn locate(project: &Project, chosen: &mut Chosen) -> Sources {
    locate_in(project, chosen, Sources::default())
}

/// Computes rows and columns as [`locate`] does; `sources` has texts that are known already.
pub fn locate_in(project: &Project, chosen: &mut Chosen, mut sources: Sources) -> Sources {
    let group_places = chosen.groups.iter_mut().filter_map(|group| group.cause.as_mut()).map(|cause| &mut cause.place);
    let findings = chosen.findings.iter_mut().chain(&mut chosen.suppressed).chain(&mut chosen.minor);
    for place in findings.flat_map(places_of_finding).chain(group_places) {
        locate_one(project, place, &mut sources);
    }
    sources
}

/// Computes rows and columns of the places of a plan.
pub fn locate_plan(project: &Project, plan: &mut Plan, sources: &mut Sources) {
    for place in crate::plan::places_of_plan(plan) {
        locate_one(project, place, sources);
    }
}

/// Computes rows and columns of one place.
pub(crate) fn locate_one(project: &Project, place: &mut Place, sources: &mut Sources) {
    if !sources.contains(&place.path)
        && let Some((text, cells)) = text_of(project, &place.path)
    {
        sources.insert_cells(Arc::clone(&place.path), text, cells);
    }
    if !sources.locate(place) {
        (place.start, place.end) = (Location { row: 1, column: 1 }, Location { row: 1, column: 1 });
    }
}

/// Returns the span of a line, without its line break; `None` if the text has fewer lines. The first line is 1.
pub(crate) fn line_span(text: &str, line: u32) -> Option<Span> {
    let mut start = 0;
    let mut row = 1;
    while row < line {
        let text_after = text.get(start..)?;
        let end = text_after.find(['\n', '\r'])?;
        start += end + if text_after[end..].starts_with("\r\n") { 2 } else { 1 };
        row += 1;
    }
    let text_after = text.get(start..)?;
    let length = text_after.find(['\n', '\r']).unwrap_or(text_after.len());
    Some(Span::new(start as u32, (start + length) as u32))
}

/// Returns the text of a file of the project, which the spans of its facts index, and the starts of a notebook's cells.
pub(crate) fn text_of(project: &Project, path: &Utf8Path) -> Option<(Arc<str>, Vec<CellStart>)> {
    let file = project.file_at(path)?;
    Some(decode(file, file.read(project.configuration.max_file_size).ok()?))
}

/// Returns all places of a finding: its own, and those of its trace, causes, fix and reasons.
pub(crate) fn places_of_finding(finding: &mut Finding) -> impl Iterator<Item = &mut Place> {
    let edits = finding.fix.iter_mut().flat_map(|fix| fix.edits.iter_mut().map(|edit| &mut edit.place));
    let reasons = finding.reasons.iter_mut().filter_map(|reason| reason.place.as_mut());
    let entries = finding.reached_by.iter_mut().map(|entry| &mut entry.place);
    let steps = finding.trace.iter_mut().map(|step| &mut step.place);
    let steps = steps.chain(finding.held_by.iter_mut().map(|step| &mut step.place));
    let causes = finding.causes.iter_mut().map(|cause| &mut cause.place);
    let unfixed = finding.unfixed.iter_mut().filter_map(|refusal| refusal.place.as_mut());
    std::iter::once(&mut finding.place)
        .chain(unfixed)
        .chain(steps)
        .chain(causes)
        .chain(edits)
        .chain(reasons)
        .chain(entries)
}

#[cfg(test)]
mod tests {
    use super::{Span, line_span};

    #[test]
    fn line_span_knows_each_kind_of_line_break() {
        let text = "a\r\nbb\rc\n";
        let lines = (1..=5).map(|line| line_span(text, line)).collect::<Vec<_>>();
        let span = |start, end| Some(Span::new(start, end));
        assert_eq!(lines, [span(0, 1), span(3, 5), span(6, 7), span(8, 8), None]);
    }
}
