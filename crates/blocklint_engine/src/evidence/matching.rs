//! Which finding a stall shows: its stack leads through the line at which the finding stands to the line of one of its causes.
//!
//! The line of the cause must be the innermost one of the project: where the stack goes on in the project, another call holds the
//! thread. Paths are those of the machine on which the program ran, so that only their ends are compared.

use std::collections::{BTreeSet, HashMap};

use blocklint_core::{Confirmed, Finding, Place, last_name};
use blocklint_project::Project;

use super::{Frame, Stall, Weighed};
use crate::choose::Chosen;

/// So many tests of a finding are named.
const MOST_TESTS: usize = 20;
/// A call that spans more lines is known by its first ones.
const MOST_ROWS: u32 = 100;
/// Below these folders lie libraries, and a project that was installed there.
const INSTALLED: [&str; 2] = ["site-packages", "dist-packages"];

/// A file of the project, by its index.
type FileIndex = u32;

/// Marks the findings that these stalls show.
pub(super) fn weigh(stalls: &[Stall], chosen: &mut Chosen, project: &Project) -> Weighed {
    let mut files = Files::new(project);
    let places = Places::new(&chosen.findings, &files);
    let mut weighed = Weighed::default();
    for stall in stalls {
        weighed.all += stall.times;
        let (shown, exact) = match &stall.frames[..] {
            [only] if only.line.is_none() => (places.of_function(only, &mut files), false),
            frames => (places.of_stack(frames, &mut files, &chosen.findings), true),
        };
        if !shown.is_empty() {
            weighed.explained += stall.times;
        }
        for index in shown {
            mark(&mut chosen.findings[index as usize], stall, exact);
        }
    }
    weighed
}

fn mark(finding: &mut Finding, stall: &Stall, exact: bool) {
    let known = finding.confirmed.get_or_insert_default();
    if exact && !known.exact {
        // The time of the call itself is more precise than the time of its function.
        *known = Confirmed { exact, ..Confirmed::default() };
    } else if known.exact && !exact {
        return;
    }
    known.seconds = match (known.seconds, stall.seconds) {
        (Some(before), Some(now)) => Some(before.max(now)),
        (before, now) => before.or(now),
    };
    known.times += stall.times;
    if let Some(test) = &stall.test
        && known.tests.len() < MOST_TESTS
        && !known.tests.contains(test)
    {
        known.tests.push(test.clone());
    }
}

/// The project's files by the end of their paths.
struct Files<'p> {
    project: &'p Project,
    by_name: HashMap<&'p str, Vec<FileIndex>>,
    /// The files that match each path, as a cache.
    known: HashMap<String, Vec<FileIndex>>,
}

impl<'p> Files<'p> {
    fn new(project: &'p Project) -> Self {
        let mut by_name: HashMap<&str, Vec<FileIndex>> = HashMap::new();
        for (index, file) in (0u32..).zip(&project.files) {
            by_name.entry(file.relative.file_name().unwrap_or_default()).or_default().push(index);
        }
        Files { project, by_name, known: HashMap::new() }
    }

    /// Returns the file of a place of a finding.
    fn of_place(&self, place: &Place) -> Option<FileIndex> {
        // In a notebook rows count from the cell, which no stack names.
        let found = self.project.file_index(&place.path);
        found.filter(|_| place.cell.is_none()).map(|at| at as FileIndex)
    }

    /// Returns the files that a path may mean: that which is so called, else those whose paths end as it does.
    fn meant(&mut self, path: &str) -> &[FileIndex] {
        if !self.known.contains_key(path) {
            let meant = self.look_up(path);
            self.known.insert(path.to_owned(), meant);
        }
        self.known.get(path).map_or(&[], Vec::as_slice)
    }

    fn look_up(&self, path: &str) -> Vec<FileIndex> {
        let written = path.replace('\\', "/");
        let parts: Vec<&str> = written.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let installed = parts.iter().rposition(|part| INSTALLED.contains(part));
        let is_of_python = parts.iter().any(|part| {
            part.strip_prefix("python").is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
        });
        let named = parts.last().and_then(|name| self.by_name.get(name)).map_or(&[][..], Vec::as_slice);
        let mut best = (0, Vec::new());
        for &index in named {
            let file = &self.project.files[index as usize];
            if file.path.as_str() == path {
                return vec![index];
            }
            let own: Vec<&str> = file.relative.as_str().split('/').collect();
            let common = own.iter().rev().zip(parts.iter().rev()).take_while(|(a, b)| a == b).count();
            let ends = match installed {
                // Below the folder of libraries a path begins with the package: all of it counts.
                Some(at) => common == parts.len() - at - 1 && common > 1,
                // The interpreter's own files.
                None if is_of_python => false,
                None => common == own.len() || common == parts.len() || common > 1,
            };
            if ends && common >= best.0 {
                if common > best.0 {
                    best = (common, Vec::new());
                }
                best.1.push(index);
            }
        }
        best.1
    }
}

/// Where findings stand, and where their causes do.
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
            let Some(file) = files.of_place(&finding.place) else { continue };
            for row in rows(&finding.place) {
                places.findings.entry((file, row)).or_default().push(index);
            }
            places.functions.entry((file, last_name(&finding.function).to_owned())).or_default().push(index);
            for cause in &finding.causes {
                let Some(file) = files.of_place(&cause.place) else { continue };
                for row in rows(&cause.place) {
                    places.causes.entry((file, row)).or_default().insert(index);
                }
            }
        }
        places
    }

    /// Returns the findings in a function: the evidence knows no more.
    fn of_function(&self, frame: &Frame, files: &mut Files<'_>) -> BTreeSet<u32> {
        let name = last_name(&frame.function);
        let meant = files.meant(&frame.path);
        meant.iter().filter_map(|file| self.functions.get(&(*file, name.to_owned()))).flatten().copied().collect()
    }

    /// Returns the findings whose way is on the stack.
    fn of_stack(&self, frames: &[Frame], files: &mut Files<'_>, findings: &[Finding]) -> BTreeSet<u32> {
        let mut lines: Vec<Vec<(FileIndex, u32)>> = Vec::with_capacity(frames.len());
        for frame in frames {
            let line = frame.line.unwrap_or(0);
            lines.push(files.meant(&frame.path).iter().map(|file| (*file, line)).collect());
        }
        let Some(innermost) = lines.iter().rposition(|line| !line.is_empty()) else { return BTreeSet::new() };
        let behind: BTreeSet<u32> =
            lines[innermost].iter().filter_map(|at| self.causes.get(at)).flatten().copied().collect();
        let passed = lines[..=innermost].iter().flatten().filter_map(|at| self.findings.get(at)).flatten();
        let shown: BTreeSet<u32> = passed.copied().filter(|index| behind.contains(index)).collect();
        // Of several calls in one line the one that the stack continues with, if it shows that.
        let Some(entered) = frames.get(innermost + 1) else { return shown };
        let enters = |index: &u32| {
            let causes = findings[*index as usize].causes.iter();
            causes.into_iter().any(|cause| last_name(&cause.call) == last_name(&entered.function))
        };
        let named: BTreeSet<u32> = shown.iter().copied().filter(enters).collect();
        if named.is_empty() { shown } else { named }
    }
}

/// Returns the rows of a place.
fn rows(place: &Place) -> std::ops::RangeInclusive<u32> {
    place.start.row..=place.end.row.min(place.start.row.saturating_add(MOST_ROWS))
}
