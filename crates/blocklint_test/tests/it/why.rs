//! `blocklint why` explains every line that `blocklint check` reports, for all rules and levels.

use std::fs;
use std::sync::Mutex;

use blocklint_core::{Confidence, Severity};
use blocklint_engine::{
    AskedLine, CommentChecks, ExplainRequest, Levels, Options, Progress, RuleArguments, Rules, Step, analyse, choose,
    explain, load_models, locate,
};
use blocklint_project::{Request, discover};
use blocklint_test::{Project, parse_document};
use camino::{Utf8Path, Utf8PathBuf};

/// A [`Progress`] that shows nothing.
struct Unwatched;

impl Progress for Unwatched {
    fn begin(&self, _: Step, _: usize) {}
    fn advance(&self) {}
}

/// Returns the pages of all rules and the documents of their fixtures.
fn documents() -> Vec<Utf8PathBuf> {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = [root.join("rules"), root.join("tests/fixtures/rules")];
    let entries = folders.iter().flat_map(|folder| folder.read_dir_utf8().expect("a folder of documents"));
    let mut paths: Vec<Utf8PathBuf> = entries.map(|entry| entry.expect("an entry").into_path()).collect();
    paths.retain(|path| path.extension() == Some("md"));
    paths.sort();
    paths
}

/// Returns the findings of a section that are missing in the explanation of their line, and the number of all findings.
fn unnamed(section: &Project) -> (Vec<String>, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8PathBuf::from_path_buf(folder.path().canonicalize().expect("it exists")).expect("UTF-8");
    for file in &section.files {
        let path = root.join(&file.path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(&path, &file.contents).expect("written");
    }
    let paths = [root.clone()];
    let Ok(project) = discover(Request { current: &root, paths: &paths, isolated: false }) else {
        return (Vec::new(), 0);
    };
    let models = load_models(&project, &root).expect("models");
    let arguments = RuleArguments { select: &["ALL".to_owned()], extend_select: &[], ignore: &[] };
    let rules = Rules::new(&project.configuration, arguments, &root).expect("rules");
    let levels = Levels { severity: Severity::Note, confidence: Confidence::Low };
    let options =
        Options { comments: CommentChecks::new(&project, &rules.selection), ..Options::new(levels.confidence) };
    let mut report = analyse(&project, &models, options).expect("an analysis");
    rules.suppress_per_file(&mut report.findings);
    let mut chosen = choose(report.findings, report.groups, &rules.selection, levels);
    locate(&project, &mut chosen);
    let file_of = |path: &Utf8Path| project.files.iter().position(|file| *file.path == *path).expect("a file");
    let lines: Vec<AskedLine> = chosen
        .findings
        .iter()
        .map(|finding| AskedLine {
            file: file_of(&finding.place.path),
            cell: finding.place.cell,
            line: finding.place.start.row,
        })
        .collect();
    let explained = explain(&ExplainRequest {
        project: &project,
        models: &models,
        rules: &rules,
        levels,
        options: Options { records_reasons: true, ..options },
        lines: &lines,
        remove_known: &|_| Vec::new(),
        progress: &Unwatched,
    });
    let (explained, _) = explained.expect("an explanation");
    let missed = chosen.findings.iter().zip(&explained).filter_map(|(finding, line)| {
        let is_named = line.as_ref().is_some_and(|line| {
            line.findings.iter().any(|one| {
                one.finding.rule == finding.rule
                    && one.finding.place == finding.place
                    && one.part.is_none()
                    && one.hidden.is_none()
                    && (one.finding.severity, one.finding.confidence) == (finding.severity, finding.confidence)
            })
        });
        let is_explained = finding.confidence == Confidence::High
            || line.as_ref().is_some_and(|line| {
                line.findings.iter().any(|one| {
                    one.finding.rule == finding.rule && !(one.doubts.is_empty() && one.finding.reasons.is_empty())
                })
            });
        let at = format!(
            "{}: {}: {}:{} {}",
            section.origin, section.name, finding.place.path, finding.place.start.row, finding.rule
        );
        match (is_named, is_explained) {
            (true, true) => None,
            (true, false) => Some(format!("{at}: nothing says why it is not sure")),
            (false, _) => Some(at),
        }
    });
    (missed.collect(), chosen.findings.len())
}

#[test]
fn every_finding_of_every_rule_is_named_on_its_line() {
    let sections: Vec<Project> = documents()
        .iter()
        .flat_map(|path| parse_document(path, &fs::read_to_string(path).expect("a document")).projects)
        .collect();
    let queue = Mutex::new(sections.iter());
    let found = Mutex::new((Vec::new(), 0));
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(section) = { queue.lock().expect("a queue").next() } {
                    let (missed, count) = unnamed(section);
                    let mut found = found.lock().expect("a list");
                    found.0.extend(missed);
                    found.1 += count;
                }
            });
        }
    });
    let (missed, count) = found.into_inner().expect("a list");
    assert!(missed.is_empty(), "{} of {count} findings:\n{}", missed.len(), missed.join("\n"));
    assert!(count > 300, "only {count} findings were asked about");
}
