//! Runs one project: writes its files, analyses them, compares findings and pinned output, and applies fixes.

use std::fs;

use blocklint_core::Finding;
use camino::{Utf8Path, Utf8PathBuf};
use similar::TextDiff;

use crate::expectation::{Expectation, scan};
use crate::matching::differences;
use crate::order::demand_equal_findings;
use crate::{CodeLine, HarnessEngine, Options, Pin, Problem, Project, ProjectFile};

/// The number of lines that are explained if a project fails.
const MAX_EXPLAINED: usize = 3;

/// A callback that gets the folder in which the files of a project are kept.
pub type Keep<'k> = &'k dyn Fn(&Utf8Path);

/// Checks a project; without an engine, only its form. Returns the pinned outputs that differ, if there is no other
/// mistake. The project's folder is removed, unless `keep` is given: then it stays, with the files as they were before
/// the fixes. The findings are compared with those of each seed.
///
/// # Errors
///
/// The text of all mistakes, each with its place.
pub fn run(
    project: &Project,
    engine: Option<&dyn HarnessEngine>,
    keep: Option<Keep<'_>>,
    seeds: &[u64],
) -> Result<Vec<(Pin, String)>, String> {
    let mut problems = project.problems.clone();
    let expectations = read_expectations(project, &mut problems);
    if !problems.is_empty() {
        return Err(join_problems(problems));
    }
    let Some(engine) = engine else { return Ok(Vec::new()) };
    let project_error =
        |message: String| join_problems(vec![Problem { path: project.origin.clone(), line: project.line, message }]);
    // A name that begins with a point, as the default does, would make the folder a hidden one.
    let folder = tempfile::Builder::new()
        .prefix("blocklint-fixture-")
        .tempdir()
        .map_err(|error| project_error(format!("cannot make a folder for the project: {error}")))?;
    let unwritten = |error: std::io::Error| project_error(format!("cannot write the project: {error}"));
    let root = write_files(project, folder.path()).map_err(unwritten)?;
    let result = run_in_folder(project, engine, &root, &expectations, seeds);
    if let Some(keep) = keep {
        let kept = folder.keep();
        // The fixes have changed the files, so they are written again.
        write_files(project, &kept).map_err(unwritten)?;
        keep(&root);
    }
    result
}

/// Checks a project whose files are below `root`.
fn run_in_folder(
    project: &Project,
    engine: &dyn HarnessEngine,
    root: &Utf8Path,
    expectations: &[Vec<Expectation>],
    seeds: &[u64],
) -> Result<Vec<(Pin, String)>, String> {
    let project_error =
        |message: String| join_problems(vec![Problem { path: project.origin.clone(), line: project.line, message }]);
    let mut findings =
        engine.check(root, &project.options).map_err(|error| project_error(error.replace(root.as_str(), ".")))?;
    demand_equal_findings(engine, root, &project.options, &findings, seeds).map_err(project_error)?;
    findings.retain(|finding| finding.suppression.is_none());
    let mismatches = find_mismatches(project, root, expectations, &findings, engine);
    let mut problems = explain_mismatches(project, root, mismatches, engine);
    for finding in &findings {
        if !project.files.iter().any(|file| *finding.place.path == *root.join(&file.path)) {
            let path = &finding.place.path;
            problems.push(Problem {
                path: project.origin.clone(),
                line: project.line,
                message: format!(
                    "a finding stands in `{path}`, which is not a file of the project: {}",
                    finding.message
                ),
            });
        }
    }
    if !problems.is_empty() {
        return Err(join_problems(problems).replace(&format!("{root}/"), ""));
    }
    for signal in &project.options.signals {
        let options = Options { without: Some(signal.clone()), ..project.options.clone() };
        let mut findings = engine.check(root, &options).map_err(project_error)?;
        findings.retain(|finding| finding.suppression.is_none());
        if find_mismatches(project, root, expectations, &findings, engine).is_empty() {
            return Err(project_error(format!("all that is expected here is found without `{signal}`, too")));
        }
    }
    let mut different = Vec::new();
    let mut compare = |pin, text: String| {
        let text = format!("{}\n", text.replace(&format!("{root}/"), "").trim_end());
        if project.pinned(pin).is_some_and(|pinned| pinned.text != text) {
            different.push((pin, text));
        }
    };
    if project.snapshot.is_some() {
        compare(Pin::Snapshot, engine.render(root, &findings).map_err(project_error)?);
    }
    if !findings.is_empty() || project.fix.is_some() {
        // The fixes are the last step, because they change the files.
        let fixed = engine.fix(root, &project.options).map_err(project_error)?;
        if !fixed.problems.is_empty() {
            return Err(project_error(fixed.problems.join("\n")).replace(&format!("{root}/"), ""));
        }
        compare(Pin::Fix, fixed.text);
    }
    Ok(different)
}

/// A difference between expectations and findings, with its line of code.
struct Mismatch {
    problem: Problem,
    line: CodeLine,
}

/// Returns the mismatches between the expectations of a project and its findings.
fn find_mismatches(
    project: &Project,
    root: &Utf8Path,
    expectations: &[Vec<Expectation>],
    findings: &[Finding],
    engine: &dyn HarnessEngine,
) -> Vec<Mismatch> {
    let mut all = Vec::new();
    for (file, expectations) in project.files.iter().zip(expectations) {
        let path = root.join(&file.path);
        let found: Vec<&Finding> = findings.iter().filter(|finding| *finding.place.path == *path).collect();
        let different = differences(expectations, &found, engine).into_iter();
        all.extend(different.map(|difference| Mismatch {
            problem: problem_at(file, difference.row, difference.message),
            line: CodeLine { path: file.path.clone(), row: difference.code_row },
        }));
    }
    all
}

/// Returns the problems of mismatches; the first ones are followed by the output of `blocklint why` for their lines.
fn explain_mismatches(
    project: &Project,
    root: &Utf8Path,
    mismatches: Vec<Mismatch>,
    engine: &dyn HarnessEngine,
) -> Vec<Problem> {
    let mut lines: Vec<CodeLine> = Vec::new();
    for mismatch in &mismatches {
        if lines.len() < MAX_EXPLAINED && !lines.contains(&mismatch.line) {
            lines.push(mismatch.line.clone());
        }
    }
    let mut texts = if lines.is_empty() {
        Vec::new()
    } else {
        engine.explain(root, &project.options, &lines).unwrap_or_else(|error| vec![error])
    };
    texts.resize(lines.len(), String::new());
    let mut problems = Vec::new();
    for Mismatch { mut problem, line } in mismatches {
        let position = lines.iter().position(|known| *known == line);
        // Each line is explained once, below its first mismatch.
        let text = position.map(|position| std::mem::take(&mut texts[position])).unwrap_or_default();
        if !text.trim().is_empty() {
            problem.message.push_str(&format!("\n\n{}\n", text.trim_end()));
        }
        problems.push(problem);
    }
    problems
}

/// Returns the message for pinned output that differs, with a unified diff.
pub(crate) fn difference(project: &Project, pin: Pin, rendered: &str) -> String {
    let (pinned, line) = project.pinned(pin).map_or(("", project.line), |s| (s.text.as_str(), s.line));
    let diff = TextDiff::from_lines(pinned, rendered).unified_diff().header("pinned", "rendered").to_string();
    format!("{}:{line}: the output differs (`UPDATE=1` rewrites it)\n{diff}", project.origin)
}

/// Parses the expectations of all files. A project without expectations is a problem.
fn read_expectations(project: &Project, problems: &mut Vec<Problem>) -> Vec<Vec<Expectation>> {
    let mut has_expectations = false;
    let mut all = Vec::new();
    for file in &project.files {
        let scan = scan(file.path.as_str(), &String::from_utf8_lossy(&file.contents));
        has_expectations |= scan.suppresses || !scan.expectations.is_empty();
        problems.extend(scan.problems.into_iter().map(|(row, message)| problem_at(file, row, message)));
        all.push(scan.expectations);
    }
    if !has_expectations {
        let message = "nothing is expected here: say at least once what is found or that nothing is (`ok`)".to_owned();
        problems.push(Problem { path: project.origin.clone(), line: project.line, message });
    }
    all
}

/// Returns a problem at a row of a file, with the code of the row.
fn problem_at(file: &ProjectFile, row: u32, message: String) -> Problem {
    let line = file.source.line(row);
    let text = String::from_utf8_lossy(&file.contents);
    let code = text.lines().nth(row.saturating_sub(1) as usize).unwrap_or_default().trim();
    Problem { path: file.source.path.clone(), line, message: format!("{message}\n| {code}") }
}

fn join_problems(problems: Vec<Problem>) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

/// Writes the project's files below a folder; returns the canonical path of the folder, which findings have.
fn write_files(project: &Project, folder: &std::path::Path) -> std::io::Result<Utf8PathBuf> {
    let real = fs::canonicalize(folder)?;
    let root = Utf8PathBuf::from_path_buf(real)
        .map_err(|path| std::io::Error::other(format!("{} is no UTF-8", path.display())))?;
    for file in &project.files {
        let path = root.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(Utf8Path::new("")))?;
        fs::write(&path, &file.contents)?;
    }
    Ok(root)
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
