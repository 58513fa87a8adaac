//! Uses of rows: generated source with expected findings, and the run that compares them with the reported ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use blocklint_core::{Confidence, Finding, Hold, Language, Severity};
use blocklint_engine::{Levels, Options, SignalSet, analyse, choose, locate, signal_named};
use blocklint_models::Models;
use blocklint_project::{Request, discover};
use blocklint_rules::Selection;
use camino::{Utf8Path, Utf8PathBuf};

/// A path of a row, displayed as `python/stdlib/io.toml:12 io.IOBase.read`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowPath {
    /// The model file.
    pub label: String,
    /// The line of the row.
    pub line: u32,
    /// The path.
    pub path: String,
}

impl std::fmt::Display for RowPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{} {}", self.label, self.line, self.path)
    }
}

/// The expected finding at a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expected {
    /// No finding whose trace ends in this call.
    Silent {
        /// The path of the call; empty for any call.
        call: String,
    },
    /// A finding.
    Found {
        /// Its rule; empty for any rule.
        rule: &'static str,
        /// Its severity, if it is checked.
        severity: Option<Severity>,
        /// Its hold, if it is checked.
        hold: Option<Hold>,
        /// The end of its trace.
        call: String,
    },
}

/// No finding at all.
pub(crate) fn nothing() -> Expected {
    Expected::Silent { call: String::new() }
}

/// A generated piece of source that uses a row once.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// The row that it uses.
    pub row_path: RowPath,
    /// Lines at the head of the file, such as imports, which uses share.
    pub imports: BTreeSet<String>,
    /// The lines.
    pub lines: Vec<String>,
    /// The index of the line with the expectation.
    pub at: usize,
    /// The expected finding.
    pub expected: Expected,
}

/// A use whose findings differ from the expected ones.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The path of its row.
    pub path: String,
    /// Its row, as text.
    pub(crate) row: String,
    /// The differences, with the source.
    pub text: String,
}

/// Writes the uses as a project (a source file for each model file), analyses it, and returns the differences.
pub(crate) fn differences(uses: &[Use], language: Language, models: &Models) -> Vec<Difference> {
    let folder = tempfile::Builder::new().prefix("blocklint-rows-").tempdir().expect("a folder");
    let root = Utf8PathBuf::from_path_buf(fs::canonicalize(folder.path()).expect("it exists")).expect("it is UTF-8");
    let mut by_file: BTreeMap<Utf8PathBuf, Vec<&Use>> = BTreeMap::new();
    for one in uses {
        by_file.entry(root.join(file_name(&one.row_path.label, language))).or_default().push(one);
    }
    if language == Language::Rust {
        let modules = by_file.keys().filter_map(|path| path.file_stem()).map(|name| {
            format!(
                "pub mod {name};
"
            )
        });
        fs::create_dir_all(root.join("src")).expect("made");
        fs::write(root.join("src/lib.rs"), modules.collect::<String>()).expect("written");
        fs::write(
            root.join("Cargo.toml"),
            "[package]
name = \"uses\"
",
        )
        .expect("written");
    }
    let mut lines: Vec<(Utf8PathBuf, u32, &Use)> = Vec::new();
    for (path, uses) in &by_file {
        let (text, at) = file_text(uses);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
        lines.extend(uses.iter().zip(at).map(|(one, line)| (path.clone(), line, *one)));
    }
    let findings = findings(&root, models);
    let mut found: BTreeMap<(&Utf8Path, u32), Vec<&Finding>> = BTreeMap::new();
    for finding in &findings {
        found.entry((&finding.place.path, finding.place.start.row)).or_default().push(finding);
    }
    let mut different: Vec<Difference> = Vec::new();
    for (path, line, one) in &lines {
        let here = found.get(&(path.as_path(), *line)).map_or(&[][..], Vec::as_slice);
        if let Some(what) = difference(&one.expected, here) {
            let code = one.lines.iter().map(|line| format!("    | {line}\n")).collect::<String>();
            different.push(Difference {
                path: one.row_path.path.clone(),
                row: one.row_path.to_string(),
                text: format!("{}: {what}\n{code}", one.row_path),
            });
        }
    }
    different.extend(findings.iter().filter(|f| f.rule.to_string() == "BLT902").map(|f| {
        let (path, row) = (&f.place.path, f.place.start.row);
        let text = fs::read_to_string(path.as_std_path()).unwrap_or_default();
        let code = text.lines().nth(row as usize - 1).unwrap_or_default().to_owned();
        Difference { path: String::new(), row: String::new(), text: format!("{path}:{row}: {}: {code}\n", f.message) }
    }));
    different
}

fn file_name(label: &str, language: Language) -> String {
    let stem = label.trim_end_matches(".toml").replace(['/', '-'], "_");
    match language {
        Language::Python => format!("use_{stem}.py"),
        Language::Rust => format!("src/use_{stem}.rs"),
        Language::Java => format!("Use_{stem}.java"),
    }
}

/// Returns the text of a file, and the line of each use's expectation, from 1.
fn file_text(uses: &[&Use]) -> (String, Vec<u32>) {
    let imports: BTreeSet<&String> = uses.iter().flat_map(|one| &one.imports).collect();
    let mut lines: Vec<&str> = imports.iter().flat_map(|import| import.lines()).collect();
    let mut at = Vec::new();
    for one in uses {
        at.push(u32::try_from(lines.len() + one.at + 1).expect("a short file"));
        lines.extend(one.lines.iter().map(String::as_str));
    }
    (lines.join("\n") + "\n", at)
}

fn findings(root: &Utf8Path, models: &Models) -> Vec<Finding> {
    let paths = [root.to_owned()];
    let project = discover(Request { current: root, paths: &paths, isolated: true }).expect("a project");
    // The effect of a file method is reported at the line that opens the file.
    let without = signal_named("same-file").map_or_else(Default::default, |at| SignalSet::default().with(at));
    let report = analyse(&project, models, Options { without, ..Options::new(Confidence::Medium) }).expect("a run");
    let levels = Levels { severity: Severity::Note, confidence: Confidence::Medium };
    let all = Selection::new(&["ALL".to_owned()], &[], &[]).expect("all rules");
    let mut chosen = choose(report.findings, report.groups, &all, levels);
    locate(&project, &mut chosen);
    chosen.findings
}

fn difference(expected: &Expected, here: &[&Finding]) -> Option<String> {
    let call_of = |finding: &Finding| finding.trace.last().map_or(String::new(), |step| step.call.clone());
    let shown = || {
        let one = |f: &&Finding| format!("{} {:?} {:?} through {}", f.rule, f.severity, f.hold, call_of(f));
        if here.is_empty() { "nothing".to_owned() } else { here.iter().map(one).collect::<Vec<_>>().join("; ") }
    };
    match expected {
        Expected::Silent { call } => {
            // Findings about repeated creation have no hold.
            let holds = |finding: &&&Finding| !matches!(finding.rule.to_string().as_str(), "BLT501" | "BLT502");
            let loud = here.iter().filter(holds).any(|finding| call.is_empty() || is_call(&call_of(finding), call));
            loud.then(|| format!("silence expected, found {}", shown()))
        }
        Expected::Found { rule, severity, hold, call } => {
            // If several rules apply to a call, the worst is the finding, and the others are notes.
            let is_joined = |finding: &Finding, severity: Severity| {
                finding.severity == Severity::Note
                    && here.iter().any(|other| other.rule != finding.rule && other.severity >= severity)
            };
            let fits = |finding: &&&Finding| {
                is_call(&call_of(finding), call)
                    && (rule.is_empty() || finding.rule.to_string() == *rule)
                    && severity.is_none_or(|severity| finding.severity == severity || is_joined(finding, severity))
                    && hold.is_none_or(|hold| finding.hold == hold)
            };
            let wanted = || format!("{rule} {severity:?} {hold:?} through {call}");
            here.iter().find(fits).is_none().then(|| format!("expected {}, found {}", wanted(), shown()))
        }
    }
}

/// True if a trace ends in a call: its path, or its last names.
fn is_call(found: &str, call: &str) -> bool {
    found == call || found.strip_suffix(call).is_some_and(|head| head.ends_with(['.', ':']))
}
