//! Checks the rows of model files against the libraries themselves: every path must exist, be what the row states, and
//! have the arguments that the row names.
//!
//! Libraries are read, with blocklint's own front ends, and never imported or run. Reading recurses as deep as the
//! sources do: run [`verify`] on a thread with a large stack.

mod java;
mod python;
mod report;
mod rows;

use blocklint_core::Language;
use blocklint_models::{File, Models, Path, Version, VersionRange};
use camino::Utf8PathBuf;

pub use report::{Problem, VerifyReport};

use crate::report::Found;
use crate::rows::RowView;

/// One version of a library, extracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractedLibrary {
    /// Its version, as the registry writes it; empty if it is not known.
    pub version: String,
    /// The folders in which its modules, crates or classes lie.
    pub folders: Vec<Utf8PathBuf>,
}

/// Where the library of a model, and what it rests on, was extracted to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibrarySources {
    /// The library, the version to check first; others are for rows that describe other versions.
    pub versions: Vec<ExtractedLibrary>,
    /// Older ones, for names that the library has no more. Only such a version can be meant by who calls them, so that
    /// their rows need not say which.
    pub older: Vec<ExtractedLibrary>,
    /// Further packages: stubs, and libraries that bases and aliases lead to.
    pub with: Vec<Utf8PathBuf>,
    /// The language's own library, looked at last.
    pub standard: Option<Utf8PathBuf>,
}

impl LibrarySources {
    /// Returns every extracted version, older ones last.
    fn all(&self) -> impl Iterator<Item = &ExtractedLibrary> {
        self.versions.iter().chain(&self.older)
    }
}

/// Looks up one path of a row; gives what does not hold of it.
trait Check {
    fn path(&self, row: RowView<'_>, path: &Path, found: &mut Found) -> Vec<String>;
}

impl Check for python::Checker<'_> {
    fn path(&self, row: RowView<'_>, path: &Path, found: &mut Found) -> Vec<String> {
        python::Checker::path(self, row, path, found)
    }
}

impl Check for java::Checker<'_> {
    fn path(&self, row: RowView<'_>, path: &Path, found: &mut Found) -> Vec<String> {
        java::Checker::path(self, row, path, found)
    }
}

/// Checks one model file.
pub fn verify(model: &File, places: &LibrarySources) -> VerifyReport {
    match model.info.language {
        Language::Python => verify_python(model, places),
        Language::Java => verify_java(model, places),
        Language::Rust => VerifyReport::default(),
    }
}

fn verify_java(model: &File, places: &LibrarySources) -> VerifyReport {
    let builtin = Models::builtin();
    let others = || places.with.iter().chain(&places.standard).cloned();
    let classes: Vec<java::Classes> = places.all().map(|of| java::Classes::new(&of.folders, others())).collect();
    let known = builtin.lang(Language::Java);
    let checkers: Vec<java::Checker<'_>> =
        classes.iter().map(|classes| java::Checker::new(classes, known, model)).collect();
    let mut report = check_rows(model, places, &checkers);
    if let Some(first) = checkers.first() {
        add_aliases(&mut report, model, |left, right| first.alias(left, right));
    }
    report
}

fn verify_python(model: &File, places: &LibrarySources) -> VerifyReport {
    // The package is linked as a program without models: they are what is checked.
    let no_models = match Models::only(&[]) {
        Ok(none) => none,
        Err(why) => {
            let problem = Problem { line: 1, path: String::new(), message: why.to_string() };
            return VerifyReport { problems: vec![problem], ..VerifyReport::default() };
        }
    };
    let packages: Vec<python::Package> = places
        .all()
        .map(|of| {
            let folders: Vec<Utf8PathBuf> = of.folders.iter().chain(&places.with).cloned().collect();
            python::Package::read(&folders, places.standard.as_deref(), &rows::paths_of(model))
        })
        .collect();
    let programs: Vec<_> = packages.iter().map(python::Package::program).collect();
    let pairs = packages.iter().zip(&programs);
    let sources: Vec<python::Sources<'_>> =
        pairs.map(|(package, program)| python::Sources::new(package, program, &no_models)).collect();
    let checkers: Vec<python::Checker<'_>> =
        sources.iter().map(|sources| python::Checker::new(sources, &model.calls)).collect();
    let mut report = check_rows(model, places, &checkers);
    if let Some(first) = checkers.first() {
        add_aliases(&mut report, model, |left, right| first.alias(left, right));
    }
    report
}

/// Adds what does not hold of the aliases.
fn add_aliases(report: &mut VerifyReport, model: &File, wrong: impl Fn(&str, &str) -> Option<String>) {
    for (left, right, line) in &model.aliases {
        if let Some(message) = wrong(left, right) {
            report.problems.push(Problem { line: *line, path: left.clone(), message });
        }
    }
    report.problems.sort();
}

fn check_rows<C: Check>(model: &File, places: &LibrarySources, checkers: &[C]) -> VerifyReport {
    let mut report = VerifyReport {
        library: model.info.libraries.first().cloned().unwrap_or_default(),
        version: places.versions.first().map(|of| of.version.clone()).unwrap_or_default(),
        ..VerifyReport::default()
    };
    let calls = model.calls.iter().map(|entry| (RowView::Call(&entry.row), &entry.paths));
    let types = model.types.iter().map(|entry| (RowView::Type(&entry.row), &entry.paths));
    let handovers = model.handovers.iter().map(|entry| (RowView::Handover(&entry.row), &entry.paths));
    let mut found = Found::default();
    for (row, paths) in calls.chain(types).chain(handovers) {
        report.rows += 1;
        let version = version_for(row.version(), places);
        for path in paths {
            if row.is_unchecked() {
                (report.exempt, report.unchecked) = (report.exempt + 1, report.unchecked + 1);
                continue;
            }
            if path.text.contains('<') && !path.text.starts_with('<') {
                report.exempt += 1;
                continue;
            }
            let Some(checker) = version.and_then(|at| checkers.get(at)) else {
                let range = row.version().map_or_else(String::new, VersionRange::to_string);
                if !report.needs.contains(&range) {
                    report.needs.push(range);
                }
                continue;
            };
            report.checked += 1;
            let messages = checker.path(row, path, &mut found);
            let older = places.older.iter().zip(checkers.iter().skip(places.versions.len()));
            let holds =
                |(_, checker): &(&ExtractedLibrary, &C)| checker.path(row, path, &mut Found::default()).is_empty();
            if !messages.is_empty()
                && row.version().is_none()
                && let Some((of, _)) = older.into_iter().find(holds)
            {
                report.gone.push((path.text.clone(), of.version.clone()));
                continue;
            }
            let problem = |message| Problem { line: path.line, path: path.text.clone(), message };
            report.problems.extend(messages.into_iter().map(problem));
        }
    }
    report.expansions = found.expansions;
    report.problems.sort();
    report
}

/// Which of the extracted versions a row describes: the first that lies in its range.
fn version_for(range: Option<&VersionRange>, places: &LibrarySources) -> Option<usize> {
    let Some(range) = range else { return (!places.versions.is_empty()).then_some(0) };
    places
        .versions
        .iter()
        .position(|of| Version::parse_loose(&of.version).is_some_and(|known| range.holds(Some(&known))))
}
