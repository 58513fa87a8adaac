//! Runs one project.

use std::fs;

use blocklint_core::Finding;
use camino::{Utf8Path, Utf8PathBuf};
use similar::TextDiff;

use crate::expectation::{Expectation, scan};
use crate::matching::differences;
use crate::order::demand_equal_findings;
use crate::{CodeLine, HarnessEngine, Options, Pin, Problem, Project, ProjectFile};

/// Lines of one project that are explained where it fails.
const MOST_EXPLAINED: usize = 3;

/// Is told where the files of a project are kept.
pub type Keep<'k> = &'k dyn Fn(&Utf8Path);

/// Checks a project, or, if `check` is `None`, only how it is written. Returns the pinned output that differs, where
/// nothing else is wrong. The project's folder is removed, unless `keep` is given: then the folder stays, with the
/// files as they were written. The findings are compared with those of each seed.
///
/// # Errors
///
/// All that is wrong, each with its place, fit to be shown.
pub fn run(
    project: &Project,
    check: Option<&dyn HarnessEngine>,
    keep: Option<Keep<'_>>,
    seeds: &[u64],
) -> Result<Vec<(Pin, String)>, String> {
    let mut problems = project.problems.clone();
    let expectations = read_expectations(project, &mut problems);
    if !problems.is_empty() {
        return Err(listed(problems));
    }
    let Some(check) = check else { return Ok(Vec::new()) };
    let whole = |message: String| listed(vec![Problem { path: project.origin.clone(), line: project.line, message }]);
    // A name that begins with a point, as the default does, would make the folder a hidden one.
    let folder = tempfile::Builder::new()
        .prefix("blocklint-fixture-")
        .tempdir()
        .map_err(|error| whole(format!("cannot make a folder for the project: {error}")))?;
    let unwritten = |error: std::io::Error| whole(format!("cannot write the project: {error}"));
    let root = write(project, folder.path()).map_err(unwritten)?;
    let result = run_in(project, check, &root, &expectations, seeds);
    if let Some(keep) = keep {
        let kept = folder.keep();
        // The last step fixed the files.
        write(project, &kept).map_err(unwritten)?;
        keep(&root);
    }
    result
}

/// Checks a project whose files stand below `root`.
fn run_in(
    project: &Project,
    check: &dyn HarnessEngine,
    root: &Utf8Path,
    expectations: &[Vec<Expectation>],
    seeds: &[u64],
) -> Result<Vec<(Pin, String)>, String> {
    let whole = |message: String| listed(vec![Problem { path: project.origin.clone(), line: project.line, message }]);
    let mut findings = check.check(root, &project.options).map_err(|error| whole(error.replace(root.as_str(), ".")))?;
    demand_equal_findings(check, root, &project.options, &findings, seeds).map_err(whole)?;
    findings.retain(|finding| finding.suppression.is_none());
    let differ = unmet(project, root, expectations, &findings, check);
    let mut problems = explained(project, root, differ, check);
    for finding in &findings {
        if !project.files.iter().any(|file| *finding.place.path == *root.join(&file.path)) {
            let path = &finding.place.path;
            problems.push(Problem {
                path: project.origin.clone(),
                line: project.line,
                message: format!("a finding stands in `{path}`, which is no file of the project: {}", finding.message),
            });
        }
    }
    if !problems.is_empty() {
        return Err(listed(problems).replace(&format!("{root}/"), ""));
    }
    for signal in &project.options.signals {
        let options = Options { without: Some(signal.clone()), ..project.options.clone() };
        let mut findings = check.check(root, &options).map_err(whole)?;
        findings.retain(|finding| finding.suppression.is_none());
        if unmet(project, root, expectations, &findings, check).is_empty() {
            return Err(whole(format!("all that is expected here is found without `{signal}`, too")));
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
        compare(Pin::Snapshot, check.render(root, &findings).map_err(whole)?);
    }
    if !findings.is_empty() || project.fix.is_some() {
        // Last: it changes the files.
        let fixed = check.fix(root, &project.options).map_err(whole)?;
        if !fixed.problems.is_empty() {
            return Err(whole(fixed.problems.join("\n")).replace(&format!("{root}/"), ""));
        }
        compare(Pin::Fix, fixed.text);
    }
    Ok(different)
}

/// A mismatch, with the line of code that it describes.
struct Mismatch {
    problem: Problem,
    line: CodeLine,
}

/// Returns the mismatches between the expectations of a project and its findings.
fn unmet(
    project: &Project,
    root: &Utf8Path,
    expectations: &[Vec<Expectation>],
    findings: &[Finding],
    check: &dyn HarnessEngine,
) -> Vec<Mismatch> {
    let mut all = Vec::new();
    for (file, expectations) in project.files.iter().zip(expectations) {
        let path = root.join(&file.path);
        let found: Vec<&Finding> = findings.iter().filter(|finding| *finding.place.path == *path).collect();
        let different = differences(expectations, &found, check).into_iter();
        all.extend(different.map(|difference| Mismatch {
            problem: at(file, difference.row, difference.message),
            line: CodeLine { path: file.path.clone(), row: difference.code_row },
        }));
    }
    all
}

/// Returns the problems of mismatches; below the first ones stands what `blocklint why` says of their lines.
fn explained(project: &Project, root: &Utf8Path, mismatches: Vec<Mismatch>, check: &dyn HarnessEngine) -> Vec<Problem> {
    let mut lines: Vec<CodeLine> = Vec::new();
    for mismatch in &mismatches {
        if lines.len() < MOST_EXPLAINED && !lines.contains(&mismatch.line) {
            lines.push(mismatch.line.clone());
        }
    }
    let mut texts = match lines.is_empty() {
        true => Vec::new(),
        false => check.explain(root, &project.options, &lines).unwrap_or_else(|error| vec![error]),
    };
    texts.resize(lines.len(), String::new());
    let mut problems = Vec::new();
    for Mismatch { mut problem, line } in mismatches {
        let number = lines.iter().position(|known| *known == line);
        // Each line is explained once, below its first mismatch.
        let text = number.map(|number| std::mem::take(&mut texts[number])).unwrap_or_default();
        if !text.trim().is_empty() {
            problem.message.push_str(&format!("\n\n{}\n", text.trim_end()));
        }
        problems.push(problem);
    }
    problems
}

/// Returns the difference between what a project pins and what there is, as people read it.
pub(crate) fn difference(project: &Project, pin: Pin, rendered: &str) -> String {
    let (pinned, line) = project.pinned(pin).map_or(("", project.line), |s| (s.text.as_str(), s.line));
    let diff = TextDiff::from_lines(pinned, rendered).unified_diff().header("pinned", "rendered").to_string();
    format!("{}:{line}: the output differs (`UPDATE=1` rewrites it)\n{diff}", project.origin)
}

/// Reads the expectations of all files. A project without any is a problem.
fn read_expectations(project: &Project, problems: &mut Vec<Problem>) -> Vec<Vec<Expectation>> {
    let mut promises = false;
    let mut all = Vec::new();
    for file in &project.files {
        let scan = scan(file.path.as_str(), &String::from_utf8_lossy(&file.contents));
        promises |= scan.suppresses || !scan.expectations.is_empty();
        problems.extend(scan.problems.into_iter().map(|(row, message)| at(file, row, message)));
        all.push(scan.expectations);
    }
    if !promises {
        let message = "nothing is expected here: say at least once what is found or that nothing is (`ok`)".to_owned();
        problems.push(Problem { path: project.origin.clone(), line: project.line, message });
    }
    all
}

fn at(file: &ProjectFile, row: u32, message: String) -> Problem {
    let line = file.source.line(row);
    let text = String::from_utf8_lossy(&file.contents);
    let code = text.lines().nth(row.saturating_sub(1) as usize).unwrap_or_default().trim();
    Problem { path: file.source.path.clone(), line, message: format!("{message}\n| {code}") }
}

fn listed(problems: Vec<Problem>) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

/// Writes the project's files below a folder; returns its real path, as findings name it.
fn write(project: &Project, folder: &std::path::Path) -> std::io::Result<Utf8PathBuf> {
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
