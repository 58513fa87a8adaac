//! `blocklint models verify`: checks the rows of model files against the sources or class files of their libraries.
//! Every path must exist, must be a definition of the kind that the row describes, and must have the arguments in the
//! row.
//!
//! Libraries are parsed by blocklint's own front ends, and never imported or run. The parsers recurse as deeply as the
//! sources are nested: run [`verify`] on a thread with a large stack.

mod java;
mod python;
mod report;
mod rows;

use blocklint_core::Language;
use blocklint_models::{File, Models, Path, Version, VersionRange};
use camino::Utf8PathBuf;

pub use report::{Problem, VerifyReport};

use crate::report::GlobExpansions;
use crate::rows::RowView;

/// An extracted version of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractedLibrary {
    /// The version, as the registry writes it; empty if it is unknown.
    pub version: String,
    /// The folders with its modules, crates or classes.
    pub folders: Vec<Utf8PathBuf>,
}

/// The extracted sources of the library of a model, and of its dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibrarySources {
    /// The versions of the library. The first one is checked, the others only for rows that describe another version.
    pub versions: Vec<ExtractedLibrary>,
    /// Older versions, for names that the library no longer has. A row of such a name needs no version, because code
    /// that calls the name must use an older version.
    pub older: Vec<ExtractedLibrary>,
    /// Further packages: stubs, and libraries that bases and aliases refer to.
    pub with: Vec<Utf8PathBuf>,
    /// The standard library of the language, which is searched last.
    pub standard: Option<Utf8PathBuf>,
}

impl LibrarySources {
    /// Returns every extracted version, older ones last.
    fn all(&self) -> impl Iterator<Item = &ExtractedLibrary> {
        self.versions.iter().chain(&self.older)
    }
}

/// The check of a path against one version of a library.
trait PathChecker {
    /// Returns the mistakes of a path of a row, and adds the names that a glob covers to `expansions`.
    fn check_path(&self, row: RowView<'_>, path: &Path, expansions: &mut GlobExpansions) -> Vec<String>;
}

impl PathChecker for python::Checker<'_> {
    fn check_path(&self, row: RowView<'_>, path: &Path, expansions: &mut GlobExpansions) -> Vec<String> {
        python::Checker::check_path(self, row, path, expansions)
    }
}

impl PathChecker for java::Checker<'_> {
    fn check_path(&self, row: RowView<'_>, path: &Path, expansions: &mut GlobExpansions) -> Vec<String> {
        java::Checker::check_path(self, row, path, expansions)
    }
}

/// Checks one model file against its library.
pub fn verify(model: &File, sources: &LibrarySources) -> VerifyReport {
    match model.info.language {
        Language::Python => verify_python(model, sources),
        Language::Java => verify_java(model, sources),
        Language::Rust => VerifyReport::default(),
    }
}

fn verify_java(model: &File, sources: &LibrarySources) -> VerifyReport {
    let builtin = Models::builtin();
    let others = || sources.with.iter().chain(&sources.standard).cloned();
    let classes: Vec<java::Classes> =
        sources.all().map(|library| java::Classes::new(&library.folders, others())).collect();
    let known = builtin.lang(Language::Java);
    let checkers: Vec<java::Checker<'_>> =
        classes.iter().map(|classes| java::Checker::new(classes, known, model)).collect();
    let mut report = check_rows(model, sources, &checkers);
    if let Some(first) = checkers.first() {
        check_aliases(&mut report, model, |left, right| first.check_alias(left, right));
    }
    report
}

fn verify_python(model: &File, sources: &LibrarySources) -> VerifyReport {
    // The package is linked as a program without models, because the models are under test.
    let no_models = match Models::only(&[]) {
        Ok(none) => none,
        Err(why) => {
            let problem = Problem { line: 1, path: String::new(), message: why.to_string() };
            return VerifyReport { problems: vec![problem], ..VerifyReport::default() };
        }
    };
    let packages: Vec<python::Package> = sources
        .all()
        .map(|library| {
            let folders: Vec<Utf8PathBuf> = library.folders.iter().chain(&sources.with).cloned().collect();
            python::Package::read(&folders, sources.standard.as_deref(), &rows::paths_of(model))
        })
        .collect();
    let programs: Vec<_> = packages.iter().map(python::Package::program).collect();
    let pairs = packages.iter().zip(&programs);
    let linked: Vec<python::Sources<'_>> =
        pairs.map(|(package, program)| python::Sources::new(package, program, &no_models)).collect();
    let checkers: Vec<python::Checker<'_>> =
        linked.iter().map(|sources| python::Checker::new(sources, &model.calls)).collect();
    let mut report = check_rows(model, sources, &checkers);
    if let Some(first) = checkers.first() {
        check_aliases(&mut report, model, |left, right| first.check_alias(left, right));
    }
    report
}

/// Adds the mistakes of the model's aliases to the report. `check` returns the mistake of one alias.
fn check_aliases(report: &mut VerifyReport, model: &File, check: impl Fn(&str, &str) -> Option<String>) {
    for (left, right, line) in &model.aliases {
        if let Some(message) = check(left, right) {
            report.problems.push(Problem { line: *line, path: left.clone(), message });
        }
    }
    report.problems.sort();
}

/// Checks every path of every row. `checkers` has one checker for each version of the library, older ones last.
fn check_rows<C: PathChecker>(model: &File, sources: &LibrarySources, checkers: &[C]) -> VerifyReport {
    let mut report = VerifyReport {
        library: model.info.libraries.first().cloned().unwrap_or_default(),
        version: sources.versions.first().map(|library| library.version.clone()).unwrap_or_default(),
        ..VerifyReport::default()
    };
    let calls = model.calls.iter().map(|entry| (RowView::Call(&entry.row), &entry.paths));
    let types = model.types.iter().map(|entry| (RowView::Type(&entry.row), &entry.paths));
    let handovers = model.handovers.iter().map(|entry| (RowView::Handover(&entry.row), &entry.paths));
    let mut expansions = GlobExpansions::default();
    for (row, paths) in calls.chain(types).chain(handovers) {
        report.rows += 1;
        let version = find_version(row.version(), sources);
        for path in paths {
            if row.is_unchecked() {
                (report.exempt, report.unchecked) = (report.exempt + 1, report.unchecked + 1);
                continue;
            }
            if path.text.contains('<') && !path.text.starts_with('<') {
                report.exempt += 1;
                continue;
            }
            let Some(checker) = version.and_then(|index| checkers.get(index)) else {
                let range = row.version().map_or_else(String::new, VersionRange::to_string);
                if !report.needs.contains(&range) {
                    report.needs.push(range);
                }
                continue;
            };
            report.checked += 1;
            let messages = checker.check_path(row, path, &mut expansions);
            let older = sources.older.iter().zip(checkers.iter().skip(sources.versions.len()));
            let has_no_mistake = |(_, checker): &(&ExtractedLibrary, &C)| {
                checker.check_path(row, path, &mut GlobExpansions::default()).is_empty()
            };
            if !messages.is_empty()
                && row.version().is_none()
                && let Some((library, _)) = older.into_iter().find(has_no_mistake)
            {
                report.gone.push((path.text.clone(), library.version.clone()));
                continue;
            }
            let problem = |message| Problem { line: path.line, path: path.text.clone(), message };
            report.problems.extend(messages.into_iter().map(problem));
        }
    }
    report.expansions = expansions.0;
    report.problems.sort();
    report
}

/// Returns the index of the extracted version that a row describes: the first one in its range.
fn find_version(range: Option<&VersionRange>, sources: &LibrarySources) -> Option<usize> {
    let Some(range) = range else { return (!sources.versions.is_empty()).then_some(0) };
    sources
        .versions
        .iter()
        .position(|library| Version::parse_loose(&library.version).is_some_and(|known| range.contains(Some(&known))))
}
