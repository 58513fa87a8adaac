//! Matches stalls with findings. A stall confirms a finding if its stack contains the line of the finding and, further
//! inside, the line of one of its causes.
//!
//! The line of the cause must be the innermost line of the project on the stack. Otherwise another call of the project
//! holds the thread. Paths are those of the machine on which the program ran, so only their ends are compared.

use std::collections::{BTreeSet, HashMap};

use blocklint_core::{Confirmed, Finding, Place, last_name};
use blocklint_project::Project;

use super::{EvidenceCounts, Frame, Stall};
use crate::choose::Chosen;

/// The greatest number of tests that a finding lists.
const MAX_TESTS: usize = 20;
/// The greatest number of rows of a call that are compared with stacks.
const MAX_ROWS: u32 = 100;
/// Folders with installed libraries; the project itself may be installed in one.
const INSTALLED: [&str; 2] = ["site-packages", "dist-packages"];

/// A file of the project, by its index.
type FileIndex = u32;

/// Marks the findings that these stalls confirm, and returns the numbers of stalls.
pub(super) fn mark_confirmed(stalls: &[Stall], chosen: &mut Chosen, project: &Project) -> EvidenceCounts {
    let mut files = Files::new(project);
    let places = Places::new(&chosen.findings, &files);
    let mut counts = EvidenceCounts::default();
    for stall in stalls {
        counts.all += stall.times;
        let (confirmed, exact) = match &stall.frames[..] {
            [only] if only.line.is_none() => (places.findings_in_function(only, &mut files), false),
            frames => (places.findings_on_stack(frames, &mut files, &chosen.findings), true),
        };
        if !confirmed.is_empty() {
            counts.explained += stall.times;
        }
        for index in confirmed {
            add_confirmation(&mut chosen.findings[index as usize], stall, exact);
        }
    }
    counts
}

/// Adds a stall to the confirmation of a finding. `exact` is true if the call itself was observed, not only its
/// function.
fn add_confirmation(finding: &mut Finding, stall: &Stall, exact: bool) {
    let confirmed = finding.confirmed.get_or_insert_default();
    if exact && !confirmed.exact {
        // The time of the call replaces times of its function, because it is more precise.
        *confirmed = Confirmed { exact, ..Confirmed::default() };
    } else if confirmed.exact && !exact {
        return;
    }
    confirmed.seconds = match (confirmed.seconds, stall.seconds) {
        (Some(before), Some(now)) => Some(before.max(now)),
        (before, now) => before.or(now),
    };
    confirmed.times += stall.times;
    if let Some(test) = &stall.test
        && confirmed.tests.len() < MAX_TESTS
        && !confirmed.tests.contains(test)
    {
        confirmed.tests.push(test.clone());
    }
}

/// The files of the project, looked up by the paths in stacks.
struct Files<'p> {
    project: &'p Project,
    by_name: HashMap<&'p str, Vec<FileIndex>>,
    /// The files that match each path that was looked up.
    matches: HashMap<String, Vec<FileIndex>>,
}

impl<'p> Files<'p> {
    fn new(project: &'p Project) -> Self {
        let mut by_name: HashMap<&str, Vec<FileIndex>> = HashMap::new();
        for (index, file) in (0u32..).zip(&project.files) {
            by_name.entry(file.relative.file_name().unwrap_or_default()).or_default().push(index);
        }
        Files { project, by_name, matches: HashMap::new() }
    }

    /// Returns the file of a place; `None` in a notebook, because its rows count from a cell, and stacks name no cells.
    fn file_of_place(&self, place: &Place) -> Option<FileIndex> {
        let index = self.project.file_index(&place.path);
        index.filter(|_| place.cell.is_none()).map(|index| index as FileIndex)
    }

    /// Returns the files to which a path may refer: the file with this path, else those with the longest common end.
    fn matching(&mut self, path: &str) -> &[FileIndex] {
        if !self.matches.contains_key(path) {
            let files = self.look_up(path);
            self.matches.insert(path.to_owned(), files);
        }
        self.matches.get(path).map_or(&[], Vec::as_slice)
    }

    fn look_up(&self, path: &str) -> Vec<FileIndex> {
        let written = path.replace('\\', "/");
        let parts: Vec<&str> = written.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let installed = parts.iter().rposition(|part| INSTALLED.contains(part));
        let is_in_interpreter = parts.iter().any(|part| {
            part.strip_prefix("python").is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
        });
        let with_name = parts.last().and_then(|name| self.by_name.get(name)).map_or(&[][..], Vec::as_slice);
        let mut best = (0, Vec::new());
        for &index in with_name {
            let file = &self.project.files[index as usize];
            if file.path.as_str() == path {
                return vec![index];
            }
            let path_segments: Vec<&str> = file.relative.as_str().split('/').collect();
            let common = path_segments.iter().rev().zip(parts.iter().rev()).take_while(|(a, b)| a == b).count();
            let is_match = match installed {
                // In a folder of libraries the path begins with the package, and all of it must match.
                Some(index) => common == parts.len() - index - 1 && common > 1,
                // The standard library.
                None if is_in_interpreter => false,
                None => common == path_segments.len() || common == parts.len() || common > 1,
            };
            if is_match && common >= best.0 {
                if common > best.0 {
                    best = (common, Vec::new());
                }
                best.1.push(index);
            }
        }
        best.1
    }
}

/// The findings by the file and row of their place and of their causes, and by function.
#[derive(Default)]
struct Places {
    findings: HashMap<(FileIndex, u32), Vec<u32>>,
    causes: HashMap<(FileIndex, u32), BTreeSet<u32>>,
    functions: HashMap<(FileIndex, String), Vec<u32>>,
}

impl Places {
    fn new(findings: &[Finding], files: &Files<'_>) -> Self {
        let mut places = Places::default();
        for (index, finding) in (0u32..).zip(findings) {
            let Some(file) = files.file_of_place(&finding.place) else { continue };
            for row in rows(&finding.place) {
                places.findings.entry((file, row)).or_default().push(index);
            }
            places.functions.entry((file, last_name(&finding.function).to_owned())).or_default().push(index);
            for cause in &finding.causes {
                let Some(file) = files.file_of_place(&cause.place) else { continue };
                for row in rows(&cause.place) {
                    places.causes.entry((file, row)).or_default().insert(index);
                }
            }
        }
        places
    }

    /// Returns the findings in a function, for evidence that names no line.
    fn findings_in_function(&self, frame: &Frame, files: &mut Files<'_>) -> BTreeSet<u32> {
        let name = last_name(&frame.function);
        let matching = files.matching(&frame.path);
        matching.iter().filter_map(|file| self.functions.get(&(*file, name.to_owned()))).flatten().copied().collect()
    }

    /// Returns the findings whose line is on the stack, and one of whose causes is the innermost line of the project.
    fn findings_on_stack(&self, frames: &[Frame], files: &mut Files<'_>, findings: &[Finding]) -> BTreeSet<u32> {
        let mut lines: Vec<Vec<(FileIndex, u32)>> = Vec::with_capacity(frames.len());
        for frame in frames {
            let line = frame.line.unwrap_or(0);
            lines.push(files.matching(&frame.path).iter().map(|file| (*file, line)).collect());
        }
        let Some(innermost) = lines.iter().rposition(|line| !line.is_empty()) else { return BTreeSet::new() };
        let with_cause: BTreeSet<u32> =
            lines[innermost].iter().filter_map(|line| self.causes.get(line)).flatten().copied().collect();
        let on_stack = lines[..=innermost].iter().flatten().filter_map(|line| self.findings.get(line)).flatten();
        let matching: BTreeSet<u32> = on_stack.copied().filter(|index| with_cause.contains(index)).collect();
        // If several calls are on the line, the next frame shows which one was entered.
        let Some(entered) = frames.get(innermost + 1) else { return matching };
        let enters = |index: &u32| {
            let causes = findings[*index as usize].causes.iter();
            causes.into_iter().any(|cause| last_name(&cause.call) == last_name(&entered.function))
        };
        let entering: BTreeSet<u32> = matching.iter().copied().filter(enters).collect();
        if entering.is_empty() { matching } else { entering }
    }
}

/// Returns the rows of a place, at most [`MAX_ROWS`] after its first.
fn rows(place: &Place) -> std::ops::RangeInclusive<u32> {
    place.start.row..=place.end.row.min(place.start.row.saturating_add(MAX_ROWS))
}
